import { createResource, createSignal, Match, Show, Switch } from 'solid-js'
import { ROUTES } from '../../../src-runner/contract/routes.ts'
import { words } from '../../kit/words/words.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { KeyHint } from '../../ui/KeyHint.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'

const LINK = 'font-mono text-xs text-accent-ink hover:underline'

export function About() {
  const desktop = useDesktop()
  const text = () => words().settings.about
  const dashboardUrl = () => {
    const dashboard = desktop.state()?.dashboard
    return dashboard?.state === 'ready' ? dashboard.dashboardUrl : null
  }
  return (
    <Panel title={text().title} flush>
      <Show when={desktop.state()?.info}>
        {(info) => (
          <>
            <Row id="version" label={text().version}>
              Deckhand {info().appVersion}
            </Row>
            <Row id="platform" label={text().platform}>
              {info().platform} · {text().electron} {info().electronVersion}
            </Row>
          </>
        )}
      </Show>
      <Row id="api" label={text().api} hint={text().apiHint}>
        <Show
          when={desktop.inApp}
          fallback={
            <a class={LINK} href={ROUTES.openapi.path} target="_blank" rel="external noopener">
              openapi.json
            </a>
          }
        >
          <Show when={dashboardUrl()} fallback={<span class="text-ink-3">{words().settings.servers.notRunning}</span>}>
            {(url) => (
              <button type="button" class={LINK} onClick={() => void desktop.openExternal(new URL(ROUTES.openapi.path, url()).href)}>
                openapi.json
              </button>
            )}
          </Show>
        </Show>
      </Row>
      <Row id="shortcuts" label={text().shortcuts} hint={text().shortcutsHint}>
        <KeyHint keys="?" />
      </Row>
      <Licenses />
    </Panel>
  )
}

/** Read when somebody wants to see them: some hundred thousand characters that the build has put beside the page. */
function Licenses() {
  const text = () => words().settings.about
  const [isOpen, setOpen] = createSignal(false)
  const [licenses] = createResource(isOpen, async () => {
    const answer = await fetch('/third-party-licenses.txt')
    if (!answer.ok) throw new Error(text().noLicenses)
    return answer.text()
  })
  return (
    <Row id="licenses" label={text().licenses} hint={text().licensesHint}>
      <Button size="sm" onClick={() => setOpen(true)}>
        {text().showLicenses}
      </Button>
      <Dialog open={isOpen()} size="lg" title={text().licenses} onClose={() => setOpen(false)}>
        <Switch>
          <Match when={licenses.error}>
            <p class="text-sm text-bad">{text().noLicenses}</p>
          </Match>
          <Match when={licenses()}>{(all) => <pre class="font-mono text-xs whitespace-pre-wrap wrap-anywhere">{all()}</pre>}</Match>
        </Switch>
      </Dialog>
    </Row>
  )
}
