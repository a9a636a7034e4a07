import { A } from '@solidjs/router'
import { createMemo, type JSX, Show } from 'solid-js'
import { DEMO_PROVIDER_ID } from '../../../src-runner/contract/agents.ts'
import { type Job, isTerminal } from '../../../src-runner/contract/jobs.ts'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { durationText } from '../../lib/time.ts'
import { locale, t } from '../../lib/language.ts'
import { ChannelIcon } from '../../features/chat-turn/ChannelIcon.tsx'
import { DemoPill, JobTime } from '../../features/chat-turn/JobFigures.tsx'
import { originOf } from '../../features/chat-turn/origin.ts'
import { Money } from '../../ui/Money.tsx'
import { Tokens } from '../../ui/Tokens.tsx'

/** Who did it, why, with which model, and what it took. */
export function Figures(props: { job: Job; estimated: boolean }) {
  const isDemo = () => props.job.model?.providerId === DEMO_PROVIDER_ID
  const origin = createMemo(() => originOf(props.job, locale()))
  return (
    <dl aria-label={t('job.figures')} class="flex flex-wrap gap-px overflow-hidden rounded-xl border border-line bg-line">
      <Figure name={t('job.agent')}>
        {/* A finger may touch the whole figure. */}
        <A href={`/agents/${props.job.agentId}`} class="truncate after:absolute after:inset-0 hover:underline max-md:min-h-0">
          {props.job.agentName}
        </A>
      </Figure>
      <Figure
        name={t('job.origin')}
        wide={origin() !== null}
        note={
          <Show when={origin()}>
            {(from) => (
              <>
                <A href={from().href} class="font-medium text-accent-ink hover:underline max-md:inline-block">
                  {from().name}
                </A>
                <Show when={from().note}> · {from().note}</Show>
                <Show when={from().warning}>
                  {(warning) => (
                    <>
                      {' · '}
                      <span class="text-warn">{warning()}</span>
                    </>
                  )}
                </Show>
              </>
            )}
          </Show>
        }
      >
        <span class="flex min-w-0 items-center gap-1.5">
          <ChannelIcon channel={props.job.channel} />
          {t(`common.channel.${props.job.channel}`)}
        </span>
      </Figure>
      <Figure name={t('job.model')}>
        <Show when={props.job.model} fallback="–">
          {(model) => (
            <Show when={!isDemo()} fallback={<DemoPill />}>
              <span class="truncate" title={model().model}>
                {model().model}
              </span>
            </Show>
          )}
        </Show>
      </Figure>
      <Figure
        name={t('job.duration')}
        note={
          isTerminal(props.job.status) &&
          props.job.startedAt !== null &&
          props.job.finishedAt !== null &&
          props.job.finishedAt - props.job.startedAt > props.job.workingMs + 2000
            ? t('job.withWaiting', { time: durationText(props.job.finishedAt - props.job.startedAt, locale()) })
            : undefined
        }
      >
        <Show when={props.job.startedAt} fallback="–">
          <JobTime job={props.job} />
        </Show>
      </Figure>
      <Figure name={t('job.tokens')} note={props.estimated ? t('turn.estimated') : undefined} noteWhy={t('turn.estimatedWhy')}>
        <Show when={props.job.inputTokens + props.job.outputTokens > 0} fallback="–">
          <Tokens input={props.job.inputTokens} output={props.job.outputTokens} cached={props.job.cachedTokens} wraps />
        </Show>
      </Figure>
      <Figure
        name={t('job.cost')}
        note={props.job.childrenCostUsd > 0 ? t('job.childrenCost', { money: moneyText(props.job.childrenCostUsd, locale()) }) : undefined}
      >
        <Show when={props.job.turns > 0} fallback="–">
          <Money usd={props.job.costUsd} priced={props.job.priced} />
        </Show>
      </Figure>
      <Figure name={t('job.attempts')} title={t('job.attemptsWhy')}>
        {Math.max(props.job.attempt, 0)}
      </Figure>
    </dl>
  )
}

function Figure(props: { name: string; title?: string; wide?: boolean; note?: JSX.Element; noteWhy?: string; children: JSX.Element }) {
  return (
    <div
      class={`relative flex min-w-0 grow flex-col bg-surface px-3.5 py-2.5 ${props.wide ? 'basis-52' : 'basis-26 max-lg:basis-36'}`}
      title={props.title}
    >
      <dt class="text-2xs text-ink-3">{props.name}</dt>
      <dd class="flex min-w-0 flex-col text-sm font-medium text-ink">
        <span class="flex min-w-0 items-center">{props.children}</span>
        <Show when={props.note}>
          {(note) => (
            <span class="text-2xs font-normal text-ink-3" title={props.noteWhy}>
              {note()}
            </span>
          )}
        </Show>
      </dd>
    </div>
  )
}
