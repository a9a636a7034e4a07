import { DropdownMenu } from '@kobalte/core/dropdown-menu'
import Ellipsis from 'lucide-solid/icons/ellipsis'
import { For, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Icon } from './icon.ts'
import { KeyHint } from './KeyHint.tsx'
import { ITEM_CLASS, POPUP_CLASS } from './popup.ts'

export type MenuItem =
  | { label: string; icon?: Icon; keys?: string; tone?: 'plain' | 'bad'; disabled?: boolean; onSelect: () => void }
  | 'separator'

/** A menu behind a button, by default the three dots. */
export function Menu(props: { label: string; items: MenuItem[]; icon?: Icon; text?: string; size?: 'sm' | 'md' }) {
  return (
    <DropdownMenu gutter={4} placement="bottom-end">
      <DropdownMenu.Trigger
        aria-label={props.label}
        class={`inline-flex shrink-0 items-center justify-center gap-2.5 rounded-md text-ink-2 transition-colors duration-100 hover:bg-hover hover:text-ink data-expanded:bg-hover ${
          props.text ? 'px-2' : ''
        } ${props.size === 'sm' ? `h-6 ${props.text ? '' : 'w-6'}` : `h-8 ${props.text ? '' : 'w-8'}`}`}
      >
        <Dynamic component={props.icon ?? Ellipsis} size={16} aria-hidden="true" />
        <Show when={props.text}>{props.text}</Show>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class={`${POPUP_CLASS} min-w-44 p-1`}>
          <For each={props.items}>
            {(item) =>
              item === 'separator' ? (
                <DropdownMenu.Separator class="my-1 border-line" />
              ) : (
                <DropdownMenu.Item
                  class={`${ITEM_CLASS} ${item.tone === 'bad' ? 'text-bad' : ''}`}
                  disabled={item.disabled}
                  onSelect={item.onSelect}
                >
                  <Show when={item.icon}>
                    {(icon) => (
                      <span class={item.tone === 'bad' ? '' : 'text-ink-3'}>
                        <Dynamic component={icon()} size={15} aria-hidden="true" />
                      </span>
                    )}
                  </Show>
                  {item.label}
                  <Show when={item.keys}>
                    {(keys) => (
                      <span class="ml-auto pl-4">
                        <KeyHint keys={keys()} />
                      </span>
                    )}
                  </Show>
                </DropdownMenu.Item>
              )
            }
          </For>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  )
}
