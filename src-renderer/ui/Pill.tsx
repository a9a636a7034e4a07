import type { JSX } from 'solid-js'

const TONES = {
  plain: 'bg-hover text-ink-2',
  accent: 'bg-accent-soft text-accent-ink',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

/** A short word about a thing. */
export function Pill(props: { tone?: keyof typeof TONES; title?: string; children: JSX.Element }) {
  return (
    <span
      title={props.title}
      class={`inline-flex min-h-5 max-w-full shrink-0 items-center gap-1 rounded-[0.625rem] px-2 text-xs font-medium ${TONES[props.tone ?? 'plain']}`}
    >
      {props.children}
    </span>
  )
}
