import { type Agent, DEFAULT_LIMITS } from '../../src-runner/contract/agents.ts'
import type { Job, JobSummary } from '../../src-runner/contract/jobs.ts'
import type { Model, Provider } from '../../src-runner/contract/providers.ts'

let last = 0

/** A UUID that says which thing it is when a test fails. */
export function makeId(): string {
  return `00000000-0000-7000-8000-${String(++last).padStart(12, '0')}`
}

const ENTITY = '00000000-0000-7000-8000-00000000e000'

export function makeAgent(fields: Partial<Agent> = {}): Agent {
  return {
    id: makeId(),
    entityId: ENTITY,
    slug: 'file-guide',
    name: 'File guide',
    avatar: null,
    instructions: '',
    model: null,
    fallbacks: [],
    autonomy: 'ask_when_it_matters',
    folders: [],
    limits: DEFAULT_LIMITS,
    isDefault: false,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeJob(fields: Partial<Job> = {}): Job {
  return {
    id: makeId(),
    entityId: ENTITY,
    agentId: makeId(),
    agentName: 'File guide',
    channel: 'api',
    status: 'completed',
    title: 'Sum up the notes',
    task: 'Sum up the notes',
    conversationId: null,
    triggerId: null,
    scheduleId: null,
    occurrenceId: null,
    parentJobId: null,
    retryOfJobId: null,
    retriedByJobId: null,
    context: null,
    result: 'Done.',
    error: null,
    errorMessage: null,
    model: { providerId: 'demo', model: 'demo' },
    inputTokens: 1200,
    outputTokens: 340,
    cachedTokens: 0,
    costUsd: 0.0123,
    priced: true,
    turns: 2,
    toolCalls: 1,
    attempt: 1,
    workingMs: 4200,
    cancelRequested: false,
    createdAt: 1_700_000_000_000,
    startedAt: 1_700_000_000_100,
    finishedAt: 1_700_000_004_300,
    ...fields,
  }
}

export function makeSummary(fields: Partial<JobSummary> = {}): JobSummary {
  const { task: _task, context: _context, result, ...rest } = makeJob(fields)
  return { ...rest, resultPreview: result, ...fields }
}

export function makeProvider(fields: Partial<Provider> = {}): Provider {
  return {
    id: makeId(),
    kind: 'anthropic',
    name: 'Anthropic',
    baseUrl: null,
    hasKey: true,
    origin: 'user',
    createdAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeModel(fields: Partial<Model> = {}): Model {
  return {
    providerId: 'demo',
    providerName: 'Demo',
    providerKind: 'demo',
    model: 'demo',
    label: 'Demo model',
    contextTokens: null,
    price: { inputUsdPerMillion: 0, outputUsdPerMillion: 0 },
    priceOrigin: 'free',
    ...fields,
  }
}
