import { For } from 'solid-js'
import { comboKeys } from '../lib/keyboard.ts'

/** A combination such as `Mod+k`, or a sequence such as `g h` (pressed one after the other). */
export function KeyHint(props: { keys: string; on?: 'dark' }) {
  return (
    <span class="inline-flex items-center gap-1" aria-hidden="true">
      <For each={props.keys.split(' ')}>
        {(combo) => (
          <span class="inline-flex gap-0.5">
            <For each={comboKeys(combo)}>
              {(key) => (
                <kbd
                  class={`inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-sm px-1 font-sans text-2xs ${
                    props.on === 'dark' ? 'bg-surface/20' : 'border border-line bg-inset text-ink-3'
                  }`}
                >
                  {key}
                </kbd>
              )}
            </For>
          </span>
        )}
      </For>
    </span>
  )
}
