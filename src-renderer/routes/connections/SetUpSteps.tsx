import ExternalLink from 'lucide-solid/icons/external-link'
import { For, type JSX, Show } from 'solid-js'
import type { Connector } from '../../../src-runner/contract/connectors.ts'
import { localText, t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'

/** How to get a client id or a key, with the exact page and the redirect URI to paste there. */
export function SetUpSteps(props: {
  steps: Connector['steps']
  url: string | null
  /** null: there is none to register. */
  redirectUri: string | null
}): JSX.Element {
  const desktop = useDesktop()
  // It is shown once, below, where it can be copied.
  const textOf = (step: Connector['steps'][number]) => localText(step).replaceAll('{redirectUri}', t('connections.connect.addressBelow'))
  return (
    <Show when={props.steps.length > 0 || props.redirectUri !== null}>
      <section aria-label={t('connections.connect.steps')} class="rounded-lg border border-line bg-inset px-4 py-3">
        <ol class="flex list-decimal flex-col gap-1 pl-4 text-sm text-ink-2">
          <For each={props.steps}>{(step) => <li class="wrap-anywhere">{textOf(step)}</li>}</For>
        </ol>
        <Show when={props.redirectUri}>
          {(uri) => (
            <div class="mt-3">
              <div class="text-xs font-medium text-ink">{t('connections.connect.redirectUri')}</div>
              <div class="mt-1 flex items-center gap-1 rounded-md border border-line bg-surface py-0.5 pr-0.5 pl-2.5">
                <code class="min-w-0 flex-1 font-mono text-xs wrap-anywhere text-ink select-all">{uri()}</code>
                <CopyButton text={uri()} label={t('connections.connect.copyRedirectUri')} copy={desktop.copyText} />
              </div>
            </div>
          )}
        </Show>
        <Show when={props.url}>
          {(url) => (
            <Button size="sm" class="mt-3" icon={ExternalLink} onClick={() => void desktop.openExternal(url())}>
              {t('connections.connect.openSetUp', { host: new URL(url()).host })}
            </Button>
          )}
        </Show>
      </section>
    </Show>
  )
}
