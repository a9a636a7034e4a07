import { createSignal, Show } from 'solid-js'
import type { DesktopState } from '../../../src-main/contract/desktop-api.ts'
import { words } from '../../kit/words/words.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row } from '../../ui/Row.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { toast } from '../../ui/Toasts.tsx'

type Server = 'runner' | 'dashboard'

/** Where the two servers answer. What is shown is what they really listen on. */
export function Addresses(props: { state: DesktopState }) {
  const [changing, setChanging] = createSignal<Server | null>(null)
  const text = () => words().settings.servers
  const urlOf = (server: Server): string | null => {
    const { runner, dashboard } = props.state
    if (server === 'runner') return runner.state === 'ready' ? runner.runnerUrl : null
    return dashboard.state === 'ready' ? dashboard.dashboardUrl : null
  }
  const portOf = (server: Server) => (server === 'runner' ? props.state.settings.runnerPort : props.state.settings.dashboardPort)
  return (
    <Panel title={text().title} description={text().about} flush>
      <AddressRow
        id="dashboard"
        label={text().dashboard}
        hint={text().dashboardHint}
        url={urlOf('dashboard')}
        onChange={() => setChanging('dashboard')}
      />
      <AddressRow id="runner" label={text().runner} hint={text().runnerHint} url={urlOf('runner')} onChange={() => setChanging('runner')} />
      <SecretRow />
      <Show when={changing()}>
        {(server) => <PortDialog server={server()} port={portOf(server())} onClose={() => setChanging(null)} />}
      </Show>
    </Panel>
  )
}

/** The desktop asks the person before it gives the secret out; it is forgotten when they hide it or go elsewhere. */
function SecretRow() {
  const desktop = useDesktop()
  const text = () => words().settings.servers
  const [secret, setSecret] = createSignal<string | null>(null)
  const [isAsking, setAsking] = createSignal(false)
  const show = async () => {
    setAsking(true)
    try {
      setSecret((await desktop.api?.revealSecret(undefined)) ?? null)
    } catch (thrown) {
      toast({ tone: 'bad', text: thrown instanceof Error ? thrown.message : String(thrown) })
    } finally {
      setAsking(false)
    }
  }
  return (
    <Row id="secret" label={text().secret} hint={text().secretHint}>
      <Show
        when={secret()}
        fallback={
          <Button size="sm" busy={isAsking()} onClick={() => void show()}>
            {text().showSecret}
          </Button>
        }
      >
        {(shown) => (
          <>
            <code class="font-mono text-xs wrap-anywhere">{shown()}</code>
            <CopyButton size="sm" text={shown()} copy={desktop.copyText} />
            <Button size="sm" onClick={() => setSecret(null)}>
              {text().hideSecret}
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
      <Show when={props.url} fallback={<Pill tone="warn">{words().settings.servers.notRunning}</Pill>}>
        {(url) => (
          <>
            <code class="font-mono text-xs">{url()}</code>
            <CopyButton size="sm" text={url()} copy={desktop.copyText} />
          </>
        )}
      </Show>
      <Button size="sm" onClick={() => props.onChange()}>
        {words().settings.servers.changePort}
      </Button>
    </Row>
  )
}

function PortDialog(props: { server: Server; port: number; onClose: () => void }) {
  const desktop = useDesktop()
  const text = () => words().settings.servers
  const [port, setPort] = createSignal(String(props.port))
  const [problem, setProblem] = createSignal<string | null>(null)
  const [isRunning, setRunning] = createSignal(false)
  const use = async () => {
    const wanted = Number(port())
    if (!/^\d{1,5}$/.test(port().trim()) || wanted < 1024 || wanted > 65_535) return setProblem(text().portHint)
    setRunning(true)
    try {
      await desktop.api?.usePort({ server: props.server, port: wanted })
      props.onClose()
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown))
    } finally {
      setRunning(false)
    }
  }
  return (
    <FormDialog
      size="sm"
      onClose={props.onClose}
      title={text().portTitle(text()[props.server])}
      description={text().portWhy}
      submit={text().portUse}
      onSubmit={() => void use()}
      isRunning={isRunning()}
    >
      <TextField label={text().port} inputMode="numeric" value={port()} onValue={setPort} hint={text().portHint} problem={problem()} />
    </FormDialog>
  )
}
