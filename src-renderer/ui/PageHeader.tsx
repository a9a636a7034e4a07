import { type JSX, Show } from 'solid-js'

/** The header of a screen: its name, a line about it, and its actions. */
export function PageHeader(props: {
  title: JSX.Element
  description?: JSX.Element
  /** The description has a sentence or more: on a phone the actions go below it. */
  isLong?: boolean
  actions?: JSX.Element
  leading?: JSX.Element
}) {
  return (
    <header class="flex min-h-16 flex-wrap items-center gap-x-4 gap-y-3 pb-5">
      {/* Where buttons would take the name its room, they go below it. */}
      <div class={`flex min-w-0 flex-1 items-center gap-3 ${props.isLong ? 'basis-48 max-sm:basis-full' : 'basis-48'}`}>
        {props.leading}
        <div class="min-w-0">
          <h1 class="truncate text-xl max-sm:wrap-anywhere max-sm:whitespace-normal font-semibold tracking-tight text-ink">
            {props.title}
          </h1>
          <Show when={props.description}>
            <div class="text-sm text-ink-2">{props.description}</div>
          </Show>
        </div>
      </div>
      <Show when={props.actions}>
        <div class="flex flex-wrap items-center gap-2">{props.actions}</div>
      </Show>
    </header>
  )
}
