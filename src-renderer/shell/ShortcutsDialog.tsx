import { For } from 'solid-js'
import { t } from '../lib/language.ts'
import { useDesktop } from '../platform/DesktopProvider.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { KeyHint } from '../ui/KeyHint.tsx'
import { SCREENS } from './screens.ts'

export function ShortcutsDialog(props: { open: boolean; onClose: () => void }) {
  const desktop = useDesktop()
  const groups = () => {
    return [
      {
        title: t('shell.shortcuts.everywhere'),
        keys: [
          ['Mod+k', t('shell.shortcuts.palette')],
          ['/', t('shell.shortcuts.search')],
          ['c', t('shell.shortcuts.newChat')],
          ['?', t('shell.shortcuts.help')],
          ['Escape', t('shell.shortcuts.leave')],
        ] as const,
      },
      { title: t('shell.shortcuts.goTo'), keys: SCREENS.map((screen) => [`g ${screen.key}`, t(`shell.nav.${screen.name}`)] as const) },
      {
        title: t('shell.shortcuts.lists'),
        keys: [
          ['ArrowUp ArrowDown', t('shell.shortcuts.move')],
          ['Enter', t('shell.shortcuts.open')],
        ] as const,
      },
      {
        title: t('shell.shortcuts.decide'),
        keys: [
          ['a', t('shell.shortcuts.approve')],
          ['r', t('shell.shortcuts.reject')],
          ['1', t('shell.shortcuts.choose')],
          ['ArrowUp ArrowDown', t('shell.shortcuts.nextDecision')],
        ] as const,
      },
      {
        title: t('shell.nav.chat'),
        keys: [
          ['Enter', t('shell.shortcuts.send')],
          ['Shift+Enter', t('shell.shortcuts.newLine')],
        ] as const,
      },
      // A browser keeps these for itself.
      ...(desktop.inApp
        ? [
            {
              title: t('shell.shortcuts.menu'),
              keys: [
                ['Mod+n', t('shell.shortcuts.newChat')],
                ['Mod+,', t('shell.nav.settings')],
                ['Mod+1', t('shell.shortcuts.screens')],
              ] as const,
            },
          ]
        : []),
    ]
  }
  return (
    <Dialog open={props.open} onClose={props.onClose} title={t('shell.shortcuts.title')} size="lg">
      {/* Focusable, so that the arrow keys can scroll it. */}
      <div tabIndex={0} class="columns-2 gap-8 max-sm:columns-1">
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
