import { A } from '@solidjs/router'
import Globe from 'lucide-solid/icons/globe'
import KeyRound from 'lucide-solid/icons/key-round'
import { createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import type { Trigger } from '../../../../src-runner/contract/triggers.ts'
import { usePublicAddress } from '../../../api/queries.ts'
import { messageText } from '../../../lib/message-text.ts'
import { t } from '../../../lib/language.ts'
import { useDesktop } from '../../../platform/DesktopProvider.tsx'
import { Button } from '../../../ui/Button.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { UnsavedGuard } from '../../../ui/UnsavedGuard.tsx'
import { curlCommand } from './curl-command.ts'
import { forgetFreshAddress, type FreshAddress } from './fresh-address.ts'

/** The address with its secret. It is shown only this once. */
export function AddressPanel(props: { address: FreshAddress; trigger: Trigger }): JSX.Element {
  const desktop = useDesktop()
  const [copiedUrl, setCopiedUrl] = createSignal<string | null>(null)
  const copy = async (copied: string) => {
    await desktop.copyText(copied)
    setCopiedUrl(props.address.url)
  }
  const command = () => curlCommand(props.address.url, compact(props.address.sample))
  return (
    <section
      aria-label={props.address.isReplacement ? t('automations.webhook.newAddressTitle') : t('automations.webhook.addressTitle')}
      class="flex flex-col gap-3 rounded-xl border border-accent-ink bg-accent-soft p-4"
    >
      <header class="flex flex-wrap items-start gap-3">
        <span class="mt-0.5 text-accent-ink">
          <KeyRound size={17} aria-hidden="true" />
        </span>
        <div class="min-w-0 flex-1 basis-64">
          <h2 class="text-sm font-semibold text-ink">
            {props.address.isReplacement ? t('automations.webhook.newAddressTitle') : t('automations.webhook.addressTitle')}
          </h2>
          <p class="text-sm text-ink-2">
            {props.address.isReplacement ? `${t('automations.webhook.oldStopped')} ` : ''}
            {t('automations.webhook.addressOnce')}
          </p>
        </div>
        <Button size="sm" onClick={() => forgetFreshAddress()}>
          {t('automations.webhook.done')}
        </Button>
      </header>
      <div class="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface py-1.5 pr-1.5 pl-3">
        <code class="min-w-0 flex-1 basis-64 font-mono text-xs wrap-anywhere text-ink select-all">{props.address.url}</code>
        <CopyButton show="text" size="sm" text={props.address.url} copy={copy} label={t('automations.webhook.copyAddress')} />
      </div>
      <p class="text-sm text-ink-2">{t('automations.webhook.addressSecret')}</p>
      <Reach />
      <div class="flex flex-col gap-1.5">
        <div class="flex items-center justify-between gap-2">
          <h3 class="text-xs font-semibold text-ink-2">{t('automations.webhook.curl')}</h3>
          <CopyButton size="sm" text={command} copy={copy} label={t('automations.webhook.copyCurl')} />
        </div>
        <pre
          tabIndex={0}
          role="group"
          aria-label={t('automations.webhook.curl')}
          class="scroll-quiet max-h-40 overflow-auto rounded-md border border-line bg-surface px-2.5 py-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink-2"
        >
          {command()}
        </pre>
        <Show when={props.trigger.signature !== null}>
          <p class="text-xs text-ink-2">{t('automations.webhook.curlSigned')}</p>
        </Show>
      </div>
      <UnsavedGuard
        isDirty={() => copiedUrl() !== props.address.url}
        title={t('automations.webhook.leaveTitle')}
        leave={t('automations.webhook.leaveNow')}
      >
        {t('automations.webhook.leaveText')}
      </UnsavedGuard>
    </section>
  )
}

/** JSON without optional spaces; other text as it is. */
function compact(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload))
  } catch {
    return '{}'
  }
}

/** Whether the address can be reached from outside. */
export function Reach(): JSX.Element {
  const answer = usePublicAddress()
  const toSettings = () => (
    <A href="/settings/webhooks" class="font-medium text-accent-ink underline underline-offset-2">
      {t('automations.webhook.reach.settings')}
    </A>
  )
  return (
    <Show when={answer.data?.publicAddress}>
      {(address) => (
        <p class="flex items-start gap-2 text-sm text-ink-2">
          <Globe size={15} class="mt-0.5 shrink-0 text-ink-3" aria-hidden="true" />
          <span class="min-w-0">
            <Switch>
              <Match when={address().url === null}>
                {t('automations.webhook.reach.local')} {t('automations.webhook.reach.localWhy')} {toSettings()}
              </Match>
              <Match when={address().check.state === 'reachable'}>
                {t('automations.webhook.reach.reachable', { url: address().url! })}
              </Match>
              <Match when={address().check.state === 'checking'}>{t('automations.webhook.reach.checking', { url: address().url! })}</Match>
              <Match when={address().check.state === 'exposed'}>
                <span class="text-bad">{messageText(address().check.problem)}</span> {toSettings()}
              </Match>
              <Match when={address().check.state === 'unreachable'}>
                <span class="text-warn">
                  {t('automations.webhook.reach.unreachable', { url: address().url! })} {messageText(address().check.problem)}
                </span>{' '}
                {toSettings()}
              </Match>
              <Match when={true}>
                {t('automations.webhook.reach.unknown', { url: address().url! })} {toSettings()}
              </Match>
            </Switch>
            <Show when={address().source === 'tunnel' && address().tunnel?.program === 'cloudflared'}>
              {' '}
              {t('settings.outside.quickTunnel')}
            </Show>
          </span>
        </p>
      )}
    </Show>
  )
}
