import { Show } from 'solid-js'
import { ROUTES } from '../../../src-runner/contract/routes.ts'
import { words } from '../../kit/words/words.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
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
    </Panel>
  )
}
