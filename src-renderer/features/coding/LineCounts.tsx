import { type JSX, Show } from 'solid-js'
import { t } from '../../lib/language.ts'

/** "+12 −3", read out in words. */
export function LineCounts(props: { additions: number; deletions: number; class?: string }): JSX.Element {
  return (
    <span class={`inline-flex shrink-0 gap-1.5 font-mono text-xs whitespace-nowrap tabular-nums ${props.class ?? ''}`}>
      <Show when={props.additions > 0}>
        <Part sign="+" count={props.additions} words={t('code.added', { count: props.additions })} tone="text-ok" />
      </Show>
      <Show when={props.deletions > 0}>
        <Part sign="−" count={props.deletions} words={t('code.removed', { count: props.deletions })} tone="text-bad" />
      </Show>
    </span>
  )
}

function Part(props: { sign: string; count: number; words: string; tone: string }): JSX.Element {
  return (
    <span class={props.tone} title={props.words}>
      <span aria-hidden="true">
        {props.sign}
        {props.count}
      </span>
      <span class="sr-only">{props.words}</span>
    </span>
  )
}
