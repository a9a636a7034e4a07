import { createEffect, type JSX } from 'solid-js'

const TONES = { plain: 'bg-accent', warn: 'bg-warn', bad: 'bg-bad-solid' }

/** How much of something limited is used. The words beside it say it too; `text` is what is read out. */
export function Meter(props: {
  label: string
  value: number
  max: number
  text: string
  tone?: keyof typeof TONES
  class?: string
}): JSX.Element {
  const share = () => (props.max <= 0 ? 0 : Math.min(1, Math.max(0, props.value / props.max)))
  return (
    <div
      role="meter"
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={props.max}
      aria-valuenow={Math.min(props.max, props.value)}
      aria-valuetext={props.text}
      class={`h-1.5 overflow-hidden rounded-full bg-pressed ${props.class ?? ''}`}
    >
      <div
        class={`h-full rounded-full ${TONES[props.tone ?? 'plain']}`}
        ref={(bar) => createEffect(() => bar.style.setProperty('width', `${share() * 100}%`))}
      />
    </div>
  )
}
