import { type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Icon } from './icon.ts'

/** Says what a place is for, with one button and, where it helps, one example. */
export function EmptyState(props: {
  icon: Icon
  title: string
  children?: JSX.Element
  action?: JSX.Element
  compact?: boolean
  heading?: 'h1' | 'h2'
}) {
  return (
    <div class={`mx-auto flex max-w-md flex-col items-center text-center ${props.compact ? 'px-4 py-6' : 'px-6 py-14'}`}>
      <span class="mb-3 flex size-10 items-center justify-center rounded-xl bg-accent-soft text-accent-ink">
        <Dynamic component={props.icon} size={19} aria-hidden="true" />
      </span>
      <Dynamic component={props.heading ?? 'h2'} class="text-md font-semibold text-ink">
        {props.title}
      </Dynamic>
      <Show when={props.children}>
        <div class="mt-1 text-sm text-ink-2 text-pretty">{props.children}</div>
      </Show>
      <Show when={props.action}>
        <div class="mt-4 flex flex-wrap justify-center gap-2">{props.action}</div>
      </Show>
    </div>
  )
}
