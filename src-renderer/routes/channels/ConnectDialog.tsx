import ExternalLink from 'lucide-solid/icons/external-link'
import { createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { SERVICE_NAMES, TOKEN_SERVICES, type Channel, type ChannelKind } from '../../../src-runner/contract/channels.ts'
import { useChannels } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { ChannelPeople } from './ChannelPeople.tsx'
import { ChooseService } from './ChooseService.tsx'
import { PairingDialog } from './PairingDialog.tsx'
import type { TokenServiceKind } from './services/services.ts'
import { TokenDialog } from './TokenDialog.tsx'

/** In the order in which they are offered. */
const OFFERED: readonly ChannelKind[] = [...TOKEN_SERVICES, 'messenger']

/** Connects an account: which service, its tokens, and the first person who writes to it. With `existing`, its tokens are replaced. */
export function ConnectDialog(props: { agents: readonly Agent[]; agentId?: string; existing?: Channel; onClose: () => void }): JSX.Element {
  const [kind, setKind] = createSignal(props.existing?.kind ?? (OFFERED.length === 1 ? OFFERED[0]! : null))
  const [made, setMade] = createSignal<string | null>(null)
  const tokenKind = () => TOKEN_SERVICES.find((service): service is TokenServiceKind => service === kind())
  return (
    <Switch>
      <Match when={made()}>{(channelId) => <ConnectedDialog channelId={channelId()} onClose={props.onClose} />}</Match>
      <Match when={kind() === null}>
        <ChooseService kinds={OFFERED} onChoose={setKind} onClose={props.onClose} />
      </Match>
      <Match when={kind() === 'messenger'}>
        <PairingDialog agents={props.agents} agentId={props.agentId} existing={props.existing} onClose={props.onClose} />
      </Match>
      <Match when={tokenKind()}>
        {(service) => (
          <TokenDialog
            kind={service()}
            agents={props.agents}
            agentId={props.agentId}
            existing={props.existing}
            onDone={(channelId) => (props.existing === undefined ? setMade(channelId) : props.onClose())}
            onClose={props.onClose}
          />
        )}
      </Match>
    </Switch>
  )
}

/** A link to the chat that sends the pairing code. With it, a person is shown however many strangers wrote before. */
function linkWithCode(link: string, { kind, pairingCode }: Channel): string {
  return kind === 'telegram' && pairingCode !== null ? `${link}?start=${pairingCode}` : link
}

/** The token works. The rest is done on the phone and shown here as it happens. */
function ConnectedDialog(props: { channelId: string; onClose: () => void }): JSX.Element {
  const desktop = useDesktop()
  const channels = useChannels()
  const channel = () => channels.data?.channels.find((one) => one.id === props.channelId)
  const hasOwner = () => channel()?.people.some((person) => person.role === 'owner') === true
  return (
    <Show when={channel()}>
      {(made) => (
        <Dialog
          open
          onClose={props.onClose}
          title={t('channels.connected.title', { name: made().name })}
          description={t(made().kind === 'discord' ? 'channels.connected.nextDiscord' : 'channels.connected.next')}
          actions={
            <Button variant={hasOwner() ? 'primary' : 'secondary'} onClick={() => props.onClose()}>
              {t('channels.connected.done')}
            </Button>
          }
        >
          <div class="flex flex-col gap-3">
            <Show when={made().link}>
              {(link) => (
                <Button class="self-start" icon={ExternalLink} onClick={() => void desktop.openExternal(linkWithCode(link(), made()))}>
                  {made().kind === 'discord'
                    ? t('channels.connected.addToServer')
                    : t('channels.connected.open', { service: SERVICE_NAMES[made().kind] })}
                </Button>
              )}
            </Show>
            <Show
              when={made().people.length > 0}
              fallback={
                <p role="status" class="text-sm text-ink-3">
                  {t('channels.connected.waiting')}
                </p>
              }
            >
              <div class="overflow-hidden rounded-lg border border-line [&>*:first-child]:border-t-0">
                <ChannelPeople channel={made()} />
              </div>
            </Show>
          </div>
        </Dialog>
      )}
    </Show>
  )
}
