import { For } from 'solid-js'
import { words } from '../kit/words/words.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { KeyHint } from '../ui/KeyHint.tsx'
import { SCREENS } from './screens.ts'

export function ShortcutsDialog(props: { open: boolean; onClose: () => void }) {
  const groups = () => {
    const text = words().shell.shortcuts
    return [
      {
        title: text.everywhere,
        keys: [
          ['Mod+k', text.palette],
          ['/', text.search],
          ['c', text.newChat],
          ['?', text.help],
          ['Escape', text.leave],
        ] as const,
      },
      { title: text.goTo, keys: SCREENS.map((screen) => [`g ${screen.key}`, words().shell.nav[screen.name]] as const) },
      {
        title: text.lists,
        keys: [
          ['ArrowUp ArrowDown', text.move],
          ['Enter', text.open],
        ] as const,
      },
      {
        title: text.decide,
        keys: [
          ['a', text.approve],
          ['r', text.reject],
          ['ArrowUp ArrowDown', text.nextDecision],
        ] as const,
      },
      {
        title: words().shell.nav.chat,
        keys: [
          ['Enter', text.send],
          ['Shift+Enter', text.newLine],
        ] as const,
      },
    ]
  }
  return (
    <Dialog open={props.open} onClose={props.onClose} title={words().shell.shortcuts.title} size="lg">
      <div class="columns-2 gap-8 max-sm:columns-1">
        <For each={groups()}>
          {(group) => (
            <section class="mb-5 break-inside-avoid">
              <h3 class="mb-1 text-xs font-semibold text-ink-3">{group.title}</h3>
              <dl>
                <For each={group.keys}>
                  {([keys, label]) => (
                    <div class="flex h-7 items-center justify-between gap-4">
                      <dt class="truncate">{label}</dt>
                      <dd>
                        <KeyHint keys={keys} />
                        <span class="sr-only">{keys}</span>
                      </dd>
                    </div>
                  )}
                </For>
              </dl>
            </section>
          )}
        </For>
      </div>
    </Dialog>
  )
}
