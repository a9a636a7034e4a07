import { type JSX, Show } from 'solid-js'

/** A line of settings: what it is at the left, its control or value at the right. */
export function Row(props: { label: string; hint?: JSX.Element; children?: JSX.Element }) {
  return (
    <div class="flex min-h-11 flex-wrap items-center gap-x-6 gap-y-1.5 border-b border-line px-4 py-2.5 last:border-b-0">
      <div class="min-w-48 flex-1">
        <div class="text-sm text-ink">{props.label}</div>
        <Show when={props.hint}>
          <div class="text-xs text-ink-3">{props.hint}</div>
        </Show>
      </div>
      <div class="flex min-w-0 items-center gap-2">{props.children}</div>
    </div>
  )
}
