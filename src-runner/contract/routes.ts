import { z } from 'zod'
import { Approval, ApprovalStatus, ResolveApproval, ResolvedApproval } from './approvals.ts'
import { Agent, CreateAgent, ModelRef, UpdateAgent } from './agents.ts'
import { Box } from './box.ts'
import { Conversation, Message } from './conversations.ts'
import { ErrorBody, type ErrorCode } from './errors.ts'
import { FileDiff, WrittenFile } from './files.ts'
import { ChatReply, ChatTurn, Job, JobChannel, JobStatus, JobSummary, Step, SubmitTask } from './jobs.ts'
import { CreateMemory, JobMemory, Memory, UpdateMemory } from './memory.ts'
import { Id, Moment, NextCursor, PageQuery } from './primitives.ts'
import { CreateProvider, FoundServer, ModelList, Price, Provider, UpdateProvider } from './providers.ts'
import { CreateRule, RecordedDecision, Rule, SimulateCall, SimulatedCall, ToolInfo } from './rules.ts'
import { Settings, UpdateSettings, UpdateWebSearch } from './settings.ts'
import { Spend, SpendQuery } from './spend.ts'
import type { Tag } from './tags.ts'

/**
 * public: nobody has to prove anything. runner: pass-through in `local-trust`, else the bearer (401 `unauthorized`).
 * worker: the WORKER_SECRET bearer in every mode (403 `invalid_worker_secret`).
 */
export type RouteGate = 'public' | 'runner' | 'worker'

export type Route = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Matched literally; `:name` is one segment. */
  path: string
  gate: RouteGate
  summary: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** A POST whose body may be left out. */
  bodyOptional?: true
  /** The success status and its body. `stream`: server-sent events instead of a JSON body. */
  status: 200 | 201 | 202
  answer: z.ZodType
  stream?: true
  errors: ErrorCode[]
  /** What a page that shows this answer holds (GET only). */
  shows?: Tag[]
}

function table<const T extends Record<string, Route>>(routes: T): T {
  return routes
}

const Nothing = z.object({ ok: z.literal(true) })
const jobParams = z.object({ jobId: Id })
const agentParams = z.object({ agentId: Id })
const providerParams = z.object({ providerId: z.string().min(1).max(64) })
const memoryParams = z.object({ memoryId: Id })
const conversationParams = z.object({ conversationId: Id })

/** Every route of the runner. Handlers, the typed client and the OpenAPI document are made from this table. */
export const ROUTES = table({
  health: {
    method: 'GET',
    path: '/api/health',
    gate: 'public',
    summary: 'Liveness and readiness. 503 with the same shape when the database cannot be reached.',
    status: 200,
    answer: z.object({ ok: z.boolean(), db: z.string(), llm: z.literal('unchecked') }),
    errors: [],
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    gate: 'runner',
    summary: 'This interface as an OpenAPI 3.1 document.',
    status: 200,
    answer: z.record(z.string(), z.unknown()),
    errors: [],
  },
  runWorker: {
    method: 'POST',
    path: '/api/worker',
    gate: 'worker',
    summary: 'Execute a job in the background. A job that is terminal or already claimed is left alone.',
    body: z.object({ jobId: Id }),
    status: 202,
    answer: z.object({ ok: z.literal(true), jobId: Id, status: z.literal('accepted') }),
    errors: ['invalid_worker_secret', 'invalid_request'],
  },
  submitTask: {
    method: 'POST',
    path: '/api/agent',
    gate: 'runner',
    summary: 'Submit a task to an agent. The answer leaves after the job is on disk.',
    body: SubmitTask,
    status: 202,
    answer: z.object({ jobId: Id, status: z.literal('pending') }),
    errors: ['invalid_request', 'agent_not_found', 'conversation_not_found', 'job_not_found', 'job_creation_failed', 'disk_full'],
  },
  chat: {
    method: 'POST',
    path: '/api/chat',
    gate: 'runner',
    summary: 'One chat turn, answered when the turn ends or waits.',
    body: ChatTurn,
    status: 200,
    answer: ChatReply,
    errors: ['invalid_request', 'agent_not_found', 'conversation_not_found', 'agent_has_no_model', 'job_creation_failed', 'disk_full'],
  },
  chatStream: {
    method: 'POST',
    path: '/api/chat/stream',
    gate: 'runner',
    summary: 'The same turn, streamed. Closing the connection does not stop it.',
    body: ChatTurn,
    status: 200,
    stream: true,
    answer: z.unknown(),
    errors: ['invalid_request', 'agent_not_found', 'conversation_not_found', 'agent_has_no_model', 'job_creation_failed', 'disk_full'],
  },
  listJobs: {
    method: 'GET',
    path: '/api/jobs',
    gate: 'runner',
    summary: 'Jobs, newest first. `status` takes several, separated by commas.',
    query: PageQuery.extend({
      status: z
        .string()
        .transform((text) => text.split(','))
        .pipe(z.array(JobStatus).min(1).max(10))
        .optional(),
      agentId: Id.optional(),
      channel: JobChannel.optional(),
      /** The jobs that this one delegated. */
      parentJobId: Id.optional(),
      /** Created at or after. */
      from: z.coerce.number().pipe(Moment).optional(),
      /** Created before. */
      to: z.coerce.number().pipe(Moment).optional(),
      /** Full-text search over title, task and result. */
      q: z.string().trim().max(500).optional(),
    }),
    status: 200,
    answer: z.object({ jobs: z.array(JobSummary), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['jobs'],
  },
  countJobs: {
    method: 'GET',
    path: '/api/jobs/counts',
    gate: 'runner',
    summary: 'How many jobs are pending, running or waiting right now.',
    status: 200,
    answer: z.object({ pending: z.number(), running: z.number(), awaiting_approval: z.number(), awaiting_child: z.number() }),
    errors: [],
    shows: ['jobs'],
  },
  getJob: {
    method: 'GET',
    path: '/api/jobs/:jobId',
    gate: 'runner',
    summary: 'One job.',
    params: jobParams,
    status: 200,
    answer: z.object({ job: Job }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  listSteps: {
    method: 'GET',
    path: '/api/jobs/:jobId/steps',
    gate: 'runner',
    summary: 'The recorded steps of a job, in order. `after` is the last seq already held.',
    params: jobParams,
    query: z.object({ after: z.coerce.number().int().min(0).default(0) }),
    status: 200,
    answer: z.object({ steps: z.array(Step) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  streamJob: {
    method: 'GET',
    path: '/api/jobs/:jobId/stream',
    gate: 'runner',
    summary: 'Attach to a job: the text of the reply under way so far, then what follows, as in /api/chat/stream.',
    params: jobParams,
    status: 200,
    stream: true,
    answer: z.unknown(),
    errors: ['invalid_request', 'job_not_found'],
  },
  cancelJob: {
    method: 'POST',
    path: '/api/jobs/:jobId/cancel',
    gate: 'runner',
    summary: 'Stop a job. Takes effect within two seconds; the text written so far is kept.',
    params: jobParams,
    bodyOptional: true,
    status: 202,
    answer: z.object({ job: Job }),
    errors: ['invalid_request', 'job_not_found', 'job_already_finished'],
  },
  retryJob: {
    method: 'POST',
    path: '/api/jobs/:jobId/retry',
    gate: 'runner',
    summary: 'Make a new job with the same task, linked to this one.',
    params: jobParams,
    bodyOptional: true,
    status: 201,
    answer: z.object({ job: Job }),
    errors: ['invalid_request', 'job_not_found', 'job_not_finished', 'agent_not_found', 'disk_full'],
  },
  listDecisions: {
    method: 'GET',
    path: '/api/jobs/:jobId/decisions',
    gate: 'runner',
    summary: 'What the policy said of each tool call of a job, by which rule, and how the job was marked then.',
    params: jobParams,
    status: 200,
    answer: z.object({ decisions: z.array(RecordedDecision) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  resolveApproval: {
    method: 'POST',
    path: '/api/approve',
    gate: 'runner',
    summary: 'Answer an approval, which resumes its job. The first answer counts.',
    body: ResolveApproval,
    status: 200,
    answer: ResolvedApproval,
    errors: ['invalid_request', 'approval_not_found', 'approval_already_resolved', 'approval_expired', 'disk_full'],
  },
  listApprovals: {
    method: 'GET',
    path: '/api/approvals',
    gate: 'runner',
    summary: 'Approvals, newest first. `pending` counts those that wait, whatever the filter.',
    query: PageQuery.extend({ status: ApprovalStatus.optional(), jobId: Id.optional() }),
    status: 200,
    answer: z.object({ approvals: z.array(Approval), pending: z.number().int(), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['approvals'],
  },
  getApproval: {
    method: 'GET',
    path: '/api/approvals/:approvalId',
    gate: 'runner',
    summary: 'One approval.',
    params: z.object({ approvalId: Id }),
    status: 200,
    answer: z.object({ approval: Approval }),
    errors: ['invalid_request', 'approval_not_found'],
    shows: ['approvals'],
  },
  listRules: {
    method: 'GET',
    path: '/api/rules',
    gate: 'runner',
    summary: 'All rules, newest first. With `agentId`: those that hold for this agent, the rules for everyone included.',
    query: PageQuery.extend({ agentId: Id.optional() }),
    status: 200,
    answer: z.object({ rules: z.array(Rule), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['rules'],
  },
  createRule: {
    method: 'POST',
    path: '/api/rules',
    gate: 'runner',
    summary: 'Write a rule. One that says the same as an existing rule answers that one.',
    body: CreateRule,
    status: 201,
    answer: z.object({ rule: Rule }),
    errors: ['invalid_request', 'agent_not_found', 'disk_full'],
  },
  deleteRule: {
    method: 'DELETE',
    path: '/api/rules/:ruleId',
    gate: 'runner',
    summary: 'Remove a rule.',
    params: z.object({ ruleId: Id }),
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'rule_not_found'],
  },
  simulateCall: {
    method: 'POST',
    path: '/api/rules/simulate',
    gate: 'runner',
    summary: 'Would this call run, be asked or be refused? The same decision as for a real call; nothing runs.',
    body: SimulateCall,
    status: 200,
    answer: SimulatedCall,
    errors: ['invalid_request', 'tool_not_found', 'agent_not_found', 'job_not_found'],
  },
  listTools: {
    method: 'GET',
    path: '/api/tools',
    gate: 'runner',
    summary: 'The tools that agents have.',
    status: 200,
    answer: z.object({ tools: z.array(ToolInfo) }),
    errors: [],
  },
  listJobFiles: {
    method: 'GET',
    path: '/api/jobs/:jobId/files',
    gate: 'runner',
    summary: 'The files that a job wrote, each once, in the order in which it came upon them.',
    params: jobParams,
    status: 200,
    answer: z.object({ files: z.array(WrittenFile) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  getFileDiff: {
    method: 'GET',
    path: '/api/jobs/:jobId/file-diff',
    gate: 'runner',
    summary:
      'What a job changed in one file, from what was kept: also after the file has changed again. With `callId`: what this call changed.',
    params: jobParams,
    query: z.object({ path: z.string().min(1).max(8192), callId: z.string().min(1).max(200).optional() }),
    status: 200,
    answer: FileDiff,
    errors: ['invalid_request', 'job_not_found', 'file_not_written'],
    shows: ['job'],
  },
  undoFile: {
    method: 'POST',
    path: '/api/jobs/:jobId/files/undo',
    gate: 'runner',
    summary: 'Put back what was there before a job wrote a file. `force`: also when the file was changed since.',
    params: jobParams,
    body: z.object({ path: z.string().min(1).max(8192), force: z.boolean().default(false) }),
    status: 200,
    answer: z.object({ file: WrittenFile }),
    errors: ['invalid_request', 'job_not_found', 'file_not_written', 'file_changed_since', 'file_cannot_be_undone', 'disk_full'],
  },
  listJobMemories: {
    method: 'GET',
    path: '/api/jobs/:jobId/memories',
    gate: 'runner',
    summary: 'What a job was given to read of the memory, word for word as it then was.',
    params: jobParams,
    status: 200,
    answer: z.object({ memories: z.array(JobMemory) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  listMemories: {
    method: 'GET',
    path: '/api/memories',
    gate: 'runner',
    summary: 'What agents remember, newest first. `agentId` is an agent or `shared`; `q` is a full-text search.',
    query: PageQuery.extend({ agentId: z.union([Id, z.literal('shared')]).optional(), q: z.string().trim().max(500).optional() }),
    status: 200,
    answer: z.object({ memories: z.array(Memory), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['memories'],
  },
  createMemory: {
    method: 'POST',
    path: '/api/memories',
    gate: 'runner',
    summary: 'Let an agent, or all of them, remember something.',
    body: CreateMemory,
    status: 201,
    answer: z.object({ memory: Memory }),
    errors: ['invalid_request', 'agent_not_found', 'memory_full', 'disk_full'],
  },
  updateMemory: {
    method: 'PATCH',
    path: '/api/memories/:memoryId',
    gate: 'runner',
    summary: 'Write a memory anew. Whoever does vouches for it: it is trusted from then on.',
    params: memoryParams,
    body: UpdateMemory,
    status: 200,
    answer: z.object({ memory: Memory }),
    errors: ['invalid_request', 'memory_not_found', 'disk_full'],
  },
  deleteMemory: {
    method: 'DELETE',
    path: '/api/memories/:memoryId',
    gate: 'runner',
    summary: 'Remove a memory. What jobs have read of it stays with them.',
    params: memoryParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'memory_not_found'],
  },
  listConversations: {
    method: 'GET',
    path: '/api/conversations',
    gate: 'runner',
    summary: 'Conversations, the last used first.',
    query: PageQuery.extend({ agentId: Id.optional(), q: z.string().trim().max(500).optional() }),
    status: 200,
    answer: z.object({ conversations: z.array(Conversation), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['conversations'],
  },
  getConversation: {
    method: 'GET',
    path: '/api/conversations/:conversationId',
    gate: 'runner',
    summary: 'One conversation with its newest 200 messages, oldest first, and the jobs of its turns.',
    params: conversationParams,
    status: 200,
    answer: z.object({ conversation: Conversation, messages: z.array(Message), jobs: z.array(JobSummary) }),
    errors: ['invalid_request', 'conversation_not_found'],
    shows: ['conversation'],
  },
  deleteConversation: {
    method: 'DELETE',
    path: '/api/conversations/:conversationId',
    gate: 'runner',
    summary: 'Remove a conversation and its messages. Its jobs stay in Activity.',
    params: conversationParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'conversation_not_found'],
  },
  listAgents: {
    method: 'GET',
    path: '/api/agents',
    gate: 'runner',
    summary: 'Agents, by name.',
    query: PageQuery.extend({ entityId: Id.optional() }),
    status: 200,
    answer: z.object({ agents: z.array(Agent), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['agents'],
  },
  createAgent: {
    method: 'POST',
    path: '/api/agents',
    gate: 'runner',
    summary: 'Create an agent. Its slug is made from the name.',
    body: CreateAgent,
    status: 201,
    answer: z.object({ agent: Agent }),
    errors: ['invalid_request', 'entity_not_found', 'provider_not_found', 'folder_not_usable'],
  },
  getAgent: {
    method: 'GET',
    path: '/api/agents/:agentId',
    gate: 'runner',
    summary: 'One agent.',
    params: agentParams,
    status: 200,
    answer: z.object({ agent: Agent }),
    errors: ['invalid_request', 'agent_not_found'],
    shows: ['agents'],
  },
  updateAgent: {
    method: 'PATCH',
    path: '/api/agents/:agentId',
    gate: 'runner',
    summary: 'Change an agent. Fields left out stay as they are; a job that runs goes on with what it started with.',
    params: agentParams,
    body: UpdateAgent,
    status: 200,
    answer: z.object({ agent: Agent }),
    errors: ['invalid_request', 'agent_not_found', 'provider_not_found', 'folder_not_usable'],
  },
  deleteAgent: {
    method: 'DELETE',
    path: '/api/agents/:agentId',
    gate: 'runner',
    summary: 'Delete an agent. Its running and waiting jobs are cancelled; what it did stays in Activity.',
    params: agentParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'agent_not_found'],
  },
  listProviders: {
    method: 'GET',
    path: '/api/providers',
    gate: 'runner',
    summary: 'Providers: the demo, those the person added, those found on this machine.',
    status: 200,
    answer: z.object({ providers: z.array(Provider), nextCursor: NextCursor }),
    errors: [],
    shows: ['providers'],
  },
  createProvider: {
    method: 'POST',
    path: '/api/providers',
    gate: 'runner',
    summary: 'Add a provider. The key goes into the vault.',
    body: CreateProvider,
    status: 201,
    answer: z.object({ provider: Provider }),
    errors: ['invalid_request', 'vault_unavailable'],
  },
  updateProvider: {
    method: 'PATCH',
    path: '/api/providers/:providerId',
    gate: 'runner',
    summary: 'Change a provider or its key.',
    params: providerParams,
    body: UpdateProvider,
    status: 200,
    answer: z.object({ provider: Provider }),
    errors: ['invalid_request', 'provider_not_found', 'provider_read_only', 'vault_unavailable'],
  },
  deleteProvider: {
    method: 'DELETE',
    path: '/api/providers/:providerId',
    gate: 'runner',
    summary: 'Remove a provider and its key. Refused while an agent uses it.',
    params: providerParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'provider_not_found', 'provider_read_only', 'provider_in_use', 'vault_unavailable'],
  },
  checkProvider: {
    method: 'POST',
    path: '/api/providers/:providerId/check',
    gate: 'runner',
    summary: 'Ask the provider for its models now: does the key work? Costs nothing.',
    params: providerParams,
    bodyOptional: true,
    status: 200,
    answer: z.object({ ok: z.boolean(), models: z.number().int(), message: z.string() }),
    errors: ['invalid_request', 'provider_not_found', 'vault_unavailable'],
  },
  listFoundServers: {
    method: 'GET',
    path: '/api/providers/found',
    gate: 'runner',
    summary: 'Ollama, LM Studio and llama.cpp servers that answer on this machine and are not added yet.',
    status: 200,
    answer: z.object({ servers: z.array(FoundServer) }),
    errors: [],
    shows: ['providers'],
  },
  listModels: {
    method: 'GET',
    path: '/api/models',
    gate: 'runner',
    summary: 'The models of all providers, as the providers list them.',
    status: 200,
    answer: ModelList,
    errors: [],
    shows: ['models'],
  },
  setModelPrice: {
    method: 'POST',
    path: '/api/models/price',
    gate: 'runner',
    summary: "Set the person's own price of a model, or null to go back to the package's.",
    body: z.object({ model: ModelRef, price: Price.nullable() }),
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'provider_not_found'],
  },
  getSettings: {
    method: 'GET',
    path: '/api/settings',
    gate: 'runner',
    summary: 'Settings of the workspace.',
    status: 200,
    answer: z.object({ settings: Settings }),
    errors: [],
    shows: ['settings'],
  },
  updateSettings: {
    method: 'PATCH',
    path: '/api/settings',
    gate: 'runner',
    summary: 'Change settings of the workspace.',
    body: UpdateSettings,
    status: 200,
    answer: z.object({ settings: Settings }),
    errors: ['invalid_request', 'provider_not_found'],
  },
  updateWebSearch: {
    method: 'PATCH',
    path: '/api/settings/web-search',
    gate: 'runner',
    summary: 'Set up where agents search the web, or null to take the tool away. The key goes into the vault.',
    body: z.object({ webSearch: UpdateWebSearch.nullable() }),
    status: 200,
    answer: z.object({ settings: Settings }),
    errors: ['invalid_request', 'vault_unavailable'],
  },
  getBox: {
    method: 'GET',
    path: '/api/box',
    gate: 'runner',
    summary: 'The box that programs of agents run in: whether it works on this machine, and what to do if not.',
    status: 200,
    answer: z.object({ box: Box }),
    errors: [],
    shows: ['settings'],
  },
  checkBox: {
    method: 'POST',
    path: '/api/box/check',
    gate: 'runner',
    summary: 'Try the box anew, by running a program in it.',
    bodyOptional: true,
    status: 200,
    answer: z.object({ box: Box }),
    errors: [],
  },
  streamEvents: {
    method: 'GET',
    path: '/api/events',
    gate: 'runner',
    summary: 'What happened, as server-sent events; go on with Last-Event-ID. Without it: from now on.',
    query: z.object({ after: z.coerce.number().int().min(0).optional() }),
    status: 200,
    stream: true,
    answer: z.unknown(),
    errors: ['invalid_request'],
  },
  getSpend: {
    method: 'GET',
    path: '/api/spend',
    gate: 'runner',
    summary: 'What was spent, grouped.',
    query: SpendQuery,
    status: 200,
    answer: Spend,
    errors: ['invalid_request'],
    shows: ['spend'],
  },
})

export type Routes = typeof ROUTES
export type RouteName = keyof Routes

type Part<N extends RouteName, K extends 'params' | 'query' | 'body'> = Routes[N] extends Record<K, infer S extends z.ZodType> ? S : never

/** What a handler receives: parsed, with defaults filled in. */
export type RouteInput<N extends RouteName> = {
  params: [Part<N, 'params'>] extends [never] ? Record<string, never> : z.output<Part<N, 'params'>>
  query: [Part<N, 'query'>] extends [never] ? Record<string, never> : z.output<Part<N, 'query'>>
  body: [Part<N, 'body'>] extends [never] ? undefined : z.output<Part<N, 'body'>>
}

/** What a caller sends: before parsing. Parts a route does not have are left out. */
export type RouteRequest<N extends RouteName> = ([Part<N, 'params'>] extends [never] ? unknown : { params: z.input<Part<N, 'params'>> }) &
  ([Part<N, 'query'>] extends [never] ? unknown : { query?: z.input<Part<N, 'query'>> }) &
  ([Part<N, 'body'>] extends [never] ? unknown : { body: z.input<Part<N, 'body'>> })

export type RouteAnswer<N extends RouteName> = z.output<Routes[N]['answer']>

export { ErrorBody }
