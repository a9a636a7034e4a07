import DatabaseZap from 'lucide-solid/icons/database-zap'
import { createSignal, For, Show } from 'solid-js'
import type { DesktopApi } from '../../src-main/contract/desktop-api.ts'
import { UpdateRow } from '../features/updates/UpdateRow.tsx'
import { t } from '../lib/language.ts'
import { messageText } from '../lib/message-text.ts'
import { useDesktop } from '../platform/DesktopProvider.tsx'
import { Button } from '../ui/Button.tsx'
import { Panel } from '../ui/Panel.tsx'
import { Row } from '../ui/Row.tsx'
import { Screen } from '../ui/Screen.tsx'
import { toast } from '../ui/Toasts.tsx'
import type { DataTrouble } from './data-trouble.ts'
import { failureText } from '../lib/failure-text.ts'

const WAYS = {
  retry: (api: DesktopApi) => api.restartRunner({ safeMode: false }),
  // The desktop asks before it does either.
  restore: (api: DesktopApi) => api.replaceDatabase({ backup: null }),
  empty: (api: DesktopApi) => api.replaceDatabase('empty'),
  folder: (api: DesktopApi) => api.showFolder('data'),
  async diagnostics(api: DesktopApi) {
    const file = await api.saveDiagnostics(undefined)
    if (file !== null) toast({ tone: 'ok', text: t('settings.diagnostics.saved', { file }) })
  },
  async copy(api: DesktopApi) {
    await api.copyDiagnostics(undefined)
    toast({ tone: 'ok', text: t('settings.diagnostics.copied') })
  },
} satisfies Record<string, (api: DesktopApi) => Promise<unknown>>

type Way = keyof typeof WAYS

/** The best comes first. */
const WAYS_OUT: Record<DataTrouble['code'], Way[]> = {
  database_damaged: ['restore', 'empty', 'retry', 'folder', 'diagnostics', 'copy'],
  database_newer: ['restore', 'empty', 'retry', 'folder', 'diagnostics', 'copy'],
  database_locked: ['retry', 'folder', 'diagnostics', 'copy'],
  disk_full: ['retry', 'folder', 'diagnostics', 'copy'],
  read_only: ['retry', 'folder', 'diagnostics', 'copy'],
  data_dir_unusable: ['retry', 'folder', 'diagnostics', 'copy'],
}

/** In place of every screen while the data cannot be used: what is wrong, and the ways out. */
export function DataTroubleScreen(props: { trouble: DataTrouble }) {
  const desktop = useDesktop()
  const [busy, setBusy] = createSignal<Way | null>(null)
  /** An update is the best way, and the first row. */
  const isNewer = () => props.trouble.code === 'database_newer'
  async function take(way: Way): Promise<void> {
    if (desktop.api === null) return
    setBusy(way)
    try {
      await WAYS[way](desktop.api)
    } catch (thrown) {
      toast({ tone: 'bad', text: failureText(thrown) })
    } finally {
      setBusy(null)
    }
  }
  return (
    <Screen width="narrow">
      <div class="mb-5 flex items-start gap-4 max-md:flex-col max-md:gap-3">
        <span class="flex size-10 shrink-0 items-center justify-center rounded-xl bg-bad-soft text-bad">
          <DatabaseZap size={19} aria-hidden="true" />
        </span>
        <div class="min-w-0 flex-1" role="alert">
          <h1 class="text-lg font-semibold text-ink">{t(`shell.dataTrouble.${props.trouble.code}.title`)}</h1>
          <p class="mt-1 text-sm text-ink-2 text-pretty">{t(`shell.dataTrouble.${props.trouble.code}.text`)}</p>
          <p class="mt-2 text-xs wrap-anywhere text-ink-3">{messageText(props.trouble.message)}</p>
        </div>
      </div>
      <Panel title={t('shell.dataTrouble.ways')} flush>
        <Show when={isNewer() && desktop.state()}>{(state) => <UpdateRow updates={state().updates} />}</Show>
        <For each={WAYS_OUT[props.trouble.code]}>
          {(way, at) => (
            <Row label={t(`shell.dataTrouble.${way}.label`)} hint={t(`shell.dataTrouble.${way}.hint`, { folder: props.trouble.dataDir })}>
              <Button
                size="sm"
                variant={at() === 0 && !isNewer() ? 'primary' : 'secondary'}
                busy={busy() === way}
                disabled={busy() !== null}
                onClick={() => void take(way)}
              >
                {t(`shell.dataTrouble.${way}.do`)}
              </Button>
            </Row>
          )}
        </For>
      </Panel>
    </Screen>
  )
}
