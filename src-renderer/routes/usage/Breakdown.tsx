import { A } from '@solidjs/router'
import { createMemo, type JSX, Show } from 'solid-js'
import { JOB_CHANNELS } from '../../../src-runner/contract/jobs.ts'
import type { Spend, SpendRow } from '../../../src-runner/contract/spend.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import type { Loaded } from '../../api/observe.ts'
import { useAgents, useProviders } from '../../api/queries.ts'
import { countText } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import type { Period } from '../../lib/periods.ts'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Money } from '../../ui/Money.tsx'
import { Tokens } from '../../ui/Tokens.tsx'

export const GROUPINGS = ['agent', 'model', 'channel'] as const
export type Grouping = (typeof GROUPINGS)[number]

/** Who spent how much, the most expensive first. The numbers of jobs lead to these in Activity, at `time`. */
export function Breakdown(props: { by: Grouping; time: Period; answer: Loaded<Spend> }): JSX.Element {
  return (
    <Show
      when={props.answer.data}
      fallback={
        <div class="p-4">
          <AnswerState answer={props.answer} rows={4} compact />
        </div>
      }
    >
      {(spend) => (
        <table class="w-full text-sm">
          <thead class="text-left text-2xs text-ink-3">
            <tr class="border-b border-line">
              <th scope="col" class="px-4 py-1.5 font-normal">
                {t(`usage.by.${props.by}`)}
              </th>
              <th scope="col" class="w-28 px-4 py-1.5 text-right font-normal">
                {t('usage.cost')}
              </th>
              <th scope="col" class="w-20 px-4 py-1.5 text-right font-normal max-sm:hidden">
                {t('usage.jobs')}
              </th>
              <th scope="col" class="w-52 px-4 py-1.5 text-right font-normal max-md:hidden">
                {t('usage.tokens')}
              </th>
            </tr>
          </thead>
          <tbody>
            <KeyedFor each={spend().rows} keyOf={({ key }) => key}>
              {(row) => <Line by={props.by} time={props.time} row={row()} totalUsd={spend().totalUsd} />}
            </KeyedFor>
          </tbody>
        </table>
      )}
    </Show>
  )
}

function Line(props: { by: Grouping; time: Period; row: SpendRow; totalUsd: number }): JSX.Element {
  const name = useNameOf(
    () => props.by,
    () => props.time,
    () => props.row,
  )
  const share = () => (props.totalUsd === 0 ? 0 : props.row.costUsd / props.totalUsd)
  const shareText = () => t('usage.share', { share: share() })
  return (
    <tr class="border-b border-line last:border-b-0">
      <th scope="row" class="min-w-0 px-4 py-2.5 text-left font-normal wrap-anywhere">
        <Show when={name().href} fallback={<span class="text-ink">{name().text}</span>}>
          {(href) => (
            <A href={href()} class="font-medium text-ink hover:underline max-md:-my-2.5 max-md:inline-block">
              {name().text}
            </A>
          )}
        </Show>
        <Show when={name().note}>
          <span class="text-xs text-ink-3"> {name().note}</span>
        </Show>
        <Meter label={name().text} value={share()} max={1} text={shareText()} class="mt-1.5 max-w-md" />
      </th>
      <td class="px-4 py-2.5 text-right align-top" title={shareText()}>
        <Money usd={props.row.costUsd} priced={props.row.unpricedCalls === 0} />
      </td>
      <td class="px-4 py-2.5 text-right align-top text-ink-2 tabular-nums max-sm:hidden">
        <Show when={name().jobs} fallback={countText(props.row.jobs, locale())}>
          {(href) => (
            <A href={href()} aria-label={t('usage.jobsOf', { count: props.row.jobs, name: name().text })} class="hover:underline">
              {countText(props.row.jobs, locale())}
            </A>
          )}
        </Show>
      </td>
      <td class="px-4 py-2.5 text-right align-top text-ink-2 max-md:hidden">
        <Tokens input={props.row.inputTokens} output={props.row.outputTokens} cached={props.row.cachedTokens} />
      </td>
    </tr>
  )
}

/** `href`: its page, if it has one, else its jobs. `jobs`: its jobs, if it has a page. */
type Name = { text: string; href: string | null; jobs: string | null; note: string | null }

/** An agent or a provider that was deleted has no name any more. */
function useNameOf(by: () => Grouping, time: () => Period, row: () => SpendRow): () => Name {
  const agents = useAgents()
  const providers = useProviders()
  return createMemo((): Name => {
    const { key, label } = row()
    switch (by()) {
      case 'agent': {
        const isDeleted = label === key
        const isKnown = agents.data?.agents.some(({ id }) => id === key) === true
        return {
          text: isDeleted ? t('usage.deletedAgent') : label,
          href: isKnown ? `/agents/${key}` : null,
          // Activity offers only agents that are there.
          jobs: isKnown ? `/activity?agent=${key}&time=${time()}` : null,
          note: null,
        }
      }
      case 'model': {
        const provider = providers.data?.providers.find(({ id }) => key.startsWith(`${id}/`))
        return { text: label, href: null, jobs: null, note: provider?.name ?? null }
      }
      case 'channel': {
        const channel = JOB_CHANNELS.find((one) => one === key)
        return channel === undefined
          ? { text: label, href: null, jobs: null, note: null }
          : { text: t(`common.channel.${channel}`), href: `/activity?channel=${channel}&time=${time()}`, jobs: null, note: null }
      }
    }
  })
}
