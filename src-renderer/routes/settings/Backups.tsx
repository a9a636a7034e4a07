import { createMemo, createSignal, Show } from 'solid-js'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { useMay } from '../../api/may.ts'
import { useMakeBackup, useUpdateSettings } from '../../api/mutations.ts'
import { problemOf, sentenceOf } from '../../api/problem.ts'
import { useBackups, useSettings } from '../../api/queries.ts'
import { locale, t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { dayTime } from '../../lib/time.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { useMachine } from './machine.ts'
import { Path } from './Path.tsx'

const tell = (thrown: unknown) => toast({ tone: 'bad', text: sentenceOf(thrown) })

export function Backups() {
  const machine = useMachine()
  const backups = useBackups()
  const make = useMakeBackup()
  const may = useMay()
  const newest = () => backups.data?.backups[0]
  const problem = () => backups.data?.lastProblem ?? null
  async function makeNow() {
    await make.run()
    // The backup was made, but maybe not its copy in the second folder.
    const why = problem()
    if (why !== null) toast({ tone: 'bad', text: messageText(why) })
  }
  return (
    <Panel title={t('settings.backups.title')} flush>
      <Show
        when={!backups.error}
        fallback={
          <div class="p-4">
            <ErrorState compact problem={problemOf(backups.error)} onRetry={backups.retry} />
          </div>
        }
      >
        <Row
          id="backups"
          label={t('settings.backups.daily')}
          hint={
            <>
              {t('settings.backups.dailyHint')}
              <Show when={newest()}>
                {(backup) => (
                  <div>
                    {t('settings.backups.last', { when: dayTime(backup().at, locale()), size: bytesText(backup().bytes, locale()) })}
                  </div>
                )}
              </Show>
              <Show when={problem()}>{(why) => <div class="text-bad">{messageText(why())}</div>}</Show>
            </>
          }
        >
          <Button size="sm" busy={make.isRunning} disabled={!may('makeBackup')} onClick={() => void makeNow().catch(tell)}>
            {t('settings.backups.now')}
          </Button>
          <Button size="sm" disabled={newest() === undefined} onClick={() => machine.show('backups')}>
            {t('settings.data.show')}
          </Button>
        </Row>
        <SecondFolder />
        <Restore />
      </Show>
    </Panel>
  )
}

function SecondFolder() {
  const desktop = useDesktop()
  const settings = useSettings()
  const change = useUpdateSettings()
  const may = useMay()
  const folder = () => settings.data?.settings.backupFolder ?? null
  const set = (backupFolder: string | null) => change.run({ body: { backupFolder } }).catch(tell)
  const choose = async () => {
    const path = await desktop.pickFolder()
    if (path !== null) await set(path)
  }
  return (
    <Row id="backup-folder" label={t('settings.backups.folder')} hint={t('settings.backups.folderHint')}>
      <Show when={folder()}>{(path) => <Path path={path()} />}</Show>
      <Button size="sm" busy={change.isRunning} disabled={!may('updateSettings')} onClick={() => void choose()}>
        {t('settings.backups.choose')}
      </Button>
      <Show when={folder() !== null}>
        <Button size="sm" disabled={!may('updateSettings')} onClick={() => void set(null)}>
          {t('settings.backups.remove')}
        </Button>
      </Show>
    </Row>
  )
}

function Restore() {
  const machine = useMachine()
  const backups = useBackups()
  const [chosen, setChosen] = createSignal<string | null>(null)
  const options = createMemo(() =>
    (backups.data?.backups ?? []).map(({ name, at, bytes }) => ({
      value: name,
      label: t('settings.backups.one', { when: dayTime(at, locale()), size: bytesText(bytes, locale()) }),
    })),
  )
  const name = () => chosen() ?? options()[0]?.value ?? null
  return (
    <Row id="restore" label={t('settings.backups.restore')} hint={t('settings.backups.restoreHint')}>
      <Show when={name()} fallback={<span class="text-sm text-ink-3">{t('settings.backups.none')}</span>}>
        {(backup) => (
          <>
            <Select label={t('settings.backups.restore')} hideLabel class="w-56" options={options()} value={backup()} onValue={setChosen} />
            <Button size="sm" onClick={() => machine.replaceDatabase({ backup: backup() })}>
              {t('settings.backups.restoreNow')}
            </Button>
          </>
        )}
      </Show>
    </Row>
  )
}
