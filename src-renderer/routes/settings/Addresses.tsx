import { createSignal, Show } from 'solid-js'
import type { DesktopState } from '../../../src-main/contract/desktop-api.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row } from '../../ui/Row.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { failureText } from '../../lib/failure-text.ts'

type Server = 'runner' | 'dashboard'

/** The addresses that the two servers really listen on. */
export function Addresses(props: { state: DesktopState }) {
  const [changing, setChanging] = createSignal<Server | null>(null)
  const urlOf = (server: Server): string | null => {
    const { runner, dashboard } = props.state
    if (server === 'runner') return runner.state === 'ready' ? runner.runnerUrl : null
    return dashboard.state === 'ready' ? dashboard.dashboardUrl : null
  }
  const portOf = (server: Server) => (server === 'runner' ? props.state.settings.runnerPort : props.state.settings.dashboardPort)
  return (
    <Panel
      title={t('settings.servers.title')}
      description={t(props.state.sharing.isOn ? 'settings.servers.aboutShared' : 'settings.servers.about')}
      flush
    >
      <AddressRow
        id="dashboard"
        label={t('settings.servers.dashboard')}
        hint={t('settings.servers.dashboardHint')}
        url={urlOf('dashboard')}
        onChange={() => setChanging('dashboard')}
      />
      <AddressRow
        id="runner"
        label={t('settings.servers.runner')}
        hint={t('settings.servers.runnerHint')}
        url={urlOf('runner')}
        onChange={() => setChanging('runner')}
      />
      <SecretRow />
      <Show when={changing()}>
        {(server) => <PortDialog server={server()} port={portOf(server())} onClose={() => setChanging(null)} />}
      </Show>
    </Panel>
  )
}

/** The desktop asks before it shows the secret. The page forgets it when the person hides it or leaves. */
function SecretRow() {
  const desktop = useDesktop()
  const [secret, setSecret] = createSignal<string | null>(null)
  const [isAsking, setAsking] = createSignal(false)
  const ask = async (call: 'revealSecret' | 'rotateSecret') => {
    setAsking(true)
    try {
      setSecret((await desktop.api?.[call](undefined)) ?? secret())
    } catch (thrown) {
      toast({ tone: 'bad', text: failureText(thrown) })
    } finally {
      setAsking(false)
    }
  }
  return (
    <Row id="secret" label={t('settings.servers.secret')} hint={t('settings.servers.secretHint')}>
      <Show
        when={secret()}
        fallback={
          <Button size="sm" busy={isAsking()} onClick={() => void ask('revealSecret')}>
            {t('settings.servers.showSecret')}
          </Button>
        }
      >
        {(shown) => (
          <>
            <code class="font-mono text-xs wrap-anywhere">{shown()}</code>
            <CopyButton size="sm" text={shown()} copy={desktop.copyText} />
            <Button size="sm" busy={isAsking()} onClick={() => void ask('rotateSecret')}>
              {t('settings.servers.rotateSecret')}
            </Button>
            <Button size="sm" onClick={() => setSecret(null)}>
              {t('settings.servers.hideSecret')}
            </Button>
          </>
        )}
      </Show>
    </Row>
  )
}

function AddressRow(props: { id: string; label: string; hint: string; url: string | null; onChange: () => void }) {
  const desktop = useDesktop()
  return (
    <Row id={props.id} label={props.label} hint={props.hint}>
      <Show when={props.url} fallback={<Pill tone="warn">{t('settings.servers.notRunning')}</Pill>}>
        {(url) => (
          <>
            <code class="font-mono text-xs">{url()}</code>
            <CopyButton size="sm" text={url()} copy={desktop.copyText} />
          </>
        )}
      </Show>
      <Button size="sm" onClick={() => props.onChange()}>
        {t('settings.servers.changePort')}
      </Button>
    </Row>
  )
}

function PortDialog(props: { server: Server; port: number; onClose: () => void }) {
  const desktop = useDesktop()
  const [port, setPort] = createSignal(String(props.port))
  const [problem, setProblem] = createSignal<string | null>(null)
  const [isRunning, setRunning] = createSignal(false)
  const use = async () => {
    const chosen = Number(port())
    if (!/^\d{1,5}$/.test(port().trim()) || chosen < 1024 || chosen > 65_535) return setProblem(t('settings.servers.portHint'))
    setRunning(true)
    try {
      await desktop.api?.usePort({ server: props.server, port: chosen })
      props.onClose()
    } catch (thrown) {
      setProblem(failureText(thrown))
    } finally {
      setRunning(false)
    }
  }
  return (
    <FormDialog
      size="sm"
      onClose={props.onClose}
      title={t('settings.servers.portTitle', { server: t(`settings.servers.${props.server}`) })}
      description={t('settings.servers.portWhy')}
      submit={t('settings.servers.portUse')}
      onSubmit={() => void use()}
      isRunning={isRunning()}
    >
      <TextField
        label={t('settings.servers.port')}
        inputMode="numeric"
        value={port()}
        onValue={setPort}
        hint={t('settings.servers.portHint')}
        problem={problem()}
      />
    </FormDialog>
  )
}
