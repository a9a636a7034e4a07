import CircleCheck from 'lucide-solid/icons/circle-check'
import Hand from 'lucide-solid/icons/hand'
import ShieldX from 'lucide-solid/icons/shield-x'
import { For, type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Decision, TraceEntry } from '../../../src-runner/contract/rules.ts'
import { t } from '../../lib/language.ts'
import { Fold } from '../../ui/Fold.tsx'
import type { Icon } from '../../ui/icon.ts'
import { messageText } from '../../lib/message-text.ts'

const LOOKS: Record<TraceEntry['verdict'], { icon: Icon; tone: string }> = {
  run: { icon: CircleCheck, tone: 'text-ok' },
  ask: { icon: Hand, tone: 'text-warn' },
  deny: { icon: ShieldX, tone: 'text-bad' },
}

export function VerdictMark(props: { verdict: TraceEntry['verdict']; size?: number }): JSX.Element {
  return (
    <span class={`inline-flex shrink-0 ${LOOKS[props.verdict].tone}`}>
      <Dynamic component={LOOKS[props.verdict].icon} size={props.size ?? 14} aria-hidden="true" />
    </span>
  )
}

/** The source of a trace entry and its sentence. The sentence of a rule names the rule itself. */
export function TraceEntryText(props: { entry: TraceEntry }): JSX.Element {
  return (
    <span class="min-w-0 wrap-anywhere">
      <Show when={props.entry.source !== 'rule' && props.entry.source}>
        {(source) => <span class="font-medium text-ink">{t(`approvals.source.${source()}`)}: </span>}
      </Show>
      {messageText(props.entry.reason)}
    </span>
  )
}

/** The overruled entries of a trace, and what each would have done. */
export function Overruled(props: { trace: readonly TraceEntry[] }): JSX.Element {
  return (
    <ul class="flex flex-col gap-1">
      <For each={props.trace}>
        {(entry) => (
          <li class="flex items-start gap-2 text-xs text-ink-2">
            <span class="mt-px">
              <VerdictMark verdict={entry.verdict} />
            </span>
            <span class="min-w-0">
              <TraceEntryText entry={entry} /> <span class="text-ink-3">({t(`approvals.verdict.${entry.verdict}`)})</span>
            </span>
          </li>
        )}
      </For>
    </ul>
  )
}

/** The same, folded away. Shows nothing when nothing was overruled. */
export function OverruledFold(props: { trace: readonly TraceEntry[] }): JSX.Element {
  return (
    <Show when={props.trace.length > 0}>
      <Fold label={t('approvals.overruled', { count: props.trace.length })}>
        <div class="mt-1 border-l-2 border-line pl-3">
          <Overruled trace={props.trace} />
        </div>
      </Fold>
    </Show>
  )
}

/** The trace entry that decided on a call, as a small line of the timeline. */
export function DecisionLine(props: { decision: Decision }): JSX.Element {
  return (
    <div class="mb-1 ml-1.5 flex min-w-0 flex-col gap-0.5 pl-4">
      <p class="flex min-w-0 items-start gap-1.5 text-xs text-ink-3">
        <span class="mt-px">
          <VerdictMark verdict={props.decision.verdict} size={13} />
        </span>
        <span class="sr-only">{t(`approvals.decision.${props.decision.verdict}`)}. </span>
        <TraceEntryText entry={props.decision.decidedBy} />
      </p>
      <div class="pl-5">
        <OverruledFold trace={props.decision.overruled} />
      </div>
    </div>
  )
}
