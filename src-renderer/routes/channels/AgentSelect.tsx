import type { JSX } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { t } from '../../lib/language.ts'
import { Select } from '../../ui/Select.tsx'

/** The agent that a new channel belongs to. */
export function AgentSelect(props: { agents: readonly Agent[]; agentId: string; onAgent: (agentId: string) => void }): JSX.Element {
  return (
    <Select
      label={t('channels.agent')}
      options={props.agents.map((agent) => ({ value: agent.id, label: agent.name }))}
      value={props.agentId}
      onValue={props.onAgent}
    />
  )
}

/** The one that is chosen at first. Empty if there is no agent. */
export function firstAgentId(agents: readonly Agent[]): string {
  return agents.find((agent) => agent.isDefault)?.id ?? agents[0]?.id ?? ''
}
