import { detailText } from '../../features/chat-turn/doing.ts'
import { A } from '@solidjs/router'
import CircleStop from 'lucide-solid/icons/circle-stop'
import { For, Show } from 'solid-js'
import type { JobSummary } from '../../../src-runner/contract/jobs.ts'
import { useCancelJob } from '../../api/mutations.ts'
import { useJob, useProgress } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { JobTime } from '../../features/chat-turn/JobFigures.tsx'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { Money } from '../../ui/Money.tsx'
import { Panel } from '../../ui/Panel.tsx'

/** The running jobs, each with its step, time, cost and Stop. */
export function RunningJobs(props: { jobs: readonly JobSummary[] }) {
  return (
    <Show when={props.jobs.length > 0}>
      <Panel title={t('home.running.title')} flush>
        <ul class="pb-1">
          <For each={props.jobs}>{(job) => <RunningJob summary={job} />}</For>
        </ul>
      </Panel>
    </Show>
  )
}

function RunningJob(props: { summary: JobSummary }) {
  // The list says which jobs run. The job itself has its cost so far.
  const held = useJob(() => props.summary.id)
  const progress = useProgress(() => props.summary.id)
  const cancel = useCancelJob()
  const job = () => held.data?.job ?? props.summary
  const doing = () => {
    if (job().cancelRequested) return t('common.stopping')
    if (job().status === 'pending') return t('common.status.pending')
    const now = progress()
    if (now === null) return t('common.activity.working')
    if (now.activity === 'tool') return t('common.activity.tool', { name: typeof now.detail === 'string' ? now.detail : '' })
    return now.activity === 'retry_wait' ? t('common.activity.retry_wait', { reason: detailText(now) }) : t('common.activity.model')
  }
  const stop = () => cancel.run({ params: { jobId: job().id } }).catch(toastError)
  return (
    <li class="flex items-center gap-3 px-4 py-2 hover:bg-hover">
      <Avatar name={job().agentName} size="md" />
      <div class="min-w-0 flex-1">
        <A
          href={`/jobs/${job().id}`}
          class="block truncate font-medium hover:underline"
          aria-label={t('home.running.open', { title: job().title })}
        >
          {job().title}
        </A>
        <p class="flex items-center gap-1.5 text-xs text-ink-2">
          <span
            class={`size-1.5 shrink-0 rounded-full ${job().status === 'running' ? 'animate-breathe bg-accent-ink' : 'border border-line-strong'}`}
            aria-hidden="true"
          />
          <span class="min-w-0 truncate">
            {job().agentName} · {doing()}
          </span>
        </p>
      </div>
      <div class="flex shrink-0 items-center gap-3 text-xs text-ink-2 max-sm:flex-col max-sm:items-end max-sm:gap-0">
        <JobTime job={job()} class="min-w-12 text-right" />
        <Money usd={job().costUsd} priced={job().priced} class="min-w-12 text-right" />
      </div>
      <Button
        size="sm"
        icon={CircleStop}
        disabled={job().cancelRequested}
        aria-label={t('home.running.stop', { title: job().title })}
        onClick={() => void stop()}
      >
        <span class="max-sm:hidden">{t('common.stop')}</span>
      </Button>
    </li>
  )
}
