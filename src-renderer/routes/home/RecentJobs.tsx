import { A } from '@solidjs/router'
import Activity from 'lucide-solid/icons/activity'
import { For, Show } from 'solid-js'
import type { JobSummary } from '../../../src-runner/contract/jobs.ts'
import type { Pages } from '../../api/observe.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { t } from '../../lib/language.ts'
import { JobTime } from '../../features/chat-turn/JobFigures.tsx'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Money } from '../../ui/Money.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { Time } from '../../ui/Time.tsx'

export function RecentJobs(props: { jobs: Pages<JobSummary>; onExample: () => void }) {
  return (
    <Panel
      title={t('home.recent.title')}
      flush
      actions={
        <A href="/activity" class="text-xs text-accent-ink hover:underline">
          {t('home.recent.all')}
        </A>
      }
    >
      <Show
        when={props.jobs.items.length > 0}
        fallback={
          <NothingYet answer={props.jobs} rows={4} compact class="min-h-40 p-4">
            <EmptyState
              icon={Activity}
              compact
              title={t('home.recent.empty')}
              action={<Button onClick={() => props.onExample()}>{t('home.recent.example')}</Button>}
            >
              {t('home.recent.emptyWhy')}
            </EmptyState>
          </NothingYet>
        }
      >
        <ul class="pb-1">
          <For each={props.jobs.items}>
            {(job) => (
              <li>
                <A href={`/jobs/${job.id}`} class="flex items-center gap-3 px-4 py-1.5 -outline-offset-2 hover:bg-hover">
                  <StatusBadge status={job.status} show="icon" />
                  <span class="min-w-0 flex-1 truncate">{job.title}</span>
                  <span class="w-32 shrink-0 truncate text-xs text-ink-3 max-lg:w-20 max-md:hidden">{job.agentName}</span>
                  <span class="w-16 shrink-0 text-right text-xs text-ink-3 max-lg:hidden">
                    <JobTime job={job} />
                  </span>
                  <Money usd={job.costUsd} priced={job.priced} class="w-20 shrink-0 text-right text-xs text-ink-3 max-sm:hidden" />
                  <Time at={job.finishedAt ?? job.createdAt} class="w-20 shrink-0 text-right text-xs text-ink-3 max-sm:w-auto" />
                </A>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </Panel>
  )
}
