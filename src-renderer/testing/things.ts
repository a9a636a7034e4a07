import type { Message } from '../../src-runner/contract/messages.ts'
import { type Agent, DEFAULT_LIMITS, NO_BUDGETS } from '../../src-runner/contract/agents.ts'
import type { Approval } from '../../src-runner/contract/approvals.ts'
import type { Channel, ChannelPerson } from '../../src-runner/contract/channels.ts'
import type { CodeTask } from '../../src-runner/contract/code-tasks.ts'
import type { ListedConnector } from '../../src-runner/contract/connectors.ts'
import type { Credential } from '../../src-runner/contract/credentials.ts'
import type { McpServer, McpTool } from '../../src-runner/contract/mcp.ts'
import type { Job, JobSummary } from '../../src-runner/contract/jobs.ts'
import type { Model, Provider } from '../../src-runner/contract/providers.ts'
import { type CallFacts, type Decision, NO_TAINTS, type Rule } from '../../src-runner/contract/rules.ts'
import type { Occurrence, Schedule } from '../../src-runner/contract/schedules.ts'
import type { Skill, SkillContents, SkillPreview } from '../../src-runner/contract/skills.ts'
import type { Delivery, DeliveryDetail, Trigger } from '../../src-runner/contract/triggers.ts'

let last = 0

/** A message that is shown as it is. */
export function quote(words: string): Message {
  return { code: 'quoted', params: { words } }
}

/** Returns a new UUID on each call. */
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
    budgets: NO_BUDGETS,
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
    plainTask: null,
    isCodeTask: false,
    conversationId: null,
    triggerId: null,
    scheduleId: null,
    occurrenceId: null,
    parentJobId: null,
    retryOfJobId: null,
    retriedByJobId: null,
    context: null,
    result: 'Done.',
    output: null,
    error: null,
    errorMessage: null,
    model: { providerId: 'demo', model: 'demo' },
    inputTokens: 1200,
    outputTokens: 340,
    cachedTokens: 0,
    costUsd: 0.0123,
    childrenCostUsd: 0,
    priced: true,
    turns: 2,
    toolCalls: 1,
    attempt: 1,
    workingMs: 4200,
    workingSince: null,
    cancelRequested: false,
    noOp: false,
    createdAt: 1_700_000_000_000,
    startedAt: 1_700_000_000_100,
    finishedAt: 1_700_000_004_300,
    ...fields,
  }
}

export function makeSummary(fields: Partial<JobSummary> = {}): JobSummary {
  const { task: _task, plainTask: _plainTask, context: _context, output: _output, result, ...rest } = makeJob(fields)
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

export function makeFacts(fields: Partial<CallFacts> = {}): CallFacts {
  return {
    tool: 'write_file',
    effect: 'idempotent',
    subject: 'Documents/notes.md',
    paths: ['/home/ada/Documents/notes.md'],
    summary: 'Overwrite Documents/notes.md (2 KB)',
    leavesMachine: false,
    costsMoney: false,
    deletes: false,
    overwrites: true,
    runsCode: false,
    ...fields,
  }
}

export function makeDecision(fields: Partial<Decision> = {}): Decision {
  return {
    verdict: 'ask',
    decidedBy: { source: 'level', verdict: 'ask', ruleId: null, reason: quote('It overwrites a file that the agent did not create.') },
    overruled: [],
    ...fields,
  }
}

export function makeRule(fields: Partial<Rule> = {}): Rule {
  return {
    id: makeId(),
    effect: 'allow',
    tool: 'write_file',
    pattern: null,
    agentId: null,
    folder: null,
    origin: 'person',
    createdAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeApproval(fields: Partial<Approval> = {}): Approval {
  const agentId = fields.agentId ?? makeId()
  return {
    id: makeId(),
    kind: 'tool',
    status: 'pending',
    jobId: makeId(),
    jobTitle: 'Sum up the notes',
    channel: 'chat',
    conversationId: null,
    agentId,
    agentName: 'Ada',
    agentAvatar: null,
    callId: 'call_1',
    tool: 'write_file',
    args: { path: 'Documents/notes.md', content: 'First line\nSecond line' },
    hash: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
    reason: 'The notes are out of date.',
    facts: makeFacts(),
    decision: makeDecision(),
    taints: NO_TAINTS,
    question: null,
    budget: null,
    alwaysRule: { effect: 'allow', tool: 'write_file', pattern: 'Documents/notes.md', agentId, folder: null },
    mayRemember: ['once', 'job', 'always'],
    remember: null,
    note: null,
    answer: null,
    createdAt: 1_700_000_000_000,
    expiresAt: 1_700_086_400_000,
    answeredAt: null,
    ...fields,
  }
}

export function makeTrigger(fields: Partial<Trigger> = {}): Trigger {
  return {
    id: makeId(),
    entityId: ENTITY,
    agentId: makeId(),
    agentName: 'Ada',
    name: 'New orders',
    slug: 'new-orders',
    taskTemplate: 'Order {name} came in.',
    notifyOnSuccess: false,
    notifyVia: 'auto',
    signature: null,
    dedupe: false,
    requirePlaceholders: false,
    status: 'active',
    triggerCount: 3,
    lastTriggeredAt: 1_700_000_000_000,
    firesThisHour: 1,
    lastOutcome: 'accepted',
    createdAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeDelivery(fields: Partial<Delivery> = {}): Delivery {
  return {
    id: makeId(),
    triggerId: makeId(),
    kind: 'webhook',
    outcome: 'accepted',
    status: 202,
    times: 1,
    senderId: null,
    eventName: null,
    missing: [],
    jobId: null,
    replayOfId: null,
    bytes: 240,
    receivedAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeDeliveryDetail(fields: Partial<DeliveryDetail> = {}): DeliveryDetail {
  const prompts = { prompt: 'A webhook started this job.\n\nOrder {name} came in.', plainPrompt: 'Order #1001 came in.' }
  return { ...makeDelivery(fields), payload: '{"name":"#1001"}', ...prompts, headers: {}, ...fields }
}

export function makeSchedule(fields: Partial<Schedule> = {}): Schedule {
  return {
    id: makeId(),
    entityId: ENTITY,
    agentId: makeId(),
    agentName: 'Ada',
    name: 'Morning summary',
    cron: '0 9 * * *',
    timezone: 'Europe/Berlin',
    task: 'Sum up my notes.',
    dailyBudgetUsd: 5,
    catchUpHours: 24,
    notifyOnSuccess: false,
    notifyVia: 'auto',
    status: 'active',
    lastStatus: 'success',
    nextDueAt: 1_800_000_000_000,
    isWatcher: false,
    scheduleCursor: null,
    lastRun: null,
    liveJobId: null,
    agentSpentTodayUsd: 0.5,
    spentTodayUsd: 0.2,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeOccurrence(fields: Partial<Occurrence> = {}): Occurrence {
  return {
    id: makeId(),
    scheduleId: makeId(),
    dueAt: 1_700_000_000_000,
    origin: 'clock',
    state: 'ran',
    reason: quote('It was due.'),
    times: 1,
    untilAt: null,
    jobId: makeId(),
    jobStatus: 'completed',
    noOp: false,
    costUsd: 0.0123,
    priced: true,
    decidedAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makePerson(fields: Partial<ChannelPerson> = {}): ChannelPerson {
  return {
    id: makeId(),
    channelId: makeId(),
    role: 'requested',
    isRoom: false,
    displayName: 'Ada',
    handle: '@ada',
    externalId: '4711',
    conversationId: null,
    firstSeenAt: 1_700_000_000_000,
    lastMessageAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeChannel(fields: Partial<Channel> = {}): Channel {
  return {
    id: makeId(),
    agentId: makeId(),
    agentName: 'File guide',
    kind: 'telegram',
    name: '@guide_bot',
    link: 'https://t.me/guide_bot',
    status: 'open',
    problem: null,
    lastRoundTripAt: 1_700_000_000_000,
    baseUrl: null,
    enabled: true,
    pairingCode: '7F3KM2QX',
    people: [],
    createdAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeConnector(fields: Partial<ListedConnector> = {}): ListedConnector {
  return {
    slug: 'github',
    name: 'GitHub',
    localName: null,
    description: { en: 'Read and change repositories.', de: 'Repositorys lesen und ändern.' },
    category: 'code',
    logo: { path: 'M0 0h24v24H0z', color: '#181717' },
    kind: 'oauth2',
    hosts: ['api.github.com'],
    fields: [],
    docsUrl: null,
    headers: {},
    reads: { get: true, calls: [], graphql: [] },
    oauth: {
      issuer: null,
      authorizationUrl: 'https://github.com/login/oauth/authorize',
      tokenUrl: 'https://github.com/login/oauth/access_token',
      revocationUrl: null,
      deviceUrl: null,
      clientAuth: 'body',
      scopeSeparator: ' ',
      parameters: {},
      usesPkce: true,
    },
    scopes: [
      { scope: 'read:user', words: { en: 'See your profile', de: 'Dein Profil sehen' }, access: 'read', preset: true },
      { scope: 'repo', words: { en: 'Change your repositories', de: 'Deine Repositorys ändern' }, access: 'write', preset: false },
    ],
    account: null,
    steps: [{ en: 'Register an app with {redirectUri}.', de: 'Registriere eine App mit {redirectUri}.' }],
    setUpUrl: 'https://github.com/settings/applications/new',
    keyHeader: null,
    keySteps: [],
    keyUrl: null,
    redirectUri: 'https://deck.example.org/api/oauth/github/callback',
    ...fields,
  }
}

export function makeCredential(fields: Partial<Credential> = {}): Credential {
  return {
    id: makeId(),
    entityId: ENTITY,
    connector: 'github',
    kind: 'oauth2',
    name: 'GitHub',
    accountName: 'ada',
    hosts: ['api.github.com'],
    scopes: ['read:user', 'gist'],
    status: 'connected',
    problem: null,
    expiresAt: null,
    renews: false,
    lastUsedAt: null,
    createdAt: 1_700_000_000_000,
    mcpServerId: null,
    agents: [],
    ...fields,
  }
}

export function makeMcpTool(fields: Partial<McpTool> = {}): McpTool {
  const name = fields.name ?? 'search_notes'
  return {
    name,
    agentName: `notes__${name}`,
    title: null,
    description: 'Searches the notes.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
    digest: 'd'.repeat(64),
    effect: 'read',
    proposal: 'read',
    status: 'accepted',
    problem: null,
    accepted: null,
    tokens: 120,
    ...fields,
  }
}

export function makeMcpServer(fields: Partial<McpServer> = {}): McpServer {
  return {
    id: makeId(),
    entityId: ENTITY,
    name: 'Notes',
    slug: 'notes',
    transport: {
      kind: 'stdio',
      command: 'npx',
      args: ['-y', 'notes server'],
      envNames: ['NOTES_KEY'],
      folders: [],
      hosts: ['registry.npmjs.org'],
      allowsUnsandboxed: false,
    },
    enabled: true,
    mayAskModel: false,
    status: 'stopped',
    problem: null,
    sandboxed: true,
    version: 'Notes 1.0',
    tools: [],
    agents: [],
    lastUsedAt: null,
    createdAt: 1_700_000_000_000,
    ...fields,
  }
}

export function makeCodeTask(fields: Partial<CodeTask> = {}): CodeTask {
  return {
    jobId: makeId(),
    agentId: makeId(),
    agentName: 'File guide',
    title: 'Test the empty cart',
    jobStatus: 'completed',
    cli: 'claude',
    repository: '/home/ada/shop',
    branch: 'deckhand/test-the-empty-cart-7f3k',
    baseCommit: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    baseBranch: 'main',
    folder: '/home/ada/.deckhand/code/1',
    sandboxed: true,
    internet: false,
    result: 'ready',
    files: [
      { path: 'src/cart.ts', change: 'modified', from: null, additions: 3, deletions: 1, binary: false, runsByItself: false },
      { path: 'package.json', change: 'modified', from: null, additions: 1, deletions: 0, binary: false, runsByItself: true },
    ],
    fileCount: 2,
    additions: 4,
    deletions: 1,
    commands: [
      { command: 'npm test', exitCode: 1 },
      { command: 'npm test', exitCode: 0 },
    ],
    leftOut: [],
    sizeBytes: 2_400_000,
    costUsd: 0.42,
    priced: true,
    createdAt: 1_700_000_000_000,
    finishedAt: 1_700_000_060_000,
    folderRemovedAt: null,
    ...fields,
  }
}

export function makeSkillContents(fields: Partial<SkillContents> = {}): SkillContents {
  return {
    name: 'pdf-forms',
    description: 'Fills in PDF forms. Use it when somebody has a form to fill in.',
    license: 'MIT',
    compatibility: null,
    author: 'Ada',
    version: '1.0',
    allowedTools: [],
    digest: `sha256:${'a'.repeat(64)}`,
    files: [{ path: 'SKILL.md', bytes: 1_200, isScript: false }],
    totalBytes: 1_200,
    permissions: [],
    hosts: [],
    programs: [],
    findings: [],
    findingsCut: false,
    ...fields,
  }
}

export function makeSkill(fields: Partial<Skill> = {}): Skill {
  const contents = fields.contents ?? makeSkillContents()
  return {
    id: makeId(),
    entityId: ENTITY,
    slug: contents.name,
    name: contents.name,
    description: contents.description,
    kind: 'source',
    source: 'https://github.com/ada/skills/tree/main/pdf-forms',
    version: contents.version,
    digest: contents.digest,
    status: 'ready',
    contents,
    newPermissions: [],
    hasUpdate: false,
    checkedAt: 1_700_000_000_000,
    checkProblem: null,
    installedAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    agents: [],
    tokens: 24,
    ...fields,
  }
}

export function makeSkillPreview(fields: Partial<SkillPreview> = {}): SkillPreview {
  return { source: '/home/ada/pdf-forms', contents: makeSkillContents(), text: '# Forms', texts: [], installedSkillId: null, ...fields }
}
