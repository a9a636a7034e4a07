import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { CredentialGrant } from '../../../src-runner/contract/credentials.ts'

/** Who may use a new account at first: the agent that the person comes from, else the default agent, only reading. */
export function firstGrants(agents: readonly Agent[], agentId: string | undefined): CredentialGrant[] {
  const agent = agents.find(({ id }) => id === agentId) ?? agents.find(({ isDefault }) => isDefault) ?? agents[0]
  return agent === undefined ? [] : [{ agentId: agent.id, access: 'read' }]
}
