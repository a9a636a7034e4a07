import { A, useLocation, useNavigate, useParams } from '@solidjs/router'
import BookOpen from 'lucide-solid/icons/book-open'
import Braces from 'lucide-solid/icons/braces'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import MessageSquare from 'lucide-solid/icons/message-square'
import RotateCcw from 'lucide-solid/icons/rotate-ccw'
import Square from 'lucide-solid/icons/square'
import { createEffect, createMemo, For, type JSX, Match, on, Show, Switch } from 'solid-js'
import { DEMO_PROVIDER_ID } from '../../../src-runner/contract/agents.ts'
import { type Job, isTerminal, type JobChannel, type JobOutput, type JobStatus } from '../../../src-runner/contract/jobs.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { ApiError } from '../../api/client.ts'
import { useAction, useCancelJob } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import { useCodeTask, useDecisions, useJob, useJobApprovals, useJobFiles, useProgress } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { ApprovalCards } from '../../features/approvals/ApprovalCards.tsx'
import { joinTaints, TaintPills, stepAnchor } from '../../features/approvals/Taints.tsx'
import { JobFiles } from '../../features/files/JobFiles.tsx'
import { KeptResults } from '../../features/files/KeptResults.tsx'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { durationText } from '../../lib/time.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { locale, t } from '../../lib/language.ts'
import { JobMemories } from '../../features/memory/JobMemories.tsx'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { ChannelIcon } from '../../features/chat-turn/ChannelIcon.tsx'
import { doingText } from '../../features/chat-turn/doing.ts'
import { DemoPill, JobTime } from '../../features/chat-turn/JobFigures.tsx'
import { JobProblem } from '../../features/chat-turn/JobProblem.tsx'
import { originOf } from '../../features/chat-turn/origin.ts'
import { RawText, rawTextOf } from '../../features/chat-turn/RawText.tsx'
import { ReplyText } from '../../features/chat-turn/ReplyText.tsx'
import { TaskText } from '../../features/chat-turn/TaskText.tsx'
import { turnFigures } from '../../features/chat-turn/turn.ts'
import { Doing, isWriting } from '../../features/chat-turn/TurnItems.tsx'
import { type FollowedTurn, useTurn } from '../../features/chat-turn/use-turn.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Money } from '../../ui/Money.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { Tokens } from '../../ui/Tokens.tsx'
import { CodePanel } from './code/CodePanel.tsx'
import { DelegatedJobs } from './DelegatedJobs.tsx'
import { Timeline } from './Timeline.tsx'

/** Everything about one job. */
export function JobScreen() {
  const params = useParams<{ jobId: string }>()
  const answer = useJob(() => params.jobId)
  return (
    <Screen>
      <A href="/activity" class="-ml-1 mb-3 inline-flex items-center gap-1 rounded-md px-1 text-xs text-ink-3 hover:text-ink">
        <ChevronLeft size={14} aria-hidden="true" />
        {t('job.backToActivity')}
      </A>
      <Show when={answer.data === undefined}>
        <h1 class="sr-only">{t('job.title')}</h1>
      </Show>
      <Switch fallback={<AnswerState answer={answer} missing={{ title: t('job.notFound'), why: t('job.notFoundWhy') }} />}>
        <Match when={answer.data}>{(data) => <JobPage job={data().job} />}</Match>
      </Switch>
    </Screen>
  )
}

/** Where jobs of coding programs come from. */
const MAY_BE_CODE: ReadonlySet<JobChannel> = new Set(['api', 'delegation'])

function JobPage(props: { job: Job }) {
  const progress = useProgress(() => props.job.id)
  const work = useTurn({
    jobId: () => props.job.id,
    wantsSteps: () => true,
    follows: () => props.job.status === 'pending' || props.job.status === 'running',
  })
  const figures = createMemo(() => turnFigures(work.state().steps))
  const status = (): JobStatus => props.job.status
  const location = useLocation()
  const decisions = useDecisions(() => props.job.id)
  const approvals = useJobApprovals(() => props.job.id)
  const taints = createMemo(() => joinTaints((decisions.data?.decisions ?? []).map((one) => one.taints)))
  const allApprovals = () => approvals.data?.approvals ?? []
  const files = useJobFiles(() => props.job.id)
  const code = useCodeTask(() => (MAY_BE_CODE.has(props.job.channel) ? props.job.id : null))
  // Waits for everything above and between the steps, which would push them away again.
  useStepInSight(() => work.items().length > 0 && !decisions.isPending && !approvals.isPending && !files.isPending)
  return (
    <div class="flex flex-col gap-5">
      <Head job={props.job} work={work} taints={<TaintPills taints={taints()} jobId={props.job.id} />} />
      <Figures job={props.job} estimated={figures().estimated} />
      <Show when={status() === 'failed'}>
        <JobProblem job={props.job} actions={<RetryButton job={props.job} size="sm" />} />
      </Show>
      <Links job={props.job} />
      <ApprovalCards approvals={allApprovals()} />
      <div
        id={stepAnchor(0)}
        class={location.hash === `#${stepAnchor(0)}` ? 'rounded-xl outline-2 outline-offset-2 outline-accent-ink' : ''}
      >
        <Panel title={t('job.task')}>
          <TaskText given={props.job.task} plain={props.job.plainTask} />
        </Panel>
      </div>
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
      <DelegatedJobs jobId={props.job.id} />
      <JobFiles jobId={props.job.id} />
      <KeptResults jobId={props.job.id} />
      <Panel
        title={t('job.timeline')}
        description={work.state().steps.length > 0 ? t('job.steps', { count: work.state().steps.length }) : undefined}
      >
        <Switch>
          <Match when={work.error() && work.items().length === 0}>
            <ErrorState compact problem={problemOf(work.error())} />
          </Match>
          <Match when={work.items().length > 0}>
            <Timeline
              items={work.items()}
              result={isTerminal(status()) ? props.job.result : null}
              isOver={isTerminal(status())}
              decisions={decisions.data?.decisions ?? []}
              approvals={allApprovals()}
            />
          </Match>
          <Match when={work.isPending()}>
            <Skeleton rows={4} />
          </Match>
          <Match when={true}>
            <p class="text-sm text-ink-3">{t('job.timelineEmpty')}</p>
          </Match>
        </Switch>
      </Panel>
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

function Head(props: { job: Job; work: FollowedTurn; taints: JSX.Element }) {
  const desktop = useDesktop()
  const cancel = useCancelJob()
  const stop = async () => {
    try {
      await cancel.run({ params: { jobId: props.job.id } })
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.code === 'job_already_finished')) toastError(thrown)
    }
  }
  const copyJson = async () => {
    await desktop.copyText(JSON.stringify({ job: props.job, steps: props.work.state().steps }, null, 2))
    toast({ text: t('job.copiedJson') })
  }
  return (
    <header class="flex flex-wrap items-start gap-x-4 gap-y-3">
      <div class="min-w-0 flex-1 basis-72">
        <h1 class="text-xl font-semibold tracking-tight wrap-anywhere text-ink">{props.job.title}</h1>
        <div class="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
          <StatusBadge status={props.job.status} stopping={props.job.cancelRequested && !isTerminal(props.job.status)} />
          {props.taints}
          <Time at={props.job.createdAt} />
          <span class="inline-flex items-center gap-0.5">
            <span class="font-mono text-2xs" title={props.job.id}>
              {props.job.id.slice(-8)}
            </span>
            <CopyButton text={props.job.id} copy={desktop.copyText} label={t('job.copyId')} size="sm" />
          </span>
        </div>
      </div>
      <div class="flex flex-wrap items-center gap-2">
        <Show when={props.job.conversationId}>
          {(conversationId) => (
            <ButtonLink icon={MessageSquare} href={`/chat/${conversationId()}`}>
              {t('job.openConversation')}
            </ButtonLink>
          )}
        </Show>
        <Button icon={Braces} onClick={() => void copyJson()}>
          {t('job.copyJson')}
        </Button>
        <Show when={isTerminal(props.job.status)}>
          <SkillButton job={props.job} />
          <RetryButton job={props.job} />
        </Show>
        <Show when={!isTerminal(props.job.status)}>
          <Button variant="danger" icon={Square} disabled={props.job.cancelRequested} onClick={() => void stop()}>
            {props.job.cancelRequested ? t('job.stopping') : t('job.stop')}
          </Button>
        </Show>
      </div>
    </header>
  )
}

/** Lets the agent write a skill from what it did. For the job that writes one, it leads to the draft. */
function SkillButton(props: { job: Job }) {
  const navigate = useNavigate()
  const draft = useAction('draftSkill')
  const run = async () => {
    try {
      const { jobId } = await draft.run({ params: { jobId: props.job.id } })
      navigate(`/skills/new?draft=${jobId}`)
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <Show
      when={props.job.context?.['skillOfJobId'] === undefined}
      fallback={
        <ButtonLink icon={BookOpen} href={`/skills/new?draft=${props.job.id}`}>
          {t('job.openSkillDraft')}
        </ButtonLink>
      }
    >
      <Show when={props.job.status === 'completed'}>
        <Button icon={BookOpen} busy={draft.isRunning} title={t('job.makeSkillWhy')} onClick={() => void run()}>
          {t('job.makeSkill')}
        </Button>
      </Show>
    </Show>
  )
}

function RetryButton(props: { job: Job; size?: 'sm' }) {
  const navigate = useNavigate()
  const retry = useAction('retryJob')
  const run = async () => {
    try {
      const { job } = await retry.run({ params: { jobId: props.job.id } })
      navigate(`/jobs/${job.id}`)
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <Button size={props.size} icon={RotateCcw} busy={retry.isRunning} title={t('job.retryWhy')} onClick={() => void run()}>
      {t('job.retry')}
    </Button>
  )
}

function Figures(props: { job: Job; estimated: boolean }) {
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

function Links(props: { job: Job }) {
  const links = () =>
    [
      { id: props.job.retryOfJobId, text: t('job.retryOf'), open: t('job.openOriginal') },
      { id: props.job.retriedByJobId, text: t('job.retriedBy'), open: t('job.openRetry') },
      { id: props.job.parentJobId, text: t('common.channel.delegation'), open: t('job.openParent') },
    ].filter((link): link is { id: string; text: string; open: string } => link.id !== null)
  return (
    <For each={links()}>
      {(link) => (
        <p class="flex flex-wrap items-center gap-x-3 rounded-lg bg-accent-soft px-3.5 py-2 text-sm text-accent-ink">
          {link.text}
          <A href={`/jobs/${link.id}`} class="font-medium underline underline-offset-2">
            {link.open}
          </A>
        </p>
      )}
    </For>
  )
}

function Now(props: { job: Job; hasPendingApproval: boolean; doing: string | null }) {
  const waits = () => {
    // The approvals are shown above.
    if (props.job.status === 'awaiting_approval') return props.hasPendingApproval ? null : t('job.waitingApproval')
    return props.job.status === 'awaiting_child' ? t('job.waitingChild') : null
  }
  return (
    <div aria-live="polite" class="empty:-mt-5">
      <Show when={waits()} fallback={<Show when={props.doing}>{(doing) => <Doing text={doing()} />}</Show>}>
        {(text) => <p class="rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn">{text()}</p>}
      </Show>
    </div>
  )
}

function Result(props: { job: Job }) {
  const desktop = useDesktop()
  const isComplete = () => props.job.status === 'completed'
  return (
    <Panel
      title={isComplete() ? t('job.result') : t('job.soFar')}
      actions={
        <span class="flex items-center gap-2">
          <Show when={!isComplete() && props.job.result}>
            <Pill tone="warn">{t('turn.interrupted')}</Pill>
          </Show>
          <Show when={props.job.result}>{(result) => <CopyButton text={() => result()} copy={desktop.copyText} size="sm" />}</Show>
        </span>
      }
    >
      <Show when={props.job.result} fallback={<p class="text-sm text-ink-3">{t('job.noResult')}</p>}>
        {(result) => <ReplyText text={result()} />}
      </Show>
      <Show when={props.job.output}>{(output) => <Output output={output()} isRepeated={output().summary === props.job.result} />}</Show>
    </Panel>
  )
}

/** The structured result: its summary, data and files. */
function Output(props: { output: JobOutput; isRepeated: boolean }) {
  return (
    <div class="mt-4 flex flex-col gap-3 border-t border-line pt-3">
      <Show when={!props.isRepeated && props.output.summary !== ''}>
        <ReplyText text={props.output.summary} />
      </Show>
      <Show when={props.output.data !== null && props.output.data !== undefined}>
        <RawText label={t('job.outputData')} text={rawTextOf(props.output.data)} />
      </Show>
      <Show when={props.output.files.length > 0}>
        <div class="text-xs text-ink-3">
          <span class="font-semibold">{t('job.outputFiles')}</span>
          <ul>
            <For each={props.output.files}>{(path) => <li class="font-mono wrap-anywhere text-ink-2">{visibleText(path)}</li>}</For>
          </ul>
        </div>
      </Show>
    </div>
  )
}

/** The wrapper of untrusted content is shown with the task. */
function withoutWrapper({ wrapper: _shownAbove, ...context }: NonNullable<Job['context']>): object {
  return context
}
