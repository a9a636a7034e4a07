import { For, type JSX, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { CredentialGrant } from '../../../src-runner/contract/credentials.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Select } from '../../ui/Select.tsx'

type Choice = 'none' | 'read' | 'write'

/** Which agents may use an account, each with read or write. */
export function AgentGrants(props: {
  agents: readonly Agent[]
  grants: readonly CredentialGrant[]
  onGrants: (grants: CredentialGrant[]) => void
  disabled?: boolean
}): JSX.Element {
  const accessOf = (agentId: string): Choice => props.grants.find((grant) => grant.agentId === agentId)?.access ?? 'none'
  const give = (agentId: string, access: Choice) => {
    const others = props.grants
      .filter((grant) => grant.agentId !== agentId)
      .map((grant) => ({ agentId: grant.agentId, access: grant.access }))
    props.onGrants(access === 'none' ? others : [...others, { agentId, access }])
  }
  return (
    <Show when={props.agents.length > 0} fallback={<p class="text-sm text-ink-3">{t('connections.agents.none')}</p>}>
      <ul class="flex flex-col">
        <For each={props.agents}>
          {(agent) => (
            <li class="flex min-h-10 items-center gap-2.5 py-1">
              <Avatar size="sm" name={agent.name} text={agent.avatar} />
              <span class="min-w-0 flex-1 truncate text-sm text-ink">{visibleText(agent.name)}</span>
              <Select
                class="w-40 shrink-0"
                size="sm"
                label={t('connections.agents.accessOf', { agent: agent.name })}
                hideLabel
                disabled={props.disabled === true}
                value={accessOf(agent.id)}
                onValue={(access) => give(agent.id, access)}
                options={[
                  { value: 'none', label: t('connections.access.none') },
                  { value: 'read', label: t('connections.access.read') },
                  { value: 'write', label: t('connections.access.write') },
                ]}
              />
            </li>
          )}
        </For>
      </ul>
    </Show>
  )
}

/** The same in the form that connects an account. */
export function AgentGrantsField(props: Parameters<typeof AgentGrants>[0]): JSX.Element {
  return (
    <fieldset>
      <legend class="text-sm font-medium text-ink">{t('connections.agents.title')}</legend>
      <p class="text-xs text-ink-3">{t('connections.agents.hint')}</p>
      <AgentGrants {...props} />
    </fieldset>
  )
}
