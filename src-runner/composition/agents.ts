import { join } from 'node:path'
import type { Database } from '../platform/db/database.ts'
import { createGit } from '../platform/git/create-git.ts'
import type { Settings } from '../contract/settings.ts'
import { AppError } from '../lib/errors.ts'
import { createMessage } from '../lib/messages.ts'
import { providerKey, WEB_SEARCH_KEY } from '../lib/vault.ts'
import { getAgent, listAgentFolders } from '../domain/agents/agents.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import { createWorker } from '../domain/jobs/worker.ts'
import { findPrice } from '../domain/prices/prices.ts'
import { readProviderSecret } from '../domain/providers/provider-secret.ts'
import { findProvider } from '../domain/providers/providers.ts'
import { createModelSource } from '../agent/providers/model-source.ts'
import { originOfProvider } from '../agent/providers/provider-drivers.ts'
import { openCodingSession } from '../agent/coding/open-coding-session.ts'
import { createAgentConnections } from '../execution/agent-connections.ts'
import type { CallResult } from '../agent/mcp/server-tool.ts'
import { createAgentPrograms } from '../execution/agent-programs.ts'
import { createAgentSkills } from '../execution/agent-skills.ts'
import { createAgentWork } from '../execution/agent-work.ts'
import { createCodeResults } from '../execution/coding/code-results.ts'
import { createCodeTasks } from '../execution/coding/code-tasks.ts'
import { createCodeWork } from '../execution/coding/code-work.ts'
import { createCodingProgramFinder } from '../execution/coding/coding-program-finder.ts'
import { createLivePrograms } from '../execution/coding/live-programs.ts'
import { createWorkKeeper } from '../execution/coding/work-keeper.ts'
import { createAgentMcpTools } from '../execution/mcp/agent-mcp-tools.ts'
import { createMcpPool } from '../execution/mcp/mcp-pool.ts'
import { createSamplingModels } from '../execution/mcp/sampling.ts'
import { createServerFolders } from '../execution/mcp/server-folders.ts'
import { createParkedCalls } from '../execution/parked-calls.ts'
import { createTools } from '../execution/tools.ts'
import { guardOptions, type Connections } from './connections.ts'
import type { Core } from './core.ts'
import type { Storage } from './storage.ts'

export type Agents = ReturnType<typeof createAgents>

type Needed = Pick<Connections, 'credentials' | 'fetchGuarded'>

/** Models, tools and the worker that runs jobs with them. */
export function createAgents(core: Core, storage: Storage, { credentials, fetchGuarded }: Needed) {
  const { options, vault, clock, fetch, dataDir, ownPorts } = core
  const { db, jobs, rules, settings } = storage
  const programs = createAgentPrograms({ ...core, db, settings: settings.read })
  const closedFolders = () => [dataDir, ...listAgentFolders(db)]
  const git = createGit({ ...core, home: join(dataDir, 'code'), closedFolders })
  const codingPrograms = createCodingProgramFinder({ ...core, closedFolders })
  const codeTasks = createCodeTasks({ db, git, rules, clock, programs: codingPrograms })
  const agentTools = createTools({
    clock,
    fetch: fetchGuarded,
    connections: createAgentConnections({ db, credentials, fetch: fetchGuarded, findConnector: options.findConnector }),
    sandbox: core.findSandbox,
    programs: programs.find,
    programNames: programs.names,
    rules: rules.read,
    settings: settings.read,
    searchKey: () => vault.get(WEB_SEARCH_KEY),
    skills: createAgentSkills({ clock, ...storage }),
    codeTasks: {
      installed: codingPrograms.installed,
      hasRepository: codeTasks.hasRepository,
      examine: ({ agentId, onBehalfOf }, given) => codeTasks.examine(getAgent(db, agentId), given, onBehalfOf),
    },
  })
  const tools = () => [...(options.tools ?? agentTools()), ...(options.moreTools ?? [])]
  const mcp = createMcpPool({
    ...core,
    db,
    credentials,
    sandbox: core.findSandbox,
    programs: programs.find,
    folders: createServerFolders(dataDir),
    internet: () => guardOptions(core, db),
  })
  const guardrails = () => ({ closedFolders: [dataDir], ownPorts })
  const models = createModelSource({
    readProvider: (id) => readProviderAccess(core, db, id),
    readOwnPrice: (ref) => findPrice(db, ref),
    fetch,
    clock,
    demoWordMs: options.demoWordMs,
  })
  const parked = createParkedCalls<CallResult>()
  const sampling = createSamplingModels({ ...core, ...storage, models })
  const mcpTools = createAgentMcpTools({ db, pool: mcp, parked, sandbox: core.findSandbox, models, sampling })
  const perform = createAgentWork({
    ...core,
    ...storage,
    models,
    tools,
    codeTasks,
    parked,
    sampling,
    trash: options.trash,
    mcpTools: mcpTools.toolsFor,
    ownPorts: () => ownPorts,
  })
  const livePrograms = createLivePrograms(core)
  const keeper = createWorkKeeper({ ...core, db, git, codingPrograms, programs: livePrograms })
  const codeResults = createCodeResults({ db, git, clock, keeper })
  const codeWork = createCodeWork({
    ...core,
    ...storage,
    git,
    codingPrograms,
    keeper,
    programs: livePrograms,
    openSession: openCodingSession,
    sandbox: core.findSandbox,
    shownPrograms: programs.findOwn,
    ownPorts: () => ownPorts,
  })
  const worker = createWorker({
    ...core,
    db,
    store: core.safeMode ? newJobsOf(core, storage) : jobs,
    limit: () => jobLimit(settings.read()),
    // The model gets the list of programs, even in a job that continues right after the start.
    perform: async (attempt) => {
      await programs.waitForScan(attempt.signal)
      await codingPrograms.look()
      await codeTasks.look(attempt.job.agentId)
      await (attempt.job.isCodeTask ? codeWork : { perform }).perform(attempt)
    },
  })
  core.disposables.add(
    storage.hub.subscribe(({ type, payload }) => void (type === 'job.finished' && parked.endJob(payload.jobId))),
    programs.close,
    () => mcp.stop(),
    livePrograms.endAll,
    keeper.stop,
  )
  return { programs, git, codeTasks, codeResults, codeKeeper: keeper, mcp, mcpTools, tools, guardrails, models, worker }
}

/** In safe mode, jobs from before the start wait: one of them may have crashed the runner. */
function newJobsOf({ disposables }: Core, { jobs, hub }: Storage): JobStore {
  const newJobs = new Set<string>()
  disposables.add(
    hub.subscribe(({ type, payload }) => {
      if (type === 'job.created') newJobs.add(payload.jobId)
      else if (type === 'job.finished') newJobs.delete(payload.jobId)
    }),
  )
  return {
    ...jobs,
    claimNext(tx, limit) {
      for (const jobId of newJobs) {
        const claimed = jobs.claim(tx, jobId, limit)
        if (claimed !== null) return claimed
      }
      return null
    },
  }
}

/** While all agents are paused, no job starts. A running one continues to its next call, which asks. */
function jobLimit({ pauseAll, concurrency }: Pick<Settings, 'pauseAll' | 'concurrency'>): number {
  return pauseAll ? 0 : concurrency
}

async function readProviderAccess({ vault }: Core, db: Database, id: string) {
  const provider = findProvider(db, id)
  if (provider === null) return null
  const { kind, name, baseUrl, hasKey } = provider
  if (!hasKey) return { id, kind, name, baseUrl, apiKey: null }
  const apiKey = readProviderSecret(await vault.get(providerKey(id)), originOfProvider(provider))
  if (apiKey === null) throw new AppError('provider_refused', createMessage('model_key_gone', { provider: name }))
  return { id, kind, name, baseUrl, apiKey }
}
