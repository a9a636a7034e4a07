import { useSearchParams } from '@solidjs/router'
import Plus from 'lucide-solid/icons/plus'
import Send from 'lucide-solid/icons/send'
import { createSignal, For, Show } from 'solid-js'
import type { Channel } from '../../../src-runner/contract/channels.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useMay } from '../../api/may.ts'
import { useAgents, useChannels } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { ChannelCard } from './ChannelCard.tsx'
import { ConnectDialog } from './ConnectDialog.tsx'
import { Undeliverable } from './Undeliverable.tsx'

/** The accounts at chat services, who may write to them, and the messages that could not be delivered. */
export function ChannelsScreen() {
  const [search, setSearch] = useSearchParams<{ connect?: string }>()
  const channels = useChannels()
  const agents = useAgents()
  const may = useMay()
  const mayConnect = () => may('createChannel')
  const [newTokenFor, setNewTokenFor] = createSignal<Channel | null>(null)
  const all = () => channels.data?.channels ?? []
  const hasAgents = () => (agents.data?.agents.length ?? 0) > 0
  // In the URL, so that "Connect" on another screen can name the agent.
  const connect = (agentId = '') => setSearch({ connect: agentId === '' ? '1' : agentId })
  return (
    <Screen width="medium">
      <PageHeader
        title={t('channels.title')}
        description={t('channels.about')}
        actions={
          <Show when={mayConnect() && all().length > 0}>
            <Button variant="primary" icon={Plus} onClick={() => connect()}>
              {t('channels.connect')}
            </Button>
          </Show>
        }
      />
      <div class="flex flex-col gap-6">
        <Undeliverable />
        <Show
          when={all().length > 0}
          fallback={
            <NothingYet answer={channels}>
              <EmptyState
                icon={Send}
                title={t('channels.empty')}
                action={
                  <Show when={mayConnect()}>
                    <Show when={hasAgents()} fallback={<ButtonLink href="/agents">{t('channels.createAgent')}</ButtonLink>}>
                      <Button variant="primary" icon={Plus} onClick={() => connect()}>
                        {t('channels.connect')}
                      </Button>
                    </Show>
                  </Show>
                }
              >
                {t(mayConnect() ? 'channels.emptyWhy' : 'channels.emptyMember')}
                <Show when={mayConnect() && agents.data !== undefined && !hasAgents()}> {t('channels.emptyNoAgent')}</Show>
              </EmptyState>
            </NothingYet>
          }
        >
          <For each={all()}>{(channel) => <ChannelCard channel={channel} onNewToken={() => setNewTokenFor(channel)} />}</For>
        </Show>
      </div>
      <Show when={mayConnect() && hasAgents() && search.connect}>
        {(asked) => (
          <ConnectDialog
            agents={agents.data!.agents}
            agentId={agents.data!.agents.find((agent) => agent.id === asked())?.id}
            onClose={() => setSearch({ connect: undefined }, { replace: true })}
          />
        )}
      </Show>
      <Show when={newTokenFor()}>
        {(channel) => <ConnectDialog agents={agents.data?.agents ?? []} existing={channel()} onClose={() => setNewTokenFor(null)} />}
      </Show>
    </Screen>
  )
}
