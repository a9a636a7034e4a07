import Plus from 'lucide-solid/icons/plus'
import { A } from '@solidjs/router'
import { For, type JSX, Show } from 'solid-js'
import { useChannels } from '../../api/queries.ts'
import { visibleText } from '../../kit/visible-text.ts'
import { words } from '../../kit/words/words.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'

/** Where this agent is reached besides here. */
export function AgentChannels(props: { agentId: string }): JSX.Element {
  const text = () => words().channels
  const channels = useChannels(() => props.agentId)
  return (
    <Show when={channels.data}>
      {(data) => (
        <Panel
          title={text().ofAgent.title}
          flush
          actions={
            <ButtonLink size="sm" icon={Plus} href={`/channels?connect=${props.agentId}`}>
              {text().ofAgent.connect}
            </ButtonLink>
          }
        >
          <Show when={data().channels.length > 0} fallback={<p class="px-4 pb-3 text-sm text-ink-3">{text().ofAgent.none}</p>}>
            <ul class="pb-2">
              <For each={data().channels}>
                {(channel) => (
                  <li class="flex items-center gap-2 px-4 py-1 text-sm">
                    <A href="/channels" class="truncate font-medium hover:underline">
                      {visibleText(channel.name)}
                    </A>
                    <span class="text-ink-3">{text().kinds[channel.kind]}</span>
                    <Pill tone={channel.status === 'open' ? 'ok' : channel.status === 'logged_out' ? 'bad' : 'plain'}>
                      {text().status[channel.status]}
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
