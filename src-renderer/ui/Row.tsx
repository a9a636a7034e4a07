import { type JSX, Show } from 'solid-js'

/** A line of settings: what it is at the left, its control or value at the right. With an id, an address can lead to it. */
export function Row(props: { id?: string; label: string; hint?: JSX.Element; children?: JSX.Element }) {
  return (
    <RowFrame id={props.id}>
      <div class="flex min-h-6 flex-wrap items-center gap-x-6 gap-y-1.5">
        <div class="min-w-48 flex-1">
          <div class="text-sm text-ink">{props.label}</div>
          <Show when={props.hint}>
            <div class="text-xs text-ink-3">{props.hint}</div>
          </Show>
        </div>
        <div class="flex min-w-0 flex-wrap items-center gap-2">{props.children}</div>
      </div>
    </RowFrame>
  )
}

/** The same line for a control that brings its own words. */
export function RowFrame(props: { id?: string; children: JSX.Element }) {
  return (
    <div id={props.id} class="scroll-mt-6 border-b border-line px-4 py-2.5 outline-none last:border-b-0 focus:bg-accent-soft">
      {props.children}
    </div>
  )
}
