import { Show } from 'solid-js'
import { t } from '../lib/language.ts'
import { DesktopProvider } from '../platform/DesktopProvider.tsx'
import { createBrowserDesktop } from '../platform/desktop.ts'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Mark } from '../ui/Mark.tsx'

const COMMAND = 'npm run headless -- link'

/** In place of all screens, in a browser that was not opened from Deckhand. */
export function OpenLinkScreen(props: { isUsed: boolean }) {
  const desktop = createBrowserDesktop()
  return (
    <DesktopProvider desktop={desktop}>
      <main class="scroll-quiet flex h-full overflow-y-auto">
        <div class="m-auto flex w-full max-w-md flex-col gap-4 px-6 py-10">
          <Mark size={32} />
          <h1 class="text-xl font-semibold text-ink">{t('openLink.title')}</h1>
          <Show when={props.isUsed}>
            <p role="alert" class="text-sm text-bad">
              {t('openLink.used')}
            </p>
          </Show>
          <p class="text-sm text-ink-2">{t('openLink.text')}</p>
          <ul class="flex list-disc flex-col gap-3 pl-5 text-sm text-ink-2">
            <li>{t('openLink.app')}</li>
            <li>
              {t('openLink.headless')}
              <span class="mt-2 flex items-center gap-2">
                <code class="rounded-md border border-line bg-surface px-2 py-1 font-mono text-xs text-ink">{COMMAND}</code>
                <CopyButton size="sm" text={COMMAND} copy={desktop.copyText} />
              </span>
            </li>
            <li>{t('openLink.tab')}</li>
          </ul>
        </div>
      </main>
    </DesktopProvider>
  )
}
