import { Tabs as Kobalte } from '@kobalte/core/tabs'
import { For, type JSX, Show } from 'solid-js'

export type Tab<V extends string> = { value: V; label: string; count?: number; content: () => JSX.Element }

/** Tabs. The chosen one belongs in the URL, so it is passed in. */
export function Tabs<V extends string>(props: { label: string; tabs: Tab<V>[]; value: V; onValue: (value: V) => void; class?: string }) {
  return (
    <Kobalte value={props.value} onChange={(value) => props.onValue(value as V)} class={`flex min-h-0 flex-col ${props.class ?? ''}`}>
      <Kobalte.List aria-label={props.label} class="relative flex gap-1 border-b border-line">
        <For each={props.tabs}>
          {(tab) => (
            <Kobalte.Trigger
              value={tab.value}
              class="-mb-px flex items-center gap-1.5 border-b-2 border-transparent px-2.5 pb-2 pt-1 text-sm text-ink-2 hover:text-ink data-selected:border-accent-ink data-selected:font-medium data-selected:text-ink"
            >
              {tab.label}
              <Show when={tab.count !== undefined}>
                <span class="rounded-full bg-hover px-1.5 text-2xs text-ink-2">{tab.count}</span>
              </Show>
            </Kobalte.Trigger>
          )}
        </For>
      </Kobalte.List>
      <For each={props.tabs}>
        {(tab) => (
          <Kobalte.Content value={tab.value} class="min-h-0 flex-1 pt-4 outline-offset-4">
            {tab.content()}
          </Kobalte.Content>
        )}
      </For>
    </Kobalte>
  )
}
