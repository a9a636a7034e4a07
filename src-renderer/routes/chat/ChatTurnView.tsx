import { A } from '@solidjs/router'
import Clock from 'lucide-solid/icons/clock'
import ExternalLink from 'lucide-solid/icons/panel-right-open'
import { createMemo, createSignal, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { isTerminal, type JobStatus, type JobSummary } from '../../../src-runner/contract/jobs.ts'
import { ApiError } from '../../api/client.ts'
import { useAction, useCancelJob } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import { useJobApprovals, useProgress } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { ApprovalCard } from '../../features/approvals/ApprovalCard.tsx'
import { useSeenOpen } from '../../features/approvals/ApprovalCards.tsx'
import { JobFiles } from '../../features/files/JobFiles.tsx'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { doingText } from '../../features/chat-turn/doing.ts'
import { JobFigures } from '../../features/chat-turn/JobFigures.tsx'
import { JobProblem } from '../../features/chat-turn/JobProblem.tsx'
import { changesFiles } from '../../features/chat-turn/tool-sentence.ts'
import type { TurnItem } from '../../features/chat-turn/turn.ts'
import { TurnItems } from '../../features/chat-turn/TurnItems.tsx'
import { useTurn } from '../../features/chat-turn/use-turn.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { ErrorState, type Problem } from '../../ui/ErrorState.tsx'
import { Tooltip } from '../../ui/Tooltip.tsx'
import type { ChatTurn, SentTurn } from './chat-turns.ts'

export type ChatTurnViewProps = {
  turn: ChatTurn
  agentName: string
  agent: Agent | undefined
  /** Near the end of the conversation: its steps are fetched at once, not on request. */
  isRecent: boolean
  onSendAgain: (sent: SentTurn) => void
  onEdit: (sent: SentTurn) => void
}

/** One turn: the person's message, what the agent did and answered, and the cost. */
export function ChatTurnView(props: ChatTurnViewProps) {
  return (
    <article class="flex flex-col gap-3">
      <Show when={props.turn.text !== ''}>
        <OwnMessage
          text={props.turn.text}
          isSending={props.turn.sent !== null && props.turn.sent.jobId === null && props.turn.sent.problem === null}
        />
      </Show>
      <Show when={props.turn.sent?.problem ? props.turn.sent : null} fallback={<Answer {...props} />}>
        {(sent) => <NotSent sent={sent()} onSendAgain={props.onSendAgain} onEdit={props.onEdit} />}
      </Show>
    </article>
  )
}

const FOLD_ABOVE_CHARS = 1600

function OwnMessage(props: { text: string; isSending: boolean }) {
  const desktop = useDesktop()
  const [whole, setWhole] = createSignal(false)
  const isFolded = () => !whole() && props.text.length > FOLD_ABOVE_CHARS
  return (
    <div class="group flex items-start justify-end gap-1">
      <span class="opacity-0 transition-opacity duration-100 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={() => props.text} copy={desktop.copyText} label={t('chat.copyMessage')} size="sm" />
      </span>
      <div
        aria-busy={props.isSending}
        class={`max-w-[85%] rounded-xl rounded-br-sm bg-accent-soft px-3.5 py-2 text-md wrap-anywhere whitespace-pre-wrap text-ink transition-opacity duration-100 ${props.isSending ? 'opacity-70' : ''}`}
      >
        <span class="sr-only">{t('chat.you')}: </span>
        {isFolded() ? `${props.text.slice(0, FOLD_ABOVE_CHARS)}…` : props.text}
        <Show when={isFolded()}>
          <button type="button" class="mt-1 block text-xs font-medium text-accent-ink hover:underline" onClick={() => setWhole(true)}>
            {t('turn.showMore')}
          </button>
        </Show>
      </div>
    </div>
  )
}

function Answer(props: ChatTurnViewProps) {
  const [opened, setOpened] = createSignal(false)
  const progress = useProgress(() => props.turn.jobId)
  const isOpen = () => props.turn.job === null || !isTerminal(props.turn.job.status)
  // Once the stream was followed, what it said stays on the page after the end.
  const wasFollowed = createMemo<boolean>((before) => before || (isOpen() && props.turn.jobId !== null), false)
  const work = useTurn({
    jobId: () => props.turn.jobId,
    attempt: () => props.turn.job?.attempt ?? 0,
    wantsSteps: () => wasFollowed() || opened() || (props.isRecent && (props.turn.job?.toolCalls ?? 0) > 0),
    follows: () =>
      props.turn.waitsBehind === 0 &&
      (props.turn.job === null || props.turn.job.status === 'pending' || props.turn.job.status === 'running'),
  })
  const status = (): JobStatus => {
    const recorded = props.turn.job?.status ?? 'pending'
    if (isTerminal(recorded)) return recorded
    if (work.state().error !== null) return 'failed'
    return work.state().outcome?.status ?? (recorded === 'pending' && work.items().length > 0 ? 'running' : recorded)
  }
  const items = createMemo<TurnItem[]>(() => {
    const known = work.items()
    return known.length > 0
      ? known
      : props.turn.answers.map((text, n) => ({
          kind: 'text',
          key: `message:${n}`,
          text,
          reasoning: '',
          live: false,
          interrupted: false,
          step: null,
        }))
  })
  const text = () =>
    items()
      .flatMap((item) => (item.kind === 'text' && item.text !== '' ? [item.text] : []))
      .join('\n\n')
  const hiddenCalls = () => (work.items().length === 0 && !work.isPending() ? (props.turn.job?.toolCalls ?? 0) : 0)
  const failure = () => {
    if (props.turn.job?.status === 'failed') return props.turn.job
    const error = work.state().error
    return error === null ? null : { error: error.code, errorMessage: error.message, agentId: props.agent?.id ?? '' }
  }
  const waited = createMemo<boolean>((before) => before || status() === 'awaiting_approval', false)
  // Fetched once the turn waits, and kept: an answered card stays in its place.
  const approvals = useJobApprovals(() => (waited() ? props.turn.jobId : null))
  const decisions = useSeenOpen(() => approvals.data?.approvals ?? [])
  const wroteFiles = createMemo(() => items().some((item) => item.kind === 'tool' && item.state === 'done' && changesFiles(item.name)))
  const isEstimated = () => work.state().steps.some((step) => step.kind === 'reply' && step.estimated)
  return (
    <div class="group flex gap-3">
      <span class="mt-0.5 max-sm:hidden">
        <Avatar name={props.agentName} text={props.agent?.avatar} size="sm" />
      </span>
      <div class="flex min-w-0 flex-1 flex-col gap-2" aria-busy={status() === 'running'}>
        <Show when={props.turn.waitsBehind === 0 || isTerminal(status())} fallback={<Waiting turn={props.turn} />}>
          <Show when={hiddenCalls() > 0}>
            <button type="button" class="self-start text-xs font-medium text-accent-ink hover:underline" onClick={() => setOpened(true)}>
              {t('chat.steps', { count: hiddenCalls() })}
            </button>
          </Show>
          <TurnItems
            items={items()}
            isOver={isTerminal(status())}
            doing={doingText(status(), progress())}
            decisions={decisions()}
            card={(approval) => <ApprovalCard approval={approval()} />}
          />
          <TurnEnd
            turn={props.turn}
            status={status()}
            failure={failure()}
            isEmpty={text() === ''}
            hasCards={approvals.data !== undefined}
          />
          <Show when={wroteFiles() && props.turn.jobId}>{(jobId) => <JobFiles compact jobId={jobId()} />}</Show>
          <Show when={props.turn.job?.startedAt ? props.turn.job : null}>
            {(job) => <TurnFooter job={job()} text={text()} isEstimated={isEstimated()} isOver={isTerminal(status())} />}
          </Show>
        </Show>
        <Show when={wasFollowed()}>
          <p class="sr-only" aria-live="polite">
            {announcementOf(status(), props.agentName, text())}
          </p>
        </Show>
      </div>
    </div>
  )
}

/** What a screen reader says of a turn: its state, and once it has completed, the beginning of the answer. */
function announcementOf(status: JobStatus, agent: string, text: string): string {
  switch (status) {
    case 'completed':
      return `${t('chat.agentSaid', { agent })}: ${text.slice(0, 500)}`
    case 'failed':
      return t('chat.agentFailed', { agent })
    case 'cancelled':
      return t('chat.agentStopped', { agent })
    case 'awaiting_approval':
      return t('chat.agentAsks', { agent })
    default:
      return t('chat.answering', { agent })
  }
}

type Failure = Pick<JobSummary, 'error' | 'errorMessage' | 'agentId'>

/** Why a turn has stopped: for good, or to wait. */
function TurnEnd(props: { turn: ChatTurn; status: JobStatus; failure: Failure | null; isEmpty: boolean; hasCards: boolean }) {
  return (
    <Switch>
      <Match when={props.status === 'cancelled'}>
        <p class="text-sm text-ink-3">{props.isEmpty ? t('chat.stoppedEmpty') : t('chat.stopped')}</p>
      </Match>
      <Match when={props.status === 'failed' && props.failure}>
        {(job) => <JobProblem compact job={job()} actions={<RetryTurn turn={props.turn} />} />}
      </Match>
      <Match when={props.status === 'awaiting_approval' && !props.hasCards}>
        <p class="text-sm text-warn">{t('chat.needsApproval')}</p>
      </Match>
      <Match when={props.status === 'awaiting_child'}>
        <p class="text-sm text-ink-3">{t('job.waitingChild')}</p>
      </Match>
    </Switch>
  )
}

function TurnFooter(props: { job: JobSummary; text: string; isEstimated: boolean; isOver: boolean }) {
  const desktop = useDesktop()
  return (
    <div class="-ml-1 flex min-h-6 flex-wrap items-center gap-1">
      <span class="pl-1">
        <JobFigures job={props.job} estimated={props.isEstimated} />
      </span>
      <Show when={props.isOver}>
        <span class="flex items-center opacity-0 transition-opacity duration-100 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
          <Show when={props.text !== ''}>
            <CopyButton text={() => props.text} copy={desktop.copyText} label={t('chat.copyAnswer')} size="sm" />
          </Show>
          <Tooltip text={t('chat.toJob')}>
            <A
              href={`/jobs/${props.job.id}`}
              aria-label={t('chat.toJob')}
              class="inline-flex size-6 items-center justify-center rounded-md text-ink-2 hover:bg-hover hover:text-ink"
            >
              <ExternalLink size={14} aria-hidden="true" />
            </A>
          </Tooltip>
        </span>
      </Show>
    </div>
  )
}

function Waiting(props: { turn: ChatTurn }) {
  const cancel = useCancelJob()
  const [isStopping, setStopping] = createSignal(false)
  const stop = async (jobId: string) => {
    setStopping(true)
    try {
      await cancel.run({ params: { jobId } })
    } catch (thrown) {
      setStopping(false)
      toastError(thrown)
    }
  }
  return (
    <p class="flex items-center gap-2 py-0.5 text-sm text-ink-3">
      <Clock size={14} aria-hidden="true" />
      {t('chat.waitingBefore', { count: props.turn.waitsBehind })}
      <Show when={props.turn.jobId}>
        {(jobId) => (
          <Button size="sm" variant="ghost" disabled={isStopping()} onClick={() => void stop(jobId())}>
            {isStopping() ? t('chat.stopping') : t('chat.stop')}
          </Button>
        )}
      </Show>
    </p>
  )
}

function RetryTurn(props: { turn: ChatTurn }) {
  const retry = useAction('retryJob')
  const run = async () => {
    if (props.turn.jobId === null) return
    await retry.run({ params: { jobId: props.turn.jobId } }).catch(toastError)
  }
  return (
    <Show
      when={props.turn.job?.retriedByJobId}
      fallback={
        <Button size="sm" busy={retry.isRunning} onClick={() => void run()}>
          {t('chat.retryTurn')}
        </Button>
      }
    >
      {(retriedBy) => (
        <ButtonLink size="sm" href={`/jobs/${retriedBy()}`}>
          {t('chat.retried')}
        </ButtonLink>
      )}
    </Show>
  )
}

function NotSent(props: { sent: SentTurn; onSendAgain: (sent: SentTurn) => void; onEdit: (sent: SentTurn) => void }) {
  const code = () => (props.sent.problem instanceof ApiError ? props.sent.problem.code : null)
  const problem = (): Problem => {
    const why: Partial<Record<string, string>> = {
      agent_has_no_model: t('chat.errors.agent_has_no_model'),
      agent_not_found: t('chat.errors.agent_not_found'),
      conversation_not_found: t('chat.errors.conversation_not_found'),
      runner_unavailable: t('chat.errors.unreachable'),
    }
    return { ...problemOf(props.sent.problem), title: t('chat.notSent'), why: why[code() ?? ''] ?? problemOf(props.sent.problem).why }
  }
  return (
    <ErrorState
      compact
      problem={problem()}
      actions={
        <>
          <Button size="sm" onClick={() => props.onSendAgain(props.sent)}>
            {t('chat.sendAgain')}
          </Button>
          <Button size="sm" variant="ghost" onClick={() => props.onEdit(props.sent)}>
            {t('chat.editAgain')}
          </Button>
          <Show when={code() === 'agent_has_no_model'}>
            <ButtonLink size="sm" variant="ghost" href="/models">
              {t('chat.fix.models')}
            </ButtonLink>
            <ButtonLink size="sm" variant="ghost" href={`/agents/${props.sent.agentId}`}>
              {t('chat.fix.agent')}
            </ButtonLink>
          </Show>
        </>
      }
    />
  )
}
