import Plus from 'lucide-solid/icons/plus'
import { A } from '@solidjs/router'
import { For, type JSX, Show } from 'solid-js'
import { useChannels } from '../../api/queries.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'

/** The chat accounts of an agent. */
export function AgentChannels(props: { agentId: string }): JSX.Element {
  const channels = useChannels(() => props.agentId)
  return (
    <Show when={channels.data}>
      {(data) => (
        <Panel
          title={t('channels.ofAgent.title')}
          flush
          actions={
            <ButtonLink size="sm" icon={Plus} href={`/channels?connect=${props.agentId}`}>
              {t('channels.ofAgent.connect')}
            </ButtonLink>
          }
        >
          <Show when={data().channels.length > 0} fallback={<p class="px-4 pb-3 text-sm text-ink-3">{t('channels.ofAgent.none')}</p>}>
            <ul class="pb-2">
              <For each={data().channels}>
                {(channel) => (
                  <li class="flex items-center gap-2 px-4 py-1 text-sm">
                    <A href="/channels" class="truncate font-medium hover:underline">
                      {visibleText(channel.name)}
                    </A>
                    <span class="text-ink-3">{t(`channels.kinds.${channel.kind}`)}</span>
                    <Pill tone={channel.status === 'open' ? 'ok' : channel.status === 'logged_out' ? 'bad' : 'plain'}>
                      {t(`channels.status.${channel.status}`)}
                    </Pill>
                  </li>
                )}
              </For>
            </ul>
          </Show>
        </Panel>
      )}
    </Show>
  )
}
