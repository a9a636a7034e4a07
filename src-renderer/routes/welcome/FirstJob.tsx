import CircleStop from 'lucide-solid/icons/circle-stop'
import { createMemo, Show } from 'solid-js'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import { useCancelJob } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import { useJob, useProgress } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
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
  const turn = useTurn({ jobId: () => props.jobId, wantsSteps: () => true, follows: () => !isOver() })
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
            <TurnItems items={turn.items()} doing={doingText(data().job.status, progress())} isOver={isOver()} />
            <Show when={data().job.status === 'failed'}>
              <div class="pt-3">
                <JobProblem job={data().job} compact />
              </div>
            </Show>
          </Panel>
          <div class="sticky bottom-0 -mx-1 mt-auto flex flex-wrap items-center gap-2 bg-canvas px-1 py-4" aria-live="polite">
            <Show when={isOver()} fallback={<p class="text-xs text-ink-3">{t('welcome.job.closed')}</p>}>
              <ButtonLink href="/" variant="primary">
                {t('welcome.job.home')}
              </ButtonLink>
              <Show when={data().job.conversationId}>
                {(conversationId) => <ButtonLink href={`/chat/${conversationId()}`}>{t('welcome.job.chat')}</ButtonLink>}
              </Show>
              <ButtonLink href={`/jobs/${props.jobId}`}>{t('welcome.job.details')}</ButtonLink>
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
