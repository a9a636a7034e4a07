import { Tooltip as Kobalte } from '@kobalte/core/tooltip'
import { type JSX, Show } from 'solid-js'
import { KeyHint } from './KeyHint.tsx'

/** A short explanation on hover and focus. Never the only place that says something. */
export function Tooltip(props: { text: JSX.Element; keys?: string; children: JSX.Element; class?: string }) {
  return (
    <Kobalte openDelay={400} closeDelay={50} gutter={6} ignoreSafeArea>
      <Kobalte.Trigger as="span" class={`inline-flex min-w-0 ${props.class ?? ''}`}>
        {props.children}
      </Kobalte.Trigger>
      <Kobalte.Portal>
        <Kobalte.Content class="animate-appear pointer-events-none z-50 flex max-w-72 items-center gap-2 rounded-md bg-ink px-2 py-1 text-xs text-surface shadow-pop">
          {props.text}
          <Show when={props.keys}>{(keys) => <KeyHint keys={keys()} on="dark" />}</Show>
        </Kobalte.Content>
      </Kobalte.Portal>
    </Kobalte>
  )
}
