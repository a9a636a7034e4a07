import { A } from '@solidjs/router'
import { For, type JSX, Show } from 'solid-js'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import { useJobs } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { Money } from '../../ui/Money.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'

/** The jobs that a job delegated, the newest first. Shows nothing when there are none. */
export function DelegatedJobs(props: { jobId: string }): JSX.Element {
  const jobs = useJobs(() => ({ parentJobId: props.jobId }))
  return (
    <Show when={jobs.items.length > 0}>
      <Panel title={t('job.delegated')} flush>
        <ul class="pb-1">
          <For each={jobs.items}>
            {(job) => (
              <li>
                <A href={`/jobs/${job.id}`} class="flex items-center gap-3 px-4 py-1.5 text-sm -outline-offset-2 hover:bg-hover">
                  <StatusBadge status={job.status} stopping={job.cancelRequested && !isTerminal(job.status)} />
                  <span class="min-w-0 flex-1 truncate text-ink">{job.title}</span>
                  <span class="max-w-40 shrink-0 truncate text-xs text-ink-3 max-md:hidden">{job.agentName}</span>
                  <Money usd={job.costUsd} priced={job.priced} class="w-20 shrink-0 text-right text-xs text-ink-3" />
                </A>
              </li>
            )}
          </For>
        </ul>
        <Show when={jobs.hasMore}>
          <div class="px-4 pb-3">
            <Button size="sm" busy={jobs.isLoadingMore} onClick={() => jobs.more()}>
              {t('job.moreDelegated')}
            </Button>
          </div>
        </Show>
      </Panel>
    </Show>
  )
}
