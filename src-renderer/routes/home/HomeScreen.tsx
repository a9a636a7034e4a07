import { useSearchParams } from '@solidjs/router'
import { createEffect, createMemo, createSignal, on, Show } from 'solid-js'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import type { AttentionItem } from '../../../src-runner/contract/notifications.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { problemOf } from '../../api/problem.ts'
import { useAgents, useAttention, useCodeTasks, useJobs, useModels, usePendingApprovals, useScheduleSummary } from '../../api/queries.ts'
import { useMinutes } from '../../lib/now.ts'
import { awaySince } from '../../lib/presence.ts'
import { isSeen } from '../../lib/seen.ts'
import { t } from '../../lib/language.ts'
import { isBehind, tallyOf } from '../../features/run-history/tally.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { AT_ONCE, AttentionList } from './AttentionList.tsx'
import { failuresOf } from './failures.ts'
import { NewJob } from './NewJob.tsx'
import { NoAgentYet } from './NoAgentYet.tsx'
import { RecentJobs } from './RecentJobs.tsx'
import { RecoveryNote } from './RecoveryNote.tsx'
import { RunningJobs } from './RunningJobs.tsx'
import { SpentToday } from './SpentToday.tsx'
import { WaitingApprovals } from './WaitingApprovals.tsx'
import { WhileAway } from './WhileAway.tsx'

const WEEK_MS = 7 * 86_400_000
const HOUR_MS = 3_600_000
/** There were agents when this page last looked. */
const HAD_AGENTS_STORED_AS = 'deckhand.had-agents'

/** What needs attention, what runs, what happened, and the field for a new job. */
export function HomeScreen() {
  const now = useMinutes()
  const [search, setSearch] = useSearchParams<{ compose?: string }>()
  const [requested, setRequested] = createSignal<string | null>(null)
  // `?compose=1` puts the cursor into the field for a job, also when Home is open already. Any other value is its text.
  createEffect(
    on(
      () => search.compose,
      (compose) => {
        if (compose === undefined) return
        setRequested(compose === '1' ? '' : compose)
        setSearch({ compose: undefined }, { replace: true })
      },
    ),
  )
  const agents = useAgents()
  const models = useModels()
  // Rounded to the hour, so that the query stays the same.
  const weekAgo = createMemo(() => Math.floor((now() - WEEK_MS) / HOUR_MS) * HOUR_MS)
  const running = useJobs(() => ({ status: ['running', 'pending'], limit: 50 }))
  const approvals = usePendingApprovals()
  const failed = useJobs(() => ({ status: ['failed'], from: weekAgo(), limit: 200 }))
  const attention = useAttention()
  const codeTasks = useCodeTasks()
  const recent = useJobs(() => ({ status: ['completed', 'failed', 'cancelled'], limit: 12 }))

  const lookAt = createMemo(() => failuresOf(failed.items.filter((job) => job.retriedByJobId === null && !isSeen(job.id))))
  // Failures that were seen take up the newest pages: unseen ones may come after them.
  createEffect(() => {
    if (lookAt().length < AT_ONCE && failed.hasMore && !failed.isLoadingMore && !failed.error) failed.more()
  })
  const hasAgents = () => (agents.data?.agents.length ?? 0) > 0
  const hadAgents = localStorage.getItem(HAD_AGENTS_STORED_AS) !== null
  createEffect(() => {
    if (agents.data === undefined) return
    if (hasAgents()) localStorage.setItem(HAD_AGENTS_STORED_AS, '1')
    else localStorage.removeItem(HAD_AGENTS_STORED_AS)
  })
  /** The field comes with the first frame: a person who knows what they want does not wait for the runner. */
  const mayWrite = () => (agents.data === undefined ? hadAgents : hasAgents())
  const lacksModel = () =>
    hasAgents() &&
    models.data !== undefined &&
    models.data.defaultModel === null &&
    agents.data!.agents.some((agent) => agent.model === null)
  const since = createMemo(() => awaySince(now()))
  const summary = useScheduleSummary(() => {
    const from = since()
    return from === null ? null : { from }
  })
  // A missed run that was caught up needs no attention; "While you were away" reports it.
  const madeUpFor = createMemo(
    () => new Set((summary.data?.schedules ?? []).filter(({ sums }) => !isBehind(tallyOf(sums))).map(({ scheduleId }) => scheduleId)),
  )
  const isTold = ({ kind, subjectId }: AttentionItem) =>
    kind === 'schedule_missed' && since() !== null && subjectId !== null && (summary.isPending || madeUpFor().has(subjectId))
  const toReview = createMemo(() =>
    codeTasks.items.filter((task) => isTerminal(task.jobStatus) && task.result === 'ready' && !isSeen(task.jobId)),
  )
  const items = () => (attention.data?.items ?? []).filter((item) => !isTold(item))
  const needs = () => lookAt().length + items().length + toReview().length + (approvals.data?.pending ?? 0) + (lacksModel() ? 1 : 0)
  const unreachable = () => agents.error ?? recent.error
  const isReady = () => agents.data !== undefined
  const { connection } = useApi()
  const counted = () => [agents, models, approvals, failed, attention, codeTasks]
  /** Says "all caught up" only when everything was loaded and the runner is connected. */
  const standing = () => {
    if (needs() > 0) return t('home.needsYou', { count: needs() })
    if (counted().some((answer) => answer.error) || connection() === 'lost') return t('home.unknown')
    return counted().some((answer) => answer.isPending) || failed.hasMore || connection() !== 'open' ? '' : t('home.calm')
  }

  return (
    <Screen width="medium">
      <PageHeader
        title={t('home.title')}
        description={standing()}
        actions={
          <Show when={hasAgents()}>
            <SpentToday />
          </Show>
        }
      />
      <Show when={unreachable() && !isReady()}>
        <ErrorState
          problem={problemOf(unreachable())}
          onRetry={() => {
            agents.retry()
            recent.retry()
          }}
        />
      </Show>
      <div class="flex flex-col gap-6">
        <Show when={isReady()}>
          <Show when={attention.data?.recovery}>{(recovery) => <RecoveryNote recovery={recovery()} />}</Show>
          <WaitingApprovals />
          <AttentionList failed={lookAt()} items={items()} code={toReview()} lacksModel={lacksModel()} />
          <Show when={since()}>{(from) => <WhileAway from={from()} />}</Show>
        </Show>
        <Show when={mayWrite()} fallback={isReady() && <NoAgentYet />}>
          <NewJob agents={agents.data?.agents} requested={requested()} onTaken={() => setRequested(null)} />
        </Show>
        <Show when={isReady()}>
          <RunningJobs jobs={running.items} />
          <Show when={hasAgents()}>
            <RecentJobs jobs={recent} onExample={() => setSearch({ compose: t('home.recent.exampleText') })} />
          </Show>
        </Show>
      </div>
    </Screen>
  )
}
