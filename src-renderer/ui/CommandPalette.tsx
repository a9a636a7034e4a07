import { Dialog } from '@kobalte/core/dialog'
import Search from 'lucide-solid/icons/search'
import { createEffect, createMemo, createSignal, createUniqueId, For, on, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { matchesWords } from '../lib/text.ts'
import { t } from '../lib/language.ts'
import { createDialogFocus } from './dialog-focus.ts'
import type { Icon } from './icon.ts'
import { KeyHint } from './KeyHint.tsx'

export type Command = { id: string; group: string; label: string; icon: Icon; note?: string; keys?: string; also?: string; run: () => void }

/** Everything that can be reached, by typing a part of its name. */
export function CommandPalette(props: { open: boolean; onClose: () => void; commands: Command[] }) {
  const [query, setQuery] = createSignal('')
  const [active, setActive] = createSignal(0)
  const listId = createUniqueId()
  const focus = createDialogFocus((dialog) => dialog.querySelector('input'))
  const found = createMemo(() =>
    props.commands.filter((one) => matchesWords(`${one.group} ${one.label} ${one.note ?? ''} ${one.also ?? ''}`, query())),
  )
  createEffect(on(query, () => setActive(0)))
  createEffect(
    on(
      () => props.open,
      (open) => open && setQuery(''),
    ),
  )

  let chosen: Command | null = null
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    chosen = command
    props.onClose()
  }
  /** A command runs when the dialog has let go of the focus, so that it may put it where it is wanted. */
  const onCloseAutoFocus = (event: Event) => {
    focus.onCloseAutoFocus(event)
    const command = chosen
    chosen = null
    command?.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const count = found().length
    if (event.key === 'ArrowDown') setActive((at) => (at + 1) % Math.max(1, count))
    else if (event.key === 'ArrowUp') setActive((at) => (at - 1 + count) % Math.max(1, count))
    else if (event.key === 'Enter') run(found()[active()])
    else return
    event.preventDefault()
    document.getElementById(`${listId}-${active()}`)?.scrollIntoView?.({ block: 'nearest' })
  }

  return (
    <Dialog open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay class="fixed inset-0 z-40 bg-scrim" />
        <div class="fixed inset-0 z-40 flex items-start justify-center p-4 pt-[12vh] max-sm:pt-4">
          <Dialog.Content
            {...focus}
            onCloseAutoFocus={onCloseAutoFocus}
            class="animate-appear flex max-h-[60vh] w-full max-w-xl flex-col overflow-hidden rounded-xl bg-surface shadow-pop outline-none"
          >
            <Dialog.Title class="sr-only">{t('shell.palette.title')}</Dialog.Title>
            <div class="flex items-center gap-2.5 border-b border-line px-4">
              <Search size={16} class="shrink-0 text-ink-3" aria-hidden="true" />
              <input
                type="text"
                role="combobox"
                aria-expanded="true"
                aria-controls={listId}
                aria-activedescendant={found().length > 0 ? `${listId}-${active()}` : undefined}
                aria-label={t('shell.palette.placeholder')}
                placeholder={t('shell.palette.placeholder')}
                autocomplete="off"
                spellcheck={false}
                class="h-12 w-full bg-transparent text-md outline-none"
                value={query()}
                onInput={(event) => setQuery(event.currentTarget.value)}
                onKeyDown={onKeyDown}
              />
            </div>
            <div id={listId} role="listbox" aria-label={t('shell.palette.title')} class="scroll-quiet min-h-0 flex-1 overflow-y-auto p-1.5">
              <For each={found()} fallback={<p class="px-3 py-6 text-center text-ink-3">{t('shell.palette.empty')}</p>}>
                {(command, index) => (
                  <>
                    <Show when={found()[index() - 1]?.group !== command.group}>
                      <div role="presentation" class="px-2.5 pt-2 pb-1 text-2xs font-semibold tracking-wide text-ink-3">
                        {command.group}
                      </div>
                    </Show>
                    {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field above holds the focus and hears the keys */}
                    <div
                      id={`${listId}-${index()}`}
                      role="option"
                      tabIndex={-1}
                      aria-selected={index() === active()}
                      class={`flex h-9 items-center gap-3 rounded-md px-2.5 text-sm ${index() === active() ? 'bg-accent-soft text-ink' : 'text-ink'}`}
                      onPointerMove={() => setActive(index())}
                      onClick={() => run(command)}
                    >
                      <span class="text-ink-3">
                        <Dynamic component={command.icon} size={16} aria-hidden="true" />
                      </span>
                      <span class="truncate">{command.label}</span>
                      <span class="truncate text-xs text-ink-3">{command.note}</span>
                      <Show when={command.keys}>
                        {(keys) => (
                          <span class="ml-auto">
                            <KeyHint keys={keys()} />
                          </span>
                        )}
                      </Show>
                    </div>
                  </>
                )}
              </For>
            </div>
          </Dialog.Content>
        </div>
      </Dialog.Portal>
    </Dialog>
  )
}
