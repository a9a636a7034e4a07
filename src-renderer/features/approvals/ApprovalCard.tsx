import CircleHelp from 'lucide-solid/icons/circle-question-mark'
import Hand from 'lucide-solid/icons/hand'
import Info from 'lucide-solid/icons/info'
import ShieldAlert from 'lucide-solid/icons/shield-alert'
import Unplug from 'lucide-solid/icons/unplug'
import Wallet from 'lucide-solid/icons/wallet'
import { createEffect, createMemo, createSignal, For, type JSX, Match, on, Show, Switch, untrack } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Approval, AskedQuestion } from '../../../src-runner/contract/approvals.ts'
import { useApprovalPreview } from '../../api/queries.ts'
import { CallDiffs, diffsOfCall } from '../files/CallDiffs.tsx'
import { DiffView } from '../files/DiffView.tsx'
import { visibleText } from '../../lib/visible-text.ts'
import { locale, t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import type { Icon } from '../../ui/icon.ts'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { AnswerForm } from './AnswerForm.tsx'
import { AnsweredLine, OutcomeNote } from './AnsweredLine.tsx'
import { commandOf, headlineOf, headContainsArguments, lookAlikesOf, programOf, type Risk, riskOf, sentenceOf } from './approval-text.ts'
import { ApprovalDetails } from './ApprovalDetails.tsx'
import { Arguments } from './Arguments.tsx'
import { focusNextCard } from './next-card.ts'
import { type Outcome, useAnswer } from './use-answer.ts'

const ICONS: Record<Approval['kind'], Icon> = { tool: Hand, question: CircleHelp, unknown_outcome: Unplug, budget: Wallet }

export type ApprovalCardProps = {
  approval: Approval
  /** The screen is about this approval: its keys work wherever the focus is. Otherwise the card needs the focus. */
  isFront?: boolean
  /** Shown once it is answered. Without it, the focus moves to the next open card. */
  next?: JSX.Element
}

/**
 * An approval: its effect in one sentence, exactly what would run, the worst risk, and the answers. Everything else is under
 * Details. Once answered, the card stays in place and shows the outcome.
 */
export function ApprovalCard(props: ApprovalCardProps): JSX.Element {
  const answering = useAnswer(() => props.approval)
  const [hasFocus, setFocus] = createSignal(false)
  let card!: HTMLElement
  const isOpen = () => props.approval.status === 'pending'
  // Answered elsewhere while it was shown here.
  const wasOpen = untrack(isOpen)
  const outcome = (): Outcome | null => {
    const own = answering.outcome()
    if (own !== null || !wasOpen || isOpen() || answering.isRunning()) return own
    return props.approval.status === 'expired' ? null : { kind: 'elsewhere' }
  }
  const isAnsweredHere = createMemo(() => !isOpen() && answering.outcome()?.kind === 'mine')
  createEffect(on(isAnsweredHere, (isAnswered) => isAnswered && props.next === undefined && focusNextCard(card), { defer: true }))
  return (
    <article
      ref={(element) => (card = element)}
      tabIndex={-1}
      data-decision={isOpen() ? 'open' : 'answered'}
      aria-label={`${t(`approvals.kind.${props.approval.kind}`)} ${headlineOf(props.approval)}`}
      class={`group/card min-w-0 scroll-my-3 rounded-xl border bg-surface ${isOpen() ? 'border-warn/50 shadow-card' : 'border-line'}`}
      onFocusIn={() => setFocus(true)}
      onFocusOut={(event) => setFocus(event.relatedTarget instanceof Node && card.contains(event.relatedTarget))}
    >
      <div class="flex flex-col gap-3 p-4">
        <header class="flex items-start gap-3">
          <span class={`mt-0.5 shrink-0 ${isOpen() ? 'text-warn' : 'text-ink-3'}`}>
            <Dynamic component={ICONS[props.approval.kind]} size={18} aria-hidden="true" />
          </span>
          <div class="min-w-0 flex-1">
            <p class="text-xs wrap-anywhere text-ink-3">{askerLine(props.approval)}</p>
            <h2 class="text-md font-semibold wrap-anywhere whitespace-pre-wrap text-ink">{visibleText(sentenceOf(props.approval))}</h2>
          </div>
        </header>
        <Show
          when={isOpen()}
          fallback={
            <>
              <Show when={commandOf(props.approval)}>{(line) => <Command line={line()} label={t('approvals.command')} />}</Show>
              <Show when={props.approval.question?.server !== undefined && props.approval.question}>
                {(question) => <ServerWords question={question()} />}
              </Show>
              <AnsweredLine approval={props.approval} />
              <OutcomeNote outcome={outcome()} approval={props.approval} />
              {props.next}
            </>
          }
        >
          <What approval={props.approval} />
          <Risks approval={props.approval} />
          <OutcomeNote outcome={outcome()} approval={props.approval} />
          <AnswerForm approval={props.approval} answering={answering} hasKeys={props.isFront === true || hasFocus()} />
        </Show>
        <ApprovalDetails approval={props.approval} />
      </div>
    </article>
  )
}

function askerLine(approval: Approval): string {
  switch (approval.kind) {
    case 'tool': {
      const program = programOf(approval)
      if (program !== null) return t('approvals.wants.coding', { agent: approval.agentName, program })
      return t('approvals.wants.tool', { agent: approval.agentName, tool: approval.tool ?? t('common.unknown') })
    }
    case 'question':
      if (approval.question?.server !== undefined)
        return t('approvals.wants.serverQuestion', { agent: approval.agentName, server: approval.question.server })
      return t('approvals.wants.question', { agent: approval.agentName })
    case 'unknown_outcome':
    case 'budget':
      return t(`approvals.wants.${approval.kind}`, { agent: approval.agentName })
  }
}

const CHANGES_A_FILE = new Set(['write_file', 'edit_file'])

/** Exactly what would run, as short as possible: the command, the diff of the file, or the arguments. */
function What(props: { approval: Approval }): JSX.Element {
  const isCall = () => props.approval.kind === 'tool' || props.approval.kind === 'unknown_outcome'
  return (
    <Switch>
      <Match when={props.approval.question?.server !== undefined && props.approval.question}>
        {(question) => <ServerWords question={question()} />}
      </Match>
      <Match when={commandOf(props.approval)}>{(line) => <Command line={line()} label={t('approvals.command')} />}</Match>
      <Match when={diffsOfCall({ name: props.approval.tool, args: props.approval.args })}>
        {(diffs) => <CallDiffs diffs={diffs()} height="max-h-64" />}
      </Match>
      <Match when={props.approval.kind === 'tool' && CHANGES_A_FILE.has(props.approval.tool ?? '')}>
        <FileChange approval={props.approval} />
      </Match>
      <Match when={isCall() && !headContainsArguments(props.approval)}>
        <Arguments args={props.approval.args} compact />
      </Match>
    </Switch>
  )
}

/** Apart from our own words, and without links: the person copies the address after looking at it. */
function ServerWords(props: { question: AskedQuestion }): JSX.Element {
  return (
    <div class="flex flex-col gap-2">
      <blockquote class="scroll-quiet max-h-60 overflow-auto border-l-2 border-line-strong pl-3 text-sm wrap-anywhere whitespace-pre-wrap text-ink">
        {visibleText(props.question.text)}
      </blockquote>
      <Show when={props.question.url}>{(url) => <Command line={url()} label={t('approvals.address')} />}</Show>
      <p class="text-xs text-ink-3">{t('approvals.serverWords')}</p>
    </div>
  )
}

function Command(props: { line: string; label: string }): JSX.Element {
  const desktop = useDesktop()
  return (
    <div class="flex items-start gap-1 rounded-lg border border-line bg-inset py-1 pr-1 pl-3">
      <pre
        tabIndex={0}
        role="group"
        aria-label={props.label}
        class="scroll-quiet max-h-40 min-w-0 flex-1 self-center overflow-auto py-1 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink"
      >
        {visibleText(props.line)}
      </pre>
      <CopyButton text={() => props.line} copy={(copied) => desktop.copyText(copied)} size="sm" />
    </div>
  )
}

/** The diff against the file as it is now. If it is unknown or truncated, the arguments are shown instead. */
function FileChange(props: { approval: Approval }): JSX.Element {
  const preview = useApprovalPreview(() => props.approval.id)
  const change = () => {
    const found = preview.data?.change
    return found && found.diff !== '' && !found.truncated ? found : null
  }
  return (
    <Switch fallback={<Arguments args={props.approval.args} compact />}>
      <Match when={preview.isPending}>
        <Skeleton rows={3} />
      </Match>
      <Match when={change()}>{(file) => <DiffView path={file().path} diff={file().diff} height="max-h-64" />}</Match>
    </Switch>
  )
}

function Risks(props: { approval: Approval }): JSX.Element {
  const risks = createMemo((): Risk[] => {
    const risk = riskOf(props.approval, locale())
    return [...lookAlikesOf(props.approval).map((text) => ({ text, isHigh: true })), ...(risk === null ? [] : [risk])]
  })
  return (
    <For each={risks()}>
      {(shown) => (
        <p
          class={`flex items-start gap-2 text-sm wrap-anywhere ${shown.isHigh ? 'rounded-md bg-warn-soft px-2.5 py-1.5 text-warn' : 'text-ink-2'}`}
        >
          <span class={`mt-0.5 shrink-0 ${shown.isHigh ? '' : 'text-ink-3'}`}>
            <Dynamic component={shown.isHigh ? ShieldAlert : Info} size={15} aria-hidden="true" />
          </span>
          <span class="min-w-0">{shown.text}</span>
        </p>
      )}
    </For>
  )
}
