import { useLocation, useParams } from '@solidjs/router'
import { createEffect, createMemo, Match, on, Show, Switch } from 'solid-js'
import { type Job, isTerminal, type JobStatus } from '../../../src-runner/contract/jobs.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useCodeTask, useDecisions, useJob, useJobApprovals, useJobFiles, useProgress } from '../../api/queries.ts'
import { ApprovalCards } from '../../features/approvals/ApprovalCards.tsx'
import { joinTaints, TaintPills, stepAnchor } from '../../features/approvals/Taints.tsx'
import { JobFiles } from '../../features/files/JobFiles.tsx'
import { KeptResults } from '../../features/files/KeptResults.tsx'
import { t } from '../../lib/language.ts'
import { JobMemories } from '../../features/memory/JobMemories.tsx'
import { doingText } from '../../features/chat-turn/doing.ts'
import { JobProblem } from '../../features/chat-turn/JobProblem.tsx'
import { RawText } from '../../features/chat-turn/RawText.tsx'
import { TaskText } from '../../features/chat-turn/TaskText.tsx'
import { turnFigures } from '../../features/chat-turn/turn.ts'
import { isWriting } from '../../features/chat-turn/TurnItems.tsx'
import { useTurn } from '../../features/chat-turn/use-turn.ts'
import { BackLink } from '../../ui/BackLink.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { CodePanel } from './code/CodePanel.tsx'
import { DelegatedJobs } from './DelegatedJobs.tsx'
import { Figures } from './Figures.tsx'
import { JobHead, RetryButton } from './JobHead.tsx'
import { JobLinks } from './JobLinks.tsx'
import { Now } from './Now.tsx'
import { Result } from './Result.tsx'
import { TimelinePanel } from './TimelinePanel.tsx'

/** Everything about one job. */
export function JobScreen() {
  const params = useParams<{ jobId: string }>()
  const answer = useJob(() => params.jobId)
  return (
    <Screen>
      {/* Where it leads is known with the job. Until then it keeps its place. */}
      <div class={answer.isPending ? 'invisible' : ''}>
        <Show when={answer.data?.job.isCodeTask} fallback={<BackLink href="/activity">{t('job.backToActivity')}</BackLink>}>
          <BackLink href="/code">{t('code.title')}</BackLink>
        </Show>
      </div>
      <Show when={answer.data === undefined}>
        <h1 class="sr-only">{t('job.title')}</h1>
      </Show>
      <Switch fallback={<AnswerState answer={answer} missing={{ title: t('job.notFound'), why: t('job.notFoundWhy') }} />}>
        <Match when={answer.data}>{(data) => <JobPage job={data().job} />}</Match>
      </Switch>
    </Screen>
  )
}

function JobPage(props: { job: Job }) {
  const progress = useProgress(() => props.job.id)
  const work = useTurn({
    jobId: () => props.job.id,
    attempt: () => props.job.attempt,
    wantsSteps: () => true,
    follows: () => props.job.status === 'pending' || props.job.status === 'running',
  })
  const figures = createMemo(() => turnFigures(work.state().steps))
  const status = (): JobStatus => props.job.status
  const location = useLocation()
  const isTaskNamed = () => location.hash === `#${stepAnchor(0)}`
  const decisions = useDecisions(() => props.job.id)
  const approvals = useJobApprovals(() => props.job.id)
  const taints = createMemo(() => joinTaints((decisions.data?.decisions ?? []).map((one) => one.taints)))
  const allApprovals = () => approvals.data?.approvals ?? []
  const files = useJobFiles(() => props.job.id)
  const code = useCodeTask(() => (props.job.isCodeTask ? props.job.id : null))
  // Waits for everything above and between the steps, which would push them away again.
  useStepInSight(() => work.items().length > 0 && !decisions.isPending && !approvals.isPending && !files.isPending)
  return (
    <div class="flex flex-col gap-5">
      <JobHead
        job={props.job}
        work={work}
        record={{ approvals: approvals.data?.approvals, decisions: decisions.data?.decisions, files: files.data?.files }}
        taints={<TaintPills taints={taints()} jobId={props.job.id} />}
      />
      <Figures job={props.job} estimated={figures().estimated} />
      <Show when={status() === 'failed'}>
        <JobProblem job={props.job} actions={<RetryButton job={props.job} size="sm" />} />
      </Show>
      <JobLinks job={props.job} />
      <Show when={approvals.error}>
        <AnswerState compact answer={approvals} />
      </Show>
      <ApprovalCards approvals={allApprovals()} />
      {/* The title of a short task is the whole task. A link to the task shows it all the same. */}
      <Show when={props.job.task.trim() !== props.job.title || isTaskNamed()}>
        <div id={stepAnchor(0)} class={isTaskNamed() ? 'rounded-xl outline-2 outline-offset-2 outline-accent-ink' : ''}>
          <Panel title={t('job.task')}>
            <TaskText given={props.job.task} plain={props.job.plainTask} />
          </Panel>
        </div>
      </Show>
      <Show
        when={isTerminal(status())}
        fallback={
          <Now
            job={props.job}
            hasPendingApproval={allApprovals().some((one) => one.status === 'pending')}
            doing={isWriting(work.items()) && progress()?.activity !== 'retry_wait' ? null : doingText(status(), progress())}
          />
        }
      >
        {/* The error above says why there is no result. */}
        <Show when={props.job.result || props.job.status !== 'failed'}>
          <Result job={props.job} />
        </Show>
      </Show>
      <Show when={code.data}>{(data) => <CodePanel task={data().codeTask} />}</Show>
      <Show when={props.job.isCodeTask && code.error}>
        <Panel title={t('code.task.title')}>
          <AnswerState compact answer={code} />
        </Panel>
      </Show>
      <DelegatedJobs jobId={props.job.id} />
      <JobFiles jobId={props.job.id} />
      <KeptResults jobId={props.job.id} />
      <TimelinePanel
        work={work}
        result={isTerminal(status()) ? props.job.result : null}
        isOver={isTerminal(status())}
        decisions={decisions.data?.decisions ?? []}
        approvals={allApprovals()}
      />
      <JobMemories jobId={props.job.id} />
      <Show when={props.job.context}>
        {(context) => (
          <Panel title={t('job.context')}>
            <RawText label={t('job.raw')} text={JSON.stringify(withoutWrapper(context()), null, 2)} />
          </Panel>
        )}
      </Show>
    </div>
  )
}

/** Scrolls to the step that the URL names, once it is there. */
function useStepInSight(isLoaded: () => boolean): void {
  const location = useLocation()
  createEffect(
    on([isLoaded, () => location.hash], ([loaded, hash]) => {
      if (loaded && hash !== '') requestAnimationFrame(() => document.getElementById(hash.slice(1))?.scrollIntoView({ block: 'center' }))
    }),
  )
}

/** The wrapper of untrusted content is shown with the task. */
function withoutWrapper({ wrapper: _shownAbove, ...context }: NonNullable<Job['context']>): object {
  return context
}
