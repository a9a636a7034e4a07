import type { ApprovalStatus } from '../../src-runner/contract/approvals.ts'
import type { CodingCli } from '../../src-runner/contract/coding-programs.ts'
import type { RetentionKind } from '../../src-runner/contract/retention.ts'
import type { JobChannel, JobStatus, JobSummary } from '../../src-runner/contract/jobs.ts'
import type { RouteAnswer, RouteRequest } from '../../src-runner/contract/routes.ts'
import type { Rule } from '../../src-runner/contract/rules.ts'
import type { Occurrence, Schedule } from '../../src-runner/contract/schedules.ts'
import { INBOX_KEEPS, type Trigger } from '../../src-runner/contract/triggers.ts'
import { useApi } from './ApiProvider.tsx'
import type { Progress } from './live.ts'
import { type Loaded, type Pages, usePages, useRoute } from './observe.ts'
import { joinSteps, lastWithoutGap } from './steps.ts'
import { useWhileWriting, type Written } from './while-writing.ts'

/** Ids are functions, so that a screen fetches the next thing when its URL changes. */
type Given = () => string | null | undefined

export type JobFilter = {
  status?: readonly JobStatus[]
  agentId?: string
  channel?: JobChannel
  parentJobId?: string
  /** Created at or after, epoch ms. */
  from?: number
  /** Created before, epoch ms. */
  to?: number
  q?: string
  limit?: number
}

export function useJobs(filter: () => JobFilter | null): Pages<JobSummary> {
  return usePages(
    'listJobs',
    () => {
      const wanted = filter()
      return wanted === null ? null : { ...wanted, status: wanted.status?.length ? wanted.status.join(',') : undefined }
    },
    (page) => page.jobs,
  )
}

export const useJobCounts = () => useRoute('countJobs', () => ({}))

export const useJob = (jobId: Given) => useRoute('getJob', () => withId(jobId, (id) => ({ params: { jobId: id } })))

/** Steps are only ever added, so a refetch fetches the new ones alone. */
export function useSteps(jobId: Given): Loaded<RouteAnswer<'listSteps'>> {
  return useRoute('listSteps', () => withId(jobId, (id) => ({ params: { jobId: id } })), {
    grows: {
      after: ({ steps }) => ({ after: lastWithoutGap(steps) }),
      join: (held, more) => ({ steps: [...joinSteps(held.steps, more.steps)] }),
    },
  })
}

/** What a running job does at this moment, or null. */
export function useProgress(jobId: Given): () => Progress | null {
  const { live } = useApi()
  return () => {
    const id = jobId()
    return id ? live.progressOf(id) : null
  }
}

export const useConversations = (filter: () => { agentId?: string; q?: string } | null) =>
  usePages('listConversations', filter, (page) => page.conversations)

/** All agents by name: nobody has more than the 200 that one page holds. */
export const useAgents = () => useRoute('listAgents', () => ({ query: { limit: 200 } }))

export const useAgent = (agentId: Given) => useRoute('getAgent', () => withId(agentId, (id) => ({ params: { agentId: id } })))

export const useProviders = () => useRoute('listProviders', () => ({}))

export const useFoundServers = () => useRoute('listFoundServers', () => ({}), { isOutside: true })

export const useModels = () => useRoute('listModels', () => ({}), { isOutside: true })

export const useSettings = () => useRoute('getSettings', () => ({}))

export const useSpend = (query: () => NonNullable<RouteRequest<'getSpend'>['query']>) =>
  useRoute('getSpend', () => ({ query: query() }), { keepPrevious: true })

/** How many approvals are fetched at once. More of them follow as these are answered. */
const PENDING_AT_ONCE = 100

/** The pending approvals. The badge, the title, Home and the screen itself share this query. */
export const usePendingApprovals = () =>
  useRoute('listApprovals', () => ({ query: { status: 'pending' as const, limit: PENDING_AT_ONCE } }))

export const useApprovals = (filter: () => { status?: ApprovalStatus } | null) =>
  usePages('listApprovals', filter, (page) => page.approvals)

export const useJobApprovals = (jobId: Given) =>
  useRoute('listApprovals', () => withId(jobId, (id) => ({ query: { jobId: id, limit: PENDING_AT_ONCE } })))

/** What approving would change in the file as it is now. */
export const useApprovalPreview = (approvalId: Given) =>
  useRoute('previewApproval', () => withId(approvalId, (id) => ({ params: { approvalId: id } })))

export const useApproval = (approvalId: Given) =>
  useRoute('getApproval', () => withId(approvalId, (id) => ({ params: { approvalId: id } })))

export const useDecisions = (jobId: Given) => useRoute('listDecisions', () => withId(jobId, (id) => ({ params: { jobId: id } })))

/** All rules, or with an agent id the rules that apply to that agent. */
export function useRules(agentId: () => string | null): Pages<Rule> {
  return usePages(
    'listRules',
    () => ({ agentId: agentId() ?? undefined, limit: 200 }),
    (page) => page.rules,
  )
}

export const useJobFiles = (jobId: Given) => useRoute('listJobFiles', () => withId(jobId, (id) => ({ params: { jobId: id } })))

/** What the calls of a job returned beyond what a model reads at once. */
export const useKeptResults = (jobId: () => string) => useRoute('listKeptResults', () => ({ params: { jobId: jobId() } }))

export const useKeptResult = (result: () => { jobId: string; number: number }) => useRoute('getKeptResult', () => ({ params: result() }))

/** The changes of a job to one file. */
export const useFileDiff = (file: () => { jobId: string; path: string }) =>
  useRoute('getFileDiff', () => ({ params: { jobId: file().jobId }, query: { path: file().path } }))

/** The memories of an agent; `shared` as the id: those of all agents. */
export const useMemories = (filter: () => { agentId: string; q?: string }) => usePages('listMemories', filter, (page) => page.memories)

export const useJobMemories = (jobId: Given) => useRoute('listJobMemories', () => withId(jobId, (id) => ({ params: { jobId: id } })))

export const useSandbox = () => useRoute('getSandbox', () => ({}))

export const useBackups = () => useRoute('listBackups', () => ({}))

export const useMcpEndpoint = () => useRoute('getMcpEndpoint', () => ({}))

export const useTokens = () => useRoute('listTokens', () => ({}))

export const useDiagnostics = () => useRoute('getDiagnostics', () => ({}))

export const useRetained = (of: () => { kind: RetentionKind; days: number | null } | null) =>
  useRoute('getRetained', () => {
    const wanted = of()
    return wanted === null ? null : { query: { kind: wanted.kind, ...(wanted.days !== null && { days: wanted.days }) } }
  })

export const useTools = () => useRoute('listTools', () => ({}))

/** Accounts and devices change without an event of ours. */
export const useSignIn = () => useRoute('getSignIn', () => ({}), { isOutside: true })

export const usePeople = (isAllowed: () => boolean) => useRoute('listPeople', () => (isAllowed() ? {} : null), { isOutside: true })

export const useDevices = () => useRoute('listDevices', () => ({}), { isOutside: true })

function withId<R>(given: Given, request: (id: string) => R): R | null {
  const id = given()
  return id ? request(id) : null
}

/** The channels of an agent, or all of them. */
export const useChannels = (agentId: Given = () => undefined) =>
  useRoute('listChannels', () => ({ query: { agentId: agentId() ?? undefined } }))

/** The services that can be connected. Their redirect URIs follow the dashboard, which may move to another port. */
export const useConnectors = () => useRoute('listConnectors', () => ({}), { isOutside: true })

/** The connected accounts, or those of an agent. */
export const useCredentials = (agentId: Given = () => undefined) =>
  useRoute('listCredentials', () => ({ query: { agentId: agentId() ?? undefined } }))

export const useCredential = (credentialId: Given) =>
  useRoute('getCredential', () => withId(credentialId, (id) => ({ params: { credentialId: id } })))

/** One sign-in at a service, as it goes on in the browser. */
export const useAuthorization = (authorizationId: Given) =>
  useRoute('getAuthorization', () => withId(authorizationId, (id) => ({ params: { authorizationId: id } })))

/** How an agent gets its tools of MCP servers. */
export const useMcpToolUse = (agentId: () => string) => useRoute('getMcpToolUse', () => ({ params: { agentId: agentId() } }))

/** The MCP servers, or those of an agent. */
export const useMcpServers = (agentId: Given = () => undefined) =>
  useRoute('listMcpServers', () => ({ query: { agentId: agentId() ?? undefined } }))

export const useMcpServer = (mcpServerId: Given) =>
  useRoute('getMcpServer', () => withId(mcpServerId, (id) => ({ params: { mcpServerId: id } })))

/** What an MCP server wrote to its log. New lines send no event. */
export const useMcpServerLog = (mcpServerId: Given) =>
  useRoute('readMcpServerLog', () => withId(mcpServerId, (id) => ({ params: { mcpServerId: id } })), { isOutside: true })

/** The MCP servers in the files of other apps on this machine. */
export const useMcpImports = () => useRoute('listMcpImports', () => ({}), { isOutside: true })

/** What a pasted text is: an address, a command or JSON. Null reads nothing. */
export function useMcpPaste(text: () => string | null): Written<RouteAnswer<'readMcpPaste'>> {
  return useWhileWriting('readMcpPaste', () => {
    const pasted = text()
    return pasted === null ? null : { body: { text: pasted } }
  })
}

/** MCP servers of the public registry. */
export function useMcpRegistry(q: () => string | null): Written<RouteAnswer<'searchMcpRegistry'>> {
  return useWhileWriting('searchMcpRegistry', () => {
    const words = q()
    return words === null ? null : { query: { q: words } }
  })
}

/** The tasks of coding programs, newest first. */
export const useCodeTasks = () =>
  usePages(
    'listCodeTasks',
    () => ({ limit: 50 }),
    (page) => page.codeTasks,
  )

/** The error `code_task_not_found` says that the job is none of a coding program. */
export const useCodeTask = (jobId: Given) => useRoute('getCodeTask', () => withId(jobId, (id) => ({ params: { jobId: id } })))

/** The installed skills, or those of an agent. */
export const useSkills = (agentId: Given = () => undefined) =>
  useRoute('listSkills', () => ({ query: { agentId: agentId() ?? undefined } }))

export const useSkill = (skillId: Given) => useRoute('getSkill', () => withId(skillId, (id) => ({ params: { skillId: id } })))

/** The files of a skill as they are on the disk. */
export const useSkillFiles = (skillId: Given) => useRoute('readSkillFiles', () => withId(skillId, (id) => ({ params: { skillId: id } })))

/** Well-known repositories of skills. They change only with Deckhand itself. */
export const useSkillCatalogues = () => useRoute('listSkillCatalogues', () => ({}))

/** The skill that a job writes from a finished one. */
export const useSkillDraft = (jobId: Given) => useRoute('getSkillDraft', () => withId(jobId, (id) => ({ params: { jobId: id } })))

/** What files would be as a skill, while the person writes them. */
export function useSkillCheck(request: () => RouteRequest<'checkSkill'> | null): Written<RouteAnswer<'checkSkill'>> {
  return useWhileWriting('checkSkill', request)
}

/** What a code task changed in one file. */
export const useCodeDiff = (file: () => { jobId: string; path: string }) =>
  useRoute('getCodeTaskDiff', () => ({ params: { jobId: file().jobId }, query: { path: file().path } }))

/** The agent's folders that are Git repositories. They change without an event of ours. */
export const useCodeRepositories = (agentId: Given) =>
  useRoute('listCodeRepositories', () => withId(agentId, (id) => ({ query: { agentId: id } })), { isOutside: true })

/** Messages that could not be delivered, the newest first. */
export const useUndeliverable = () => useRoute('listOutbox', () => ({ query: { state: 'undeliverable' as const, limit: 20 } }))

/** What needs attention besides approvals and failed jobs. */
export const useAttention = () => useRoute('listAttention', () => ({}))

export const usePublicAddress = () => useRoute('getPublicAddress', () => ({}))

export const useDoctor = () => useRoute('getDoctor', () => ({}))

/** A POST, because it starts the program. It changes nothing. */
export const useCodingProgram = (cli: CodingCli) => useRoute('checkCodingProgram', () => ({ body: { cli } }))

export function useTriggers(): Pages<Trigger> {
  return usePages(
    'listTriggers',
    () => ({ limit: 100 }),
    (page) => page.triggers,
  )
}

export const useTrigger = (triggerId: Given) => useRoute('getTrigger', () => withId(triggerId, (id) => ({ params: { triggerId: id } })))

/** The whole inbox, which fits into one page. */
export const useDeliveries = (triggerId: Given) =>
  useRoute('listDeliveries', () => withId(triggerId, (id) => ({ params: { triggerId: id }, query: { limit: INBOX_KEEPS } })))

export const useDelivery = (deliveryId: Given) =>
  useRoute('getDelivery', () => withId(deliveryId, (id) => ({ params: { deliveryId: id } })))

/** The task that a template and a sample payload make, while the person types either. */
export function useTemplatePreview(
  written: () => { taskTemplate: string; payload: string } | null,
): Written<RouteAnswer<'previewTemplate'>> {
  return useWhileWriting('previewTemplate', () => {
    const body = written()
    return body === null ? null : { body }
  })
}

/** What was spent today is less after midnight, and the next run is another, without an event. */
const SCHEDULES_EVERY_MS = 5 * 60_000

export function useSchedules(): Pages<Schedule> {
  return usePages(
    'listSchedules',
    () => ({ limit: 100 }),
    (page) => page.schedules,
    () => ({}),
    { everyMs: SCHEDULES_EVERY_MS },
  )
}

export const useSchedule = (scheduleId: Given) =>
  useRoute('getSchedule', () => withId(scheduleId, (id) => ({ params: { scheduleId: id } })), { everyMs: SCHEDULES_EVERY_MS })

/** The newest scheduled runs. */
export const useLastOccurrences = (scheduleId: Given, limit: number) =>
  useRoute('listOccurrences', () => withId(scheduleId, (id) => ({ params: { scheduleId: id }, query: { limit } })))

export function useOccurrences(scheduleId: Given): Pages<Occurrence> {
  return usePages(
    'listOccurrences',
    () => ({ limit: 200 }),
    (page) => page.occurrences,
    () => withId(scheduleId, (id) => ({ scheduleId: id })),
  )
}

/** How all runs since `from` ended, for all schedules or for one. A null span fetches nothing. */
export function useScheduleSummary(span: () => { from: number; scheduleId?: string } | null): Loaded<RouteAnswer<'sumUpSchedules'>> {
  return useRoute('sumUpSchedules', () => {
    const wanted = span()
    return wanted === null ? null : { query: wanted }
  })
}

export const useUpcomingRuns = (hours: number) =>
  useRoute('listUpcomingRuns', () => ({ query: { hours } }), { everyMs: SCHEDULES_EVERY_MS })

/** The next runs of a cron expression, while the person types it. */
export function useCronPreview(written: () => { cron: string; timezone: string } | null): Written<RouteAnswer<'previewCron'>> {
  return useWhileWriting('previewCron', () => {
    const query = written()
    return query === null ? null : { query }
  })
}
