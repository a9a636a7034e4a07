import { A } from '@solidjs/router'
import Search from 'lucide-solid/icons/search'
import { For } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { t } from '../lib/language.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { SignOutItem } from './AccountMenu.tsx'
import { PauseAllButton } from './PauseAll.tsx'
import { SCREENS } from './screens.ts'

/** The screens and actions that do not fit into the bar of a phone. */
export function MoreSheet(props: { open: boolean; onClose: () => void; onPalette: () => void }) {
  const item = 'flex h-11 w-full items-center gap-3 rounded-md px-2 text-md hover:bg-hover'
  return (
    <Dialog open={props.open} onClose={props.onClose} title={t('shell.nav.more')}>
      <nav aria-label={t('shell.nav.more')} class="flex flex-col">
        <For each={SCREENS.filter((screen) => !screen.onPhone)}>
          {(screen) => (
            <A href={screen.path} class={item} onClick={() => props.onClose()}>
              <Dynamic component={screen.icon} size={18} aria-hidden="true" />
              {t(`shell.nav.${screen.name}`)}
            </A>
          )}
        </For>
        <button
          type="button"
          class={item}
          onClick={() => {
            props.onClose()
            props.onPalette()
          }}
        >
          <Search size={18} aria-hidden="true" />
          {t('shell.searchOrGo')}
        </button>
        <PauseAllButton class={item} onPaused={() => props.onClose()} />
        <SignOutItem class={item} />
      </nav>
    </Dialog>
  )
}
