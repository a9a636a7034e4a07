import type { Approval } from '../../../src-runner/contract/approvals.ts'
import { type JSX, Match, Show, Switch } from 'solid-js'
import { t } from '../../lib/language.ts'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { type TurnRow, withDecisions } from './placed-decisions.ts'
import { Reasoning } from './Reasoning.tsx'
import { ReplyText } from './ReplyText.tsx'
import { ToolLine } from './ToolLine.tsx'
import type { TextItem, ToolItem, TurnItem } from './turn.ts'

/**
 * What an agent said and did, in order: its text, and each tool call as one line. `doing` is shown while no text comes.
 */
export function TurnItems(props: {
  items: readonly TurnItem[]
  doing: string | null
  isOver: boolean
  decisions?: readonly Approval[]
  /** Renders an approval in its place in the turn. */
  card?: (approval: () => Approval) => JSX.Element
}): JSX.Element {
  return (
    <div class="flex min-w-0 flex-col gap-0.5">
      <KeyedFor each={withDecisions(props.items, props.decisions ?? [])} keyOf={(item) => item.key}>
        {(item) => (
          <Switch>
            <Match when={textOf(item())}>{(text) => <Text item={text()} />}</Match>
            <Match when={toolOf(item())}>{(tool) => <ToolLine item={tool()} isOver={props.isOver} />}</Match>
            <Match when={decisionOf(item())}>{(approval) => <div class="my-1">{props.card?.(approval)}</div>}</Match>
          </Switch>
        )}
      </KeyedFor>
      <Show when={!isWriting(props.items) && props.doing}>{(doing) => <Doing text={doing()} />}</Show>
    </div>
  )
}

/** Whether the model is writing text. Then nothing else says what the job does. */
export function isWriting(items: readonly TurnItem[]): boolean {
  const last = items.at(-1)
  return last?.kind === 'text' && last.live && last.text !== ''
}

export function Doing(props: { text: string }): JSX.Element {
  return (
    <p class="flex items-baseline gap-2 py-0.5 text-sm text-ink-3">
      <span class="animate-breathe size-2 shrink-0 rounded-full bg-accent" aria-hidden="true" />
      {props.text}
    </p>
  )
}

function decisionOf(row: TurnRow): Approval | undefined {
  return row.kind === 'decision' ? row.approval : undefined
}

function textOf(item: TurnRow): TextItem | undefined {
  return item.kind === 'text' ? item : undefined
}

function toolOf(item: TurnRow): ToolItem | undefined {
  return item.kind === 'tool' ? item : undefined
}

function Text(props: { item: TextItem }): JSX.Element {
  return (
    <>
      <Show when={props.item.reasoning !== ''}>
        <Reasoning text={props.item.reasoning} />
      </Show>
      <Show when={props.item.text !== ''}>
        <div class="py-1">
          <ReplyText text={props.item.text} streaming={props.item.live} />
        </div>
      </Show>
      {/* A model that was given up for the next one leaves an empty reply. */}
      <Show when={props.item.interrupted && (props.item.text !== '' || props.item.reasoning !== '')}>
        <span>
          <Pill tone="warn" title={t('turn.interruptedWhy')}>
            {t('turn.interrupted')}
          </Pill>
        </span>
      </Show>
    </>
  )
}
