import { transact } from '../../../platform/db/database.ts'
import { Autonomy, type Agent, type ModelRef, type UpdateAgent } from '../../../contract/agents.ts'
import { createAgent, getAgent, listAgents, updateAgent } from '../../../domain/agents/agents.ts'
import { getProvider } from '../../../domain/providers/providers.ts'
import { deleteAgent } from '../../../execution/delete-agent.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { channelTokenKey } from '../../../lib/vault.ts'
import { listChannels } from '../../../domain/channels/channels.ts'
import { listCredentials } from '../../../domain/credentials/credentials.ts'
import { listMcpServers } from '../../../domain/mcp/mcp-servers.ts'
import { listAllRules } from '../../../domain/rules/rules.ts'
import { mayOpenMachine, type Caller } from '../caller.ts'
import type { Handlers } from '../handler.ts'
import { unpricedModels } from '../unpriced-models.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { requireUsableFolders } from '../usable-folders.ts'
import type { HandlerDeps } from './deps.ts'

export function agentHandlers({ db, jobs, clock, ids, dataDir, models, vault }: HandlerDeps) {
  /** AppError provider_not_found. */
  function requireProviders(named: { model?: ModelRef | null; fallbacks?: ModelRef[] }): void {
    for (const ref of [named.model ?? null, ...(named.fallbacks ?? [])]) if (ref !== null) getProvider(db, ref.providerId)
  }

  /** It would be gone with the agent. Throws AppError agent_not_found. */
  function hasWhatOwnersGive(agentId: string): boolean {
    if (getAgent(db, agentId).folders.length > 0 || listAllRules(db).some((rule) => rule.agentId === agentId)) return true
    return [listChannels, listCredentials, listMcpServers].some((list) => list(db, { agentId }).length > 0)
  }

  const ownFolders = () => ({ dataDir, backupFolder: readSettings(db).backupFolder })
  const withUnpriced = async (agent: Agent) => ({ agent, ...(await unpricedModels({ db, models }, [agent])) })

  return {
    // For a limited caller, the query names its workspace.
    listAgents: ({ query }) => listAgents(db, query),
    getAgent: ({ params }) => withUnpriced(getAgent(db, params.agentId)),

    async createAgent({ body }, { caller }) {
      requireAllowed(body, { folders: [], autonomy: 'ask_first' }, caller)
      await requireUsableFolders(body.folders ?? [], ownFolders())
      requireProviders(body)
      return withUnpriced(transact(db, (tx) => createAgent(tx, { clock, ids }, body)))
    },

    async updateAgent({ params, body }, { caller }) {
      requireAllowed(body, getAgent(db, params.agentId), caller)
      await requireUsableFolders(body.folders ?? [], ownFolders())
      requireProviders(body)
      return withUnpriced(transact(db, (tx) => updateAgent(tx, { clock }, params.agentId, body)))
    },

    async deleteAgent({ params }, { caller }) {
      if (!mayOpenMachine(caller) && hasWhatOwnersGive(params.agentId)) throw new AppError('owner_only', createMessage('agent_by_owner'))
      // Fails if the keychain is locked: it would keep tokens that nobody can find again.
      for (const { id } of listChannels(db, { agentId: params.agentId })) await vault.get(channelTokenKey(id))
      transact(db, (tx) => deleteAgent(tx, { clock, jobs }, params.agentId))
      return { ok: true }
    },
  } satisfies Partial<Handlers>
}

/**
 * Only the owner of the installation grants folders, and with them the programs that run in them. What an agent may do there
 * without asking is the owner's choice too.
 */
function requireAllowed(
  { folders = [], autonomy }: Pick<UpdateAgent, 'folders' | 'autonomy'>,
  before: Pick<Agent, 'folders' | 'autonomy'>,
  caller: Caller,
): void {
  if (mayOpenMachine(caller)) return
  if (!folders.every((folder) => before.folders.includes(folder))) throw new AppError('owner_only', createMessage('folders_by_owner'))
  const rankOf = (level: Autonomy) => Autonomy.options.indexOf(level)
  if (before.folders.length > 0 && autonomy !== undefined && rankOf(autonomy) > rankOf(before.autonomy)) {
    throw new AppError('owner_only', createMessage('autonomy_by_owner'))
  }
}
