import { createResource, createSignal, Show } from 'solid-js'
import { bytesText } from '../../../resources/locales/numbers.ts'
import type { DataSize, DesktopApi } from '../../../src-main/contract/desktop-api.ts'
import { useDiagnostics } from '../../api/queries.ts'
import { locale, t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Lists what it deletes, and deletes it when the person has typed a word. The desktop asks once more. */
export function Reset() {
  const desktop = useDesktop()
  const [isOpen, setOpen] = createSignal(false)
  return (
    <Show when={desktop.api}>
      {(api) => (
        <Panel title={t('settings.reset.panel')} flush>
          <Row id="reset" label={t('settings.reset.label')} hint={t('settings.reset.hint')}>
            <Button size="sm" variant="danger" onClick={() => setOpen(true)}>
              {t('settings.reset.open')}
            </Button>
            <Show when={isOpen()}>
              <ResetDialog api={api()} onClose={() => setOpen(false)} />
            </Show>
          </Row>
        </Panel>
      )}
    </Show>
  )
}

function ResetDialog(props: { api: DesktopApi; onClose: () => void }) {
  const desktop = useDesktop()
  const [size] = createResource(() => props.api.measureData(undefined))
  const [deletesBackups, setDeletesBackups] = createSignal(false)
  const [typed, setTyped] = createSignal('')
  const word = t('settings.reset.word')
  async function confirm(): Promise<void> {
    if (typed().trim() !== word) throw new Error(t('settings.reset.wrong', { word }))
    await props.api.resetData({ keepsBackups: !deletesBackups() })
  }
  return (
    <ConfirmDialog
      open
      onClose={props.onClose}
      title={t('settings.reset.title')}
      confirm={t('settings.reset.now')}
      tone="bad"
      onConfirm={confirm}
    >
      <div class="flex flex-col gap-3">
        <Lists size={size()} isKeychain={desktop.state()?.vault.kind === 'keychain'} />
        <Show when={(size()?.backups.files ?? 0) > 0}>
          <Checkbox
            label={t('settings.reset.backups', { size: bytesText(size()!.backups.bytes, locale()) })}
            checked={deletesBackups()}
            onChecked={setDeletesBackups}
          />
        </Show>
        <TextField label={t('settings.reset.type', { word })} value={typed()} onValue={setTyped} autocomplete="off" />
      </div>
    </ConfirmDialog>
  )
}

function Lists(props: { size: DataSize | undefined; isKeychain: boolean }) {
  const diagnostics = useDiagnostics()
  const counts = () => {
    const rows = (name: string) => diagnostics.data!.tables.find((table) => table.name === name)?.rows ?? 0
    return t('settings.reset.counts', {
      agents: rows('agents'),
      jobs: rows('agent_jobs'),
      conversations: rows('conversations'),
      triggers: rows('webhook_triggers'),
      schedules: rows('schedules'),
    })
  }
  return (
    <>
      <section>
        <h3 class="font-medium text-ink">{t('settings.reset.deleted')}</h3>
        <ul class="mt-1 list-disc pl-5">
          <Show when={diagnostics.data}>
            <li>{counts()}</li>
          </Show>
          <Show when={props.size}>
            {(size) => <li>{t('settings.reset.files', { files: size().data.files, size: bytesText(size().data.bytes, locale()) })}</li>}
          </Show>
          <li>{props.isKeychain ? t('settings.reset.keysKeychain') : t('settings.reset.keysFile')}</li>
        </ul>
      </section>
      <section>
        <h3 class="font-medium text-ink">{t('settings.reset.kept')}</h3>
        <ul class="mt-1 list-disc pl-5">
          <li>{t('settings.reset.keptFolders')}</li>
          <li>{t('settings.reset.keptBackups')}</li>
          <Show when={props.size !== undefined && props.size.leftAlone.length > 0}>
            <li class="wrap-anywhere">{t('settings.reset.keptOthers', { names: props.size!.leftAlone.join(', ') })}</li>
          </Show>
        </ul>
      </section>
    </>
  )
}
