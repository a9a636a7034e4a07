import { type JSX, Show } from 'solid-js'

/** A framed part of a screen, with an optional head. */
export function Panel(props: {
  /** With an id, an address can lead to it. */
  id?: string
  title?: string
  description?: string
  /** At the right of the head. */
  actions?: JSX.Element
  /** The content goes to the edges, for lists. */
  flush?: boolean
  class?: string
  children: JSX.Element
}) {
  return (
    <section id={props.id} class={`scroll-mt-6 rounded-xl border border-line bg-surface ${props.class ?? ''}`}>
      <Show when={props.title}>
        <header class={`flex items-center gap-x-3 gap-y-2 px-4 pt-3 max-sm:flex-wrap ${props.flush ? 'pb-2' : 'pb-0'}`}>
          <div class={`min-w-0 flex-1 ${props.description ? 'max-sm:basis-48' : ''}`}>
            <h2 class="text-sm font-semibold text-ink">{props.title}</h2>
            <Show when={props.description}>
              <p class="text-xs text-ink-3">{props.description}</p>
            </Show>
          </div>
          {props.actions}
        </header>
      </Show>
      <div class={props.flush ? '' : 'p-4'}>{props.children}</div>
    </section>
  )
}
