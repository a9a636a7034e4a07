import { createResource, createSignal, Match, Show, Switch } from 'solid-js'
import { ROUTE_TABLE } from '../../../src-runner/contract/route-table.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { KeyHint } from '../../ui/KeyHint.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'

const LINK = 'font-mono text-xs text-accent-ink hover:underline'

export function About() {
  const desktop = useDesktop()
  const dashboardUrl = () => {
    const dashboard = desktop.state()?.dashboard
    return dashboard?.state === 'ready' ? dashboard.dashboardUrl : null
  }
  return (
    <Panel title={t('settings.about.title')} flush>
      <Show when={desktop.state()?.info}>
        {(info) => (
          <>
            <Row id="version" label={t('settings.about.version')}>
              Deckhand {info().appVersion}
            </Row>
            <Row id="platform" label={t('settings.about.platform')}>
              {info().platform} · {t('settings.about.electron')} {info().electronVersion}
            </Row>
          </>
        )}
      </Show>
      <Row id="api" label={t('settings.about.api')} hint={t('settings.about.apiHint')}>
        <Show
          when={desktop.inApp}
          fallback={
            <a class={LINK} href={ROUTE_TABLE.openapi.path} target="_blank" rel="external noopener">
              openapi.json
            </a>
          }
        >
          <Show when={dashboardUrl()} fallback={<span class="text-ink-3">{t('settings.servers.notRunning')}</span>}>
            {(url) => (
              <button type="button" class={LINK} onClick={() => void desktop.openExternal(new URL(ROUTE_TABLE.openapi.path, url()).href)}>
                openapi.json
              </button>
            )}
          </Show>
        </Show>
      </Row>
      <Row id="shortcuts" label={t('settings.about.shortcuts')} hint={t('settings.about.shortcutsHint')}>
        <KeyHint keys="?" />
      </Row>
      <Licenses />
    </Panel>
  )
}

/** Loaded on request: the build puts some hundred thousand characters beside the page. */
function Licenses() {
  const [isOpen, setOpen] = createSignal(false)
  const [licenses] = createResource(isOpen, async () => {
    const answer = await fetch('/third-party-licenses.txt')
    if (!answer.ok) throw new Error(t('settings.about.noLicenses'))
    return answer.text()
  })
  return (
    <Row id="licenses" label={t('settings.about.licenses')} hint={t('settings.about.licensesHint')}>
      <Button size="sm" onClick={() => setOpen(true)}>
        {t('settings.about.showLicenses')}
      </Button>
      <Dialog open={isOpen()} size="lg" title={t('settings.about.licenses')} onClose={() => setOpen(false)}>
        <Switch>
          <Match when={licenses.error}>
            <p class="text-sm text-bad">{t('settings.about.noLicenses')}</p>
          </Match>
          <Match when={licenses()}>{(all) => <pre class="font-mono text-xs whitespace-pre-wrap wrap-anywhere">{all()}</pre>}</Match>
        </Switch>
      </Dialog>
    </Row>
  )
}
