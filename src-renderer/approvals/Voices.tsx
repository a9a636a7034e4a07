import CircleCheck from 'lucide-solid/icons/circle-check'
import ChevronRight from 'lucide-solid/icons/chevron-right'
import Hand from 'lucide-solid/icons/hand'
import ShieldX from 'lucide-solid/icons/shield-x'
import { createSignal, createUniqueId, For, type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Decision, Voice } from '../../src-runner/contract/rules.ts'
import { locale, words } from '../kit/words/words.ts'
import type { Icon } from '../ui/icon.ts'
import { voiceText } from './policy-text.ts'

const LOOKS: Record<Voice['verdict'], { icon: Icon; tone: string }> = {
  run: { icon: CircleCheck, tone: 'text-ok' },
  ask: { icon: Hand, tone: 'text-warn' },
  deny: { icon: ShieldX, tone: 'text-bad' },
}

export function VerdictMark(props: { verdict: Voice['verdict']; size?: number }): JSX.Element {
  return (
    <span class={`inline-flex shrink-0 ${LOOKS[props.verdict].tone}`}>
      <Dynamic component={LOOKS[props.verdict].icon} size={props.size ?? 14} aria-hidden="true" />
    </span>
  )
}

/** Who said it, and its sentence. A rule's sentence says by itself that it is a rule. */
export function VoiceText(props: { voice: Voice }): JSX.Element {
  return (
    <span class="min-w-0 wrap-anywhere">
      <Show when={props.voice.source !== 'rule' && props.voice.source}>
        {(source) => <span class="font-medium text-ink">{words().approvals.source[source()]}: </span>}
      </Show>
      {voiceText(props.voice, words(), locale())}
    </span>
  )
}

/** What was overruled: every other voice and what it would have done. */
export function Overruled(props: { voices: readonly Voice[] }): JSX.Element {
  return (
    <ul class="flex flex-col gap-1">
      <For each={props.voices}>
        {(voice) => (
          <li class="flex items-start gap-2 text-xs text-ink-2">
            <span class="mt-px">
              <VerdictMark verdict={voice.verdict} />
            </span>
            <span class="min-w-0">
              <VoiceText voice={voice} /> <span class="text-ink-3">({words().approvals.verdict[voice.verdict]})</span>
            </span>
          </li>
        )}
      </For>
    </ul>
  )
}

/** A button that unfolds the overruled voices. Not there when nothing was overruled. */
export function OverruledFold(props: { voices: readonly Voice[] }): JSX.Element {
  const [open, setOpen] = createSignal(false)
  const id = createUniqueId()
  return (
    <Show when={props.voices.length > 0}>
      <button
        type="button"
        aria-expanded={open()}
        aria-controls={open() ? id : undefined}
        class="-ml-0.5 inline-flex items-center gap-1 rounded-sm text-xs text-ink-3 hover:text-ink"
        onClick={() => setOpen(!open())}
      >
        <ChevronRight size={12} class={`transition-transform duration-100 ${open() ? 'rotate-90' : ''}`} aria-hidden="true" />
        {words().approvals.overruled(props.voices.length)}
      </button>
      <Show when={open()}>
        <div id={id} class="mt-1 border-l-2 border-line pl-3">
          <Overruled voices={props.voices} />
        </div>
      </Show>
    </Show>
  )
}

/** The rule that decided on one call, in one small line of the timeline. */
export function DecisionLine(props: { decision: Decision }): JSX.Element {
  return (
    <div class="mb-1 ml-1.5 flex min-w-0 flex-col gap-0.5 pl-4">
      <p class="flex min-w-0 items-start gap-1.5 text-xs text-ink-3">
        <span class="mt-px">
          <VerdictMark verdict={props.decision.verdict} size={13} />
        </span>
        <span class="sr-only">{words().approvals.decision[props.decision.verdict]}. </span>
        <VoiceText voice={props.decision.decidedBy} />
      </p>
      <div class="pl-5">
        <OverruledFold voices={props.decision.overruled} />
      </div>
    </div>
  )
}
