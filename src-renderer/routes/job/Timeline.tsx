import { useLocation } from '@solidjs/router'
import { DEMO_PROVIDER_ID } from '../../../src-runner/contract/agents.ts'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import type { ReplyStep } from '../../../src-runner/contract/jobs.ts'
import type { RecordedDecision } from '../../../src-runner/contract/rules.ts'
import { createMemo, type JSX, Match, Show, Switch } from 'solid-js'
import { AnsweredLine } from '../../features/approvals/AnsweredLine.tsx'
import { stepAnchor } from '../../features/approvals/Taints.tsx'
import { DecisionLine } from '../../features/approvals/DecisionTrace.tsx'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { DemoPill } from '../../features/chat-turn/JobFigures.tsx'
import { Reasoning } from '../../features/chat-turn/Reasoning.tsx'
import { ReplyText } from '../../features/chat-turn/ReplyText.tsx'
import { ToolLine } from '../../features/chat-turn/ToolLine.tsx'
import type { TextItem, ToolItem, TurnItem } from '../../features/chat-turn/turn.ts'
import { Duration } from '../../ui/Duration.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Money } from '../../ui/Money.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Time } from '../../ui/Time.tsx'
import { Tokens } from '../../ui/Tokens.tsx'

/** All steps in order: each reply with its cost, and below it the tool calls. */
export function Timeline(props: {
  items: readonly TurnItem[]
  /** Shown above the timeline, so it is not repeated. */ result: string | null
  isOver: boolean
  /** The policy's decision and the person's answer for each call. */
  decisions: readonly RecordedDecision[]
  approvals: readonly Approval[]
}): JSX.Element {
  const attemptOf = (item: TurnItem) => (item.kind === 'text' ? item.step?.attempt : item.result?.attempt) ?? null
  const timeOf = (item: TurnItem) => (item.kind === 'text' ? item.step?.createdAt : item.result?.createdAt) ?? 0
  const beginsAttempt = (item: TurnItem): number | null => {
    const own = attemptOf(item)
    if (own === null) return null
    const before = props.items.slice(0, props.items.indexOf(item)).findLast((one) => attemptOf(one) !== null)
    if (before === undefined || attemptOf(before) === own) return null
    // The job waited for an approval, which is shown at its call.
    const hadApproval = props.approvals.some(
      (one) => one.answeredAt !== null && one.answeredAt >= timeOf(before) && one.answeredAt <= timeOf(item),
    )
    return hadApproval ? null : own
  }
  // For a call with several decisions, the last counts.
  const decisionOf = createMemo(() => new Map(props.decisions.map((one) => [one.callId, one.decision])))
  const answerOf = createMemo(
    () => new Map(props.approvals.toReversed().flatMap((one): [string, Approval][] => (one.callId === null ? [] : [[one.callId, one]]))),
  )
  const location = useLocation()
  // The browser sets :target on load, when there are no steps yet.
  const isTarget = (item: TurnItem) => seqOf(item) !== undefined && location.hash === `#${stepAnchor(seqOf(item)!)}`
  const seqOf = (item: TurnItem) => (item.kind === 'text' ? item.step?.seq : item.result?.seq)
  return (
    <ol class="flex flex-col">
      <KeyedFor each={props.items} keyOf={(item) => item.key}>
        {(item) => (
          <li
            id={seqOf(item()) === undefined ? undefined : stepAnchor(seqOf(item())!)}
            class={`relative border-l-2 pb-1.5 pl-4 last:pb-0 ${isTarget(item()) ? 'border-accent bg-accent-soft' : 'border-line'}`}
          >
            <Show when={beginsAttempt(item())}>
              {(attempt) => (
                <p class="mb-2 flex items-center gap-2 text-xs text-warn">
                  <Pill tone="warn" title={t('job.attemptWhy')}>
                    {t('job.attempt', { n: attempt() })}
                  </Pill>
                  {t('job.attemptWhy')}
                </p>
              )}
            </Show>
            <Switch>
              <Match when={textOf(item())}>
                {(text) => <Reply item={text()} isResult={!text().live && text().text === props.result} />}
              </Match>
              <Match when={toolOf(item())}>
                {(tool) => (
                  <>
                    <ToolLine item={tool()} isOver={props.isOver} />
                    <Show when={decisionOf().get(tool().callId)}>{(decision) => <DecisionLine decision={decision()} />}</Show>
                    <Show when={answerOf().get(tool().callId)}>{(approval) => <AnswerOfCall approval={approval()} />}</Show>
                  </>
                )}
              </Match>
            </Switch>
          </li>
        )}
      </KeyedFor>
    </ol>
  )
}

function AnswerOfCall(props: { approval: Approval }): JSX.Element {
  return (
    <Show when={props.approval.status !== 'pending'}>
      <div class="mb-1.5 ml-1.5 pl-4">
        <AnsweredLine compact approval={props.approval} />
      </div>
    </Show>
  )
}

function textOf(item: TurnItem): TextItem | undefined {
  return item.kind === 'text' ? item : undefined
}

function toolOf(item: TurnItem): ToolItem | undefined {
  return item.kind === 'tool' ? item : undefined
}

function Reply(props: { item: TextItem; isResult: boolean }): JSX.Element {
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <span class="absolute top-1.5 -left-[5px] size-2 rounded-full bg-line-strong" aria-hidden="true" />
      <div class="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-ink-3">
        <span class="font-medium text-ink-2">{headOf(props.item)}</span>
        <Show when={props.item.live}>
          <span class="text-accent-ink">{t('turn.writing')}</span>
        </Show>
        <Show when={props.item.step}>{(step) => <StepFigures step={step()} />}</Show>
        <Show when={props.item.interrupted}>
          <Pill tone="warn" title={t('turn.interruptedWhy')}>
            {t('turn.interrupted')}
          </Pill>
        </Show>
      </div>
      <Show when={props.item.reasoning !== ''}>
        <Reasoning text={props.item.reasoning} />
      </Show>
      <Show when={props.item.text !== '' && props.isResult}>
        <p class="text-sm text-ink-3">{t('job.isResult')}</p>
      </Show>
      <Show when={props.item.text !== '' && !props.isResult}>
        <ReplyText text={props.item.text} streaming={props.item.live} />
      </Show>
    </div>
  )
}

function headOf({ text, step }: TextItem): string {
  if (text !== '' || step === null) return t('job.reply')
  if (step.askedBy !== undefined) return t('job.replyToServer', { server: visibleText(step.askedBy) })
  if (step.toolCalls.length > 0) return t('job.replyOnlyTools')
  // A coding program may tell its cost by itself.
  return step.costUsd > 0 && !hasTokens(step) ? t('job.replyOnlyCost') : t('job.reply')
}

/** A coding program tells its tokens at the end of its turn only. */
function hasTokens(step: ReplyStep): boolean {
  return step.inputTokens + step.outputTokens > 0
}

function StepFigures(props: { step: ReplyStep }): JSX.Element {
  const isDemo = () => props.step.model.providerId === DEMO_PROVIDER_ID
  return (
    <>
      <Show when={!isDemo()} fallback={<DemoPill />}>
        <span class="max-w-48 truncate">{props.step.model.model}</span>
      </Show>
      <Show when={hasTokens(props.step)}>
        <Tokens input={props.step.inputTokens} output={props.step.outputTokens} cached={props.step.cachedTokens} />
      </Show>
      <Show when={!isDemo() && (hasTokens(props.step) || props.step.costUsd > 0 || !props.step.priced)}>
        <Money usd={props.step.costUsd} priced={props.step.priced} />
      </Show>
      <Show when={props.step.estimated}>
        <span title={t('turn.estimatedWhy')}>{t('turn.estimated')}</span>
      </Show>
      <Show when={props.step.durationMs > 0}>
        <Duration ms={props.step.durationMs} />
      </Show>
      <Time at={props.step.createdAt} />
    </>
  )
}
