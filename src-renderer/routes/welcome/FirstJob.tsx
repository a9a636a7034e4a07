import CircleStop from 'lucide-solid/icons/circle-stop'
import { createMemo, Show } from 'solid-js'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import { useCancelJob } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import { useJob, useJobApprovals, useProgress } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { ApprovalCard } from '../../features/approvals/ApprovalCard.tsx'
import { useSeenOpen } from '../../features/approvals/ApprovalCards.tsx'
import { t } from '../../lib/language.ts'
import { doingText } from '../../features/chat-turn/doing.ts'
import { JobFigures } from '../../features/chat-turn/JobFigures.tsx'
import { JobProblem } from '../../features/chat-turn/JobProblem.tsx'
import { TurnItems } from '../../features/chat-turn/TurnItems.tsx'
import { useTurn } from '../../features/chat-turn/use-turn.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { StepHead } from './StepHead.tsx'

/** The first job, live: its steps, time, cost and Stop. */
export function FirstJob(props: { jobId: string; onAgain: () => void }) {
  const held = useJob(() => props.jobId)
  const progress = useProgress(() => props.jobId)
  const cancel = useCancelJob()
  const isOver = createMemo(() => held.data !== undefined && isTerminal(held.data.job.status))
  const turn = useTurn({
    jobId: () => props.jobId,
    attempt: () => held.data?.job.attempt ?? 0,
    wantsSteps: () => true,
    follows: () => held.data === undefined || held.data.job.status === 'pending' || held.data.job.status === 'running',
  })
  const waited = createMemo<boolean>((before) => before || held.data?.job.status === 'awaiting_approval', false)
  // Fetched once the job waits, and kept: an answered card stays in its place.
  const approvals = useJobApprovals(() => (waited() ? props.jobId : null))
  const decisions = useSeenOpen(() => approvals.data?.approvals ?? [])
  const title = () => {
    const status = held.data?.job.status
    if (status === 'completed') return t('welcome.job.completed')
    if (status === 'failed') return t('welcome.job.failed')
    return status === 'cancelled' ? t('welcome.job.stopped') : t('welcome.job.running')
  }
  const stop = () => void cancel.run({ params: { jobId: props.jobId } }).catch(toastError)
  return (
    <Show
      when={held.data}
      fallback={
        <Show when={held.error}>
          <ErrorState problem={problemOf(held.error)} onRetry={held.retry} />
        </Show>
      }
    >
      {(data) => (
        <>
          <StepHead title={title()} about={data().job.task} />
          <Panel>
            <div class="flex flex-wrap items-center gap-3 pb-3">
              <StatusBadge status={data().job.status} stopping={data().job.cancelRequested && !isOver()} />
              <JobFigures job={data().job} />
              <Show when={!isOver()}>
                <Button size="sm" icon={CircleStop} class="ml-auto" disabled={data().job.cancelRequested} onClick={stop}>
                  {t('common.stop')}
                </Button>
              </Show>
            </div>
            <TurnItems
              items={turn.items()}
              doing={doingText(data().job.status, progress())}
              isOver={isOver()}
              decisions={decisions()}
              card={(approval) => <ApprovalCard approval={approval()} />}
            />
            <Show when={data().job.status === 'failed'}>
              <div class="pt-3">
                <JobProblem job={data().job} compact />
              </div>
            </Show>
          </Panel>
          <div class="sticky bottom-0 -mx-1 mt-auto flex flex-wrap items-center gap-2 bg-canvas px-1 py-4" aria-live="polite">
            <Show when={!isOver()}>
              <p class="text-xs text-ink-3 max-sm:basis-full">{t('welcome.job.closed')}</p>
            </Show>
            <ButtonLink href="/" variant={isOver() ? 'primary' : 'secondary'}>
              {t('welcome.job.home')}
            </ButtonLink>
            <Show when={isOver() && data().job.conversationId}>
              {(conversationId) => <ButtonLink href={`/chat/${conversationId()}`}>{t('welcome.job.chat')}</ButtonLink>}
            </Show>
            <ButtonLink href={`/jobs/${props.jobId}`}>{t('welcome.job.details')}</ButtonLink>
            <Show when={isOver()}>
              <Button variant="ghost" onClick={() => props.onAgain()}>
                {t('welcome.job.again')}
              </Button>
            </Show>
          </div>
        </>
      )}
    </Show>
  )
}
