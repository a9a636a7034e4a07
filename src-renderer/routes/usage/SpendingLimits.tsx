import { A } from '@solidjs/router'
import { createMemo, For, type JSX, Show } from 'solid-js'
import { useAgents, useSettings, useSpend } from '../../api/queries.ts'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { UnpricedNote } from '../../features/models/UnpricedNote.tsx'
import { useMinutes } from '../../lib/now.ts'
import { startOfDay, startOfMonth } from '../../lib/time.ts'
import { locale, t } from '../../lib/language.ts'
import { Meter } from '../../ui/Meter.tsx'
import { Panel } from '../../ui/Panel.tsx'

/** The limits of a day and of a month with what is used of them. Those of schedules are on their own pages. */
export function SpendingLimits(): JSX.Element {
  const settings = useSettings()
  const agents = useAgents()
  const now = useMinutes()
  const today = createMemo(() => startOfDay(now()))
  const month = createMemo(() => startOfMonth(now()))
  const ofToday = useSpend(() => ({ by: 'agent', from: today() }))
  const ofMonth = useSpend(() => ({ by: 'agent', from: month() }))
  const spentBy = (spend: typeof ofToday, agentId: string) => spend.data?.rows.find(({ key }) => key === agentId)?.costUsd ?? 0
  const all = () => agents.data?.agents ?? []
  const limited = () => all().filter(({ budgets }) => budgets.dayUsd !== null || budgets.monthUsd !== null)
  return (
    <Panel title={t('usage.limits.title')} description={t('usage.limits.intro')} flush>
      <ul>
        <Show when={settings.data}>
          {(data) => (
            <Limited name={t('usage.limits.all')} href="/settings/jobs#day-budget">
              <Show when={data().settings.dayBudgetUsd} fallback={<span class="text-xs text-ink-3">{t('usage.limits.none')}</span>}>
                {(limit) => <Limit span="day" spentUsd={ofToday.data?.totalUsd ?? 0} limitUsd={limit()} />}
              </Show>
            </Limited>
          )}
        </Show>
        <For each={limited()}>
          {(agent) => (
            <Limited name={agent.name} href={`/agents/${agent.id}`}>
              <Show when={agent.budgets.dayUsd}>
                {(limit) => <Limit span="day" spentUsd={spentBy(ofToday, agent.id)} limitUsd={limit()} />}
              </Show>
              <Show when={agent.budgets.monthUsd}>
                {(limit) => <Limit span="month" spentUsd={spentBy(ofMonth, agent.id)} limitUsd={limit()} />}
              </Show>
            </Limited>
          )}
        </For>
      </ul>
      <div class="border-t border-line px-4 py-2.5">
        <p class="text-xs text-ink-3">
          {t('usage.limits.others')}{' '}
          <A href="/automations/schedules" class="text-accent-ink underline">
            {t('usage.limits.schedules')}
          </A>
        </p>
        <UnpricedNote agents={settings.data?.settings.dayBudgetUsd ? all() : limited()} />
      </div>
    </Panel>
  )
}

function Limited(props: { name: string; href: string; children: JSX.Element }): JSX.Element {
  return (
    <li class="flex flex-wrap items-center gap-x-6 gap-y-2 border-t border-line px-4 py-2.5 first:border-t-0">
      <A href={props.href} class="min-w-40 flex-1 text-sm font-medium wrap-anywhere text-ink hover:underline">
        {props.name}
      </A>
      <div class="flex flex-wrap gap-x-6 gap-y-2">{props.children}</div>
    </li>
  )
}

function Limit(props: { span: 'day' | 'month'; spentUsd: number; limitUsd: number }): JSX.Element {
  const isReached = () => props.spentUsd >= props.limitUsd
  const text = () =>
    t(`usage.limits.${props.span}`, { spent: moneyText(props.spentUsd, locale()), limit: moneyText(props.limitUsd, locale()) })
  return (
    <div class="flex w-44 flex-col gap-1">
      <span class={`text-xs ${isReached() ? 'text-warn' : 'text-ink-2'}`}>{text()}</span>
      <Meter
        label={t(`usage.limits.${props.span}Label`)}
        value={props.spentUsd}
        max={props.limitUsd}
        text={text()}
        tone={isReached() ? 'warn' : 'plain'}
      />
    </div>
  )
}
