import type { JobSummary } from '../../../src-runner/contract/jobs.ts'
import { DEMO_PROVIDER_ID } from '../../../src-runner/contract/agents.ts'
import { type JSX, Show } from 'solid-js'
import { t } from '../../lib/language.ts'
import { Duration, Elapsed } from '../../ui/Duration.tsx'
import { Money } from '../../ui/Money.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Tokens } from '../../ui/Tokens.tsx'

type Figures = Pick<
  JobSummary,
  'model' | 'inputTokens' | 'outputTokens' | 'cachedTokens' | 'costUsd' | 'priced' | 'startedAt' | 'workingMs' | 'workingSince'
>

/** Model, tokens, cost and time of a job in one line. */
export function JobFigures(props: { job: Figures; estimated?: boolean }): JSX.Element {
  const isDemo = () => props.job.model?.providerId === DEMO_PROVIDER_ID
  return (
    <span class="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-ink-3">
      <Show when={props.job.model}>
        {(model) => (
          <Show when={!isDemo()} fallback={<DemoPill />}>
            <span class="max-w-48 truncate" title={model().model}>
              {model().model}
            </span>
          </Show>
        )}
      </Show>
      <Show when={props.job.inputTokens + props.job.outputTokens > 0}>
        <Tokens input={props.job.inputTokens} output={props.job.outputTokens} cached={props.job.cachedTokens} />
      </Show>
      <Show when={props.job.model !== null && !isDemo()}>
        <Money usd={props.job.costUsd} priced={props.job.priced} />
      </Show>
      <Show when={props.estimated}>
        <span title={t('turn.estimatedWhy')}>{t('turn.estimated')}</span>
      </Show>
      <JobTime job={props.job} />
    </span>
  )
}

/** The working time of a job, counting while it works. Waiting does not count. */
export function JobTime(props: { job: Pick<Figures, 'startedAt' | 'workingMs' | 'workingSince'>; class?: string }): JSX.Element {
  return (
    <Show when={props.job.startedAt}>
      <Show when={props.job.workingSince} fallback={<Duration ms={props.job.workingMs} class={props.class} />}>
        {(since) => <Elapsed since={since() - props.job.workingMs} class={props.class} />}
      </Show>
    </Show>
  )
}

export function DemoPill(): JSX.Element {
  return (
    <Pill tone="accent" title={t('turn.demoWhy')}>
      {t('turn.demo')}
    </Pill>
  )
}
