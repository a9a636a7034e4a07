import { A } from '@solidjs/router'
import CircleHelp from 'lucide-solid/icons/circle-question-mark'
import Hand from 'lucide-solid/icons/hand'
import Unplug from 'lucide-solid/icons/unplug'
import Wallet from 'lucide-solid/icons/wallet'
import { For, type JSX, Show, untrack } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Approval } from '../../src-runner/contract/approvals.ts'
import type { CallFacts } from '../../src-runner/contract/rules.ts'
import { useApprovalPreview } from '../api/queries.ts'
import { DiffView } from '../files/DiffView.tsx'
import { visibleText } from '../kit/visible-text.ts'
import { locale, words } from '../kit/words/words.ts'
import type { Icon } from '../ui/icon.ts'
import { Pill } from '../ui/Pill.tsx'
import { Time } from '../ui/Time.tsx'
import { AnswerForm } from './AnswerForm.tsx'
import { AnsweredLine, OutcomeNote } from './AnsweredLine.tsx'
import { budgetSentence, headlineOf } from './approval-text.ts'
import { Arguments } from './Arguments.tsx'
import { MarksList, markNames } from './MarksView.tsx'
import { type Outcome, useAnswer } from './use-answer.ts'
import { OverruledFold, VerdictMark, VoiceText } from './Voices.tsx'

const ICONS: Record<Approval['kind'], Icon> = { tool: Hand, question: CircleHelp, unknown_outcome: Unplug, budget: Wallet }

export type ApprovalCardProps = {
  approval: Approval
  /** In a chat, on a job, on Home: what the place says already is left out. */
  compact?: boolean
  /** The screen's own card: A, R and figures answer it. */
  hasKeys?: boolean
  /** The agent's words stand right above already. */
  withoutReason?: boolean
  /** Where to go once it is answered. */
  next?: JSX.Element
}

/**
 * One decision: what would happen, why the agent wants it, exactly what would run, where it comes from, which rule
 * asked, and the answers. It stays in place once answered and says how it ended.
 */
export function ApprovalCard(props: ApprovalCardProps): JSX.Element {
  const text = () => words().approvals
  const answering = useAnswer(() => props.approval)
  const isOpen = () => props.approval.status === 'pending'
  // Answered while somebody looked at it, and not from here.
  const wasOpen = untrack(isOpen)
  const outcome = (): Outcome | null => {
    const own = answering.outcome()
    if (own !== null || !wasOpen || isOpen() || answering.isRunning()) return own
    return props.approval.status === 'expired' ? null : { kind: 'elsewhere' }
  }
  return (
    <article
      aria-label={`${text().kind[props.approval.kind]} ${headlineOf(props.approval, words(), locale())}`}
      class={`min-w-0 rounded-xl border bg-surface ${isOpen() ? 'border-warn/50 shadow-card' : 'border-line'}`}
    >
      <header class={`flex items-start gap-3 ${props.compact ? 'px-3.5 pt-3' : 'px-5 pt-4'}`}>
        <span class={`mt-0.5 shrink-0 ${isOpen() ? 'text-warn' : 'text-ink-3'}`}>
          <Dynamic component={ICONS[props.approval.kind]} size={props.compact ? 17 : 20} aria-hidden="true" />
        </span>
        <div class="min-w-0 flex-1">
          <div class="flex flex-wrap items-baseline justify-between gap-x-3 text-xs text-ink-3">
            <p class="min-w-0 wrap-anywhere">{askerLine(props.approval)}</p>
            <Show when={isOpen()}>
              <p title={text().expiresWhy}>
                {text().expires} <Time at={props.approval.expiresAt} />
              </p>
            </Show>
          </div>
          <h2 class={`font-semibold wrap-anywhere whitespace-pre-wrap text-ink ${props.compact ? 'text-md' : 'text-lg'}`}>
            {visibleText(headlineOf(props.approval, words(), locale()))}
          </h2>
        </div>
      </header>
      <div class={`flex flex-col ${props.compact ? 'gap-2.5 px-3.5 pt-2 pb-3' : 'gap-4 px-5 pt-3 pb-5'}`}>
        <Body approval={props.approval} compact={props.compact} withoutReason={props.withoutReason} />
        <Show
          when={isOpen()}
          fallback={
            <>
              <AnsweredLine approval={props.approval} />
              <OutcomeNote outcome={outcome()} approval={props.approval} />
              {props.next}
            </>
          }
        >
          <OutcomeNote outcome={outcome()} approval={props.approval} />
          <AnswerForm approval={props.approval} answering={answering} hasKeys={props.hasKeys === true} compact={props.compact} />
        </Show>
      </div>
    </article>
  )
}

function askerLine(approval: Approval): string {
  const text = words().approvals
  switch (approval.kind) {
    case 'tool':
      return text.wants.tool(approval.agentName, approval.tool ?? words().common.unknown)
    case 'question':
    case 'unknown_outcome':
    case 'budget':
      return text.wants[approval.kind](approval.agentName)
  }
}

function Body(props: { approval: Approval; compact?: boolean; withoutReason?: boolean }): JSX.Element {
  const text = () => words().approvals
  const isCall = () => props.approval.kind === 'tool' || props.approval.kind === 'unknown_outcome'
  const mayStillRun = () => props.approval.kind === 'tool' && props.approval.status === 'pending'
  const callLabel = () => (mayStillRun() ? text().call : props.approval.kind === 'tool' ? text().callWas : text().callAsked)
  return (
    <>
      <Show when={props.approval.kind === 'unknown_outcome'}>
        <p class="text-sm text-ink-2">{text().outcomeText}</p>
      </Show>
      <Show when={props.approval.budget}>
        {(budget) => <p class="text-sm text-ink-2">{budgetSentence(budget(), words(), locale())}</p>}
      </Show>
      <Show when={props.approval.kind !== 'budget' && !props.withoutReason}>
        <Reason approval={props.approval} compact={props.compact} />
      </Show>
      <Show when={mayStillRun() && !props.compact && CHANGES_A_FILE.has(props.approval.tool ?? '')}>
        <FileChange approvalId={props.approval.id} />
      </Show>
      <Show when={isCall()}>
        <section class="flex flex-col gap-1.5">
          <Show when={!props.compact} fallback={<span class="sr-only">{callLabel()}</span>}>
            <Label note={mayStillRun() ? text().callNote : undefined}>{callLabel()}</Label>
          </Show>
          <Arguments args={props.approval.args} compact={props.compact} />
          <Show when={props.approval.facts}>{(facts) => <Effects facts={facts()} compact={props.compact} />}</Show>
        </section>
      </Show>
      <Show when={!props.compact || markNames(props.approval.marks).length > 0 || props.approval.decision}>
        <dl
          class={`grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 text-sm max-sm:grid-cols-1 max-sm:gap-y-0! max-sm:[&>dd]:mb-2 ${props.compact ? 'gap-y-1 text-xs' : 'gap-y-2'}`}
        >
          <Show when={!props.compact}>
            <Fact name={text().origin}>
              <Origin approval={props.approval} />
            </Fact>
          </Show>
          <Show when={props.approval.decision}>
            {(decision) => (
              <Fact name={text().decidedBy}>
                <span class="flex items-start gap-1.5 text-ink-2">
                  <span class="mt-0.5">
                    <VerdictMark verdict={decision().verdict} />
                  </span>
                  <VoiceText voice={decision().decidedBy} />
                </span>
                <OverruledFold voices={decision().overruled} />
              </Fact>
            )}
          </Show>
          <Show when={markNames(props.approval.marks).length > 0}>
            <Fact name={text().marks}>
              <MarksList marks={props.approval.marks} jobId={props.approval.jobId} />
            </Fact>
          </Show>
          <Show when={!props.compact}>
            <Fact name={text().asked}>
              <Time at={props.approval.createdAt} class="text-ink-2" />
            </Fact>
            <Show when={isCall()}>
              <Fact name={text().fingerprint}>
                <span class="font-mono text-xs text-ink-3" title={props.approval.hash}>
                  {props.approval.hash.slice(0, 12)}
                </span>
              </Fact>
            </Show>
          </Show>
        </dl>
      </Show>
    </>
  )
}

const CHANGES_A_FILE = new Set(['write_file', 'edit_file'])

/** Beside the exact arguments, which say what will stand there: what of the present text goes. Not there where it cannot be told. */
function FileChange(props: { approvalId: string }): JSX.Element {
  const preview = useApprovalPreview(() => props.approvalId)
  const change = () => {
    const found = preview.data?.change
    return found && found.change === 'modified' && found.diff !== '' ? found : null
  }
  return (
    <Show when={change()}>
      {(file) => (
        <section class="flex flex-col gap-1.5">
          <Label>{words().approvals.change}</Label>
          <DiffView path={file().path} diff={file().diff} />
        </section>
      )}
    </Show>
  )
}

function Label(props: { note?: string; children: JSX.Element }): JSX.Element {
  return (
    <p class="flex flex-wrap items-baseline gap-x-2 text-xs">
      <span class="font-semibold text-ink-2">{props.children}</span>
      <Show when={props.note}>
        <span class="text-ink-3">{props.note}</span>
      </Show>
    </p>
  )
}

/** The agent's own words, set apart so that nobody takes them for Deckhand's. */
function Reason(props: { approval: Approval; compact?: boolean }): JSX.Element {
  const text = () => words().approvals
  return (
    <section class="flex flex-col gap-1">
      <Label note={props.compact ? undefined : text().reasonNote}>{text().reason(props.approval.agentName)}</Label>
      <Show when={props.approval.reason.trim() !== ''} fallback={<p class="text-sm text-ink-3">{text().noReason}</p>}>
        <blockquote
          class={`scroll-quiet overflow-auto border-l-2 border-line-strong pl-3 text-md wrap-anywhere whitespace-pre-wrap text-ink-2 italic ${props.compact ? 'max-h-24 text-sm' : 'max-h-60'}`}
        >
          {visibleText(props.approval.reason.trim())}
        </blockquote>
      </Show>
    </section>
  )
}

function Effects(props: { facts: CallFacts; compact?: boolean }): JSX.Element {
  const runs = () => (props.facts.runsLater === true ? 'runsLater' : 'runsCode')
  const names = () => (['leavesMachine', 'costsMoney', 'deletes', 'overwrites', runs()] as const).filter((name) => props.facts[name])
  const text = () => words().approvals
  return (
    <>
      <Show when={names().length > 0}>
        <ul aria-label={text().effects} class="flex flex-wrap gap-1.5">
          <For each={names()}>
            {(name) => (
              <li>
                <Pill tone="warn">{text().effect[name]}</Pill>
              </li>
            )}
          </For>
          <Show when={props.facts.boxed !== undefined}>
            <li>
              <Pill tone={props.facts.boxed ? 'ok' : 'bad'}>{props.facts.boxed ? text().effect.boxed : text().effect.unboxed}</Pill>
            </li>
          </Show>
        </ul>
      </Show>
      <Show when={!props.compact && props.facts.paths.length > 0}>
        <div class="text-xs text-ink-3">
          <span class="font-semibold">{text().places}</span>
          <ul>
            <For each={props.facts.paths}>{(path) => <li class="font-mono wrap-anywhere">{visibleText(path)}</li>}</For>
          </ul>
        </div>
      </Show>
    </>
  )
}

function Fact(props: { name: string; children: JSX.Element }): JSX.Element {
  return (
    <>
      <dt class="text-ink-3">{props.name}</dt>
      <dd class="min-w-0 text-ink">{props.children}</dd>
    </>
  )
}

function Origin(props: { approval: Approval }): JSX.Element {
  const text = () => words().approvals
  return (
    <span class="wrap-anywhere text-ink-2">
      {text().originOf[props.approval.channel]}:{' '}
      <A href={`/jobs/${props.approval.jobId}`} class="text-accent-ink underline underline-offset-2">
        {props.approval.jobTitle}
      </A>
      <Show when={props.approval.conversationId}>
        {(conversationId) => (
          <>
            {' · '}
            <A href={`/chat/${conversationId()}`} class="text-accent-ink underline underline-offset-2">
              {text().openConversation}
            </A>
          </>
        )}
      </Show>
    </span>
  )
}
