import type { Agent } from '../../src-runner/contract/agents.ts'
import type { Approval, ApprovalStatus } from '../../src-runner/contract/approvals.ts'
import type { Conversation } from '../../src-runner/contract/conversations.ts'
import type { JobChannel, JobStatus, JobSummary } from '../../src-runner/contract/jobs.ts'
import type { Memory } from '../../src-runner/contract/memory.ts'
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

export function useJobCounts(): Loaded<RouteAnswer<'countJobs'>> {
  return useRoute('countJobs', () => ({}))
}

export function useJob(jobId: Given): Loaded<RouteAnswer<'getJob'>> {
  return useRoute('getJob', () => withId(jobId, (id) => ({ params: { jobId: id } })))
}

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

export function useConversations(filter: () => { agentId?: string; q?: string } | null): Pages<Conversation> {
  return usePages('listConversations', filter, (page) => page.conversations)
}

export function useConversation(conversationId: Given): Loaded<RouteAnswer<'getConversation'>> {
  return useRoute('getConversation', () => withId(conversationId, (id) => ({ params: { conversationId: id } })))
}

/** All agents by name: nobody has more than the 200 that one page holds. */
export function useAgents(): Loaded<{ agents: Agent[]; nextCursor: string | null }> {
  return useRoute('listAgents', () => ({ query: { limit: 200 } }))
}

export function useAgent(agentId: Given): Loaded<RouteAnswer<'getAgent'>> {
  return useRoute('getAgent', () => withId(agentId, (id) => ({ params: { agentId: id } })))
}

export function useProviders(): Loaded<RouteAnswer<'listProviders'>> {
  return useRoute('listProviders', () => ({}))
}

export function useFoundServers(): Loaded<RouteAnswer<'listFoundServers'>> {
  return useRoute('listFoundServers', () => ({}), { isOutside: true })
}

export function useModels(): Loaded<RouteAnswer<'listModels'>> {
  return useRoute('listModels', () => ({}), { isOutside: true })
}

export function useSettings(): Loaded<RouteAnswer<'getSettings'>> {
  return useRoute('getSettings', () => ({}))
}

export function useSpend(query: () => NonNullable<RouteRequest<'getSpend'>['query']>): Loaded<RouteAnswer<'getSpend'>> {
  return useRoute('getSpend', () => ({ query: query() }), { keepPrevious: true })
}

/** How many approvals are fetched at once. More of them follow as these are answered. */
const PENDING_AT_ONCE = 100

/** The pending approvals. The badge, the title, Home and the screen itself share this query. */
export function usePendingApprovals(): Loaded<RouteAnswer<'listApprovals'>> {
  return useRoute('listApprovals', () => ({ query: { status: 'pending' as const, limit: PENDING_AT_ONCE } }))
}

export function useApprovals(filter: () => { status?: ApprovalStatus } | null): Pages<Approval> {
  return usePages('listApprovals', filter, (page) => page.approvals)
}

export function useJobApprovals(jobId: Given): Loaded<RouteAnswer<'listApprovals'>> {
  return useRoute('listApprovals', () => withId(jobId, (id) => ({ query: { jobId: id, limit: PENDING_AT_ONCE } })))
}

/** What approving would change in the file as it is now. */
export function useApprovalPreview(approvalId: Given): Loaded<RouteAnswer<'previewApproval'>> {
  return useRoute('previewApproval', () => withId(approvalId, (id) => ({ params: { approvalId: id } })))
}

export function useApproval(approvalId: Given): Loaded<RouteAnswer<'getApproval'>> {
  return useRoute('getApproval', () => withId(approvalId, (id) => ({ params: { approvalId: id } })))
}

export function useDecisions(jobId: Given): Loaded<RouteAnswer<'listDecisions'>> {
  return useRoute('listDecisions', () => withId(jobId, (id) => ({ params: { jobId: id } })))
}

/** All rules, or with an agent id the rules that apply to that agent. */
export function useRules(agentId: () => string | null): Pages<Rule> {
  return usePages(
    'listRules',
    () => ({ agentId: agentId() ?? undefined, limit: 200 }),
    (page) => page.rules,
  )
}

export function useJobFiles(jobId: Given): Loaded<RouteAnswer<'listJobFiles'>> {
  return useRoute('listJobFiles', () => withId(jobId, (id) => ({ params: { jobId: id } })))
}

/** The changes of a job to one file. */
export function useFileDiff(file: () => { jobId: string; path: string }): Loaded<RouteAnswer<'getFileDiff'>> {
  return useRoute('getFileDiff', () => ({ params: { jobId: file().jobId }, query: { path: file().path } }))
}

/** The memories of an agent; `shared` as the id: those of all agents. */
export function useMemories(filter: () => { agentId: string; q?: string }): Pages<Memory> {
  return usePages('listMemories', filter, (page) => page.memories)
}

export function useJobMemories(jobId: Given): Loaded<RouteAnswer<'listJobMemories'>> {
  return useRoute('listJobMemories', () => withId(jobId, (id) => ({ params: { jobId: id } })))
}

export function useSandbox(): Loaded<RouteAnswer<'getSandbox'>> {
  return useRoute('getSandbox', () => ({}))
}

export function useBackups(): Loaded<RouteAnswer<'listBackups'>> {
  return useRoute('listBackups', () => ({}))
}

export function useTools(): Loaded<RouteAnswer<'listTools'>> {
  return useRoute('listTools', () => ({}))
}

function withId<R>(given: Given, request: (id: string) => R): R | null {
  const id = given()
  return id ? request(id) : null
}

/** The channels of an agent, or all of them. */
export function useChannels(agentId: Given = () => undefined): Loaded<RouteAnswer<'listChannels'>> {
  return useRoute('listChannels', () => ({ query: { agentId: agentId() ?? undefined } }))
}

/** Messages that could not be delivered, the newest first. */
export function useUndeliverable(): Loaded<RouteAnswer<'listOutbox'>> {
  return useRoute('listOutbox', () => ({ query: { state: 'undeliverable' as const, limit: 20 } }))
}

/** What needs attention besides approvals and failed jobs. */
export function useAttention(): Loaded<RouteAnswer<'listAttention'>> {
  return useRoute('listAttention', () => ({}))
}

export function usePublicAddress(): Loaded<RouteAnswer<'getPublicAddress'>> {
  return useRoute('getPublicAddress', () => ({}))
}

export function useDoctor(): Loaded<RouteAnswer<'getDoctor'>> {
  return useRoute('getDoctor', () => ({}))
}

export function useTriggers(): Pages<Trigger> {
  return usePages(
    'listTriggers',
    () => ({ limit: 100 }),
    (page) => page.triggers,
  )
}

export function useTrigger(triggerId: Given): Loaded<RouteAnswer<'getTrigger'>> {
  return useRoute('getTrigger', () => withId(triggerId, (id) => ({ params: { triggerId: id } })))
}

/** The whole inbox, which fits into one page. */
export function useDeliveries(triggerId: Given): Loaded<RouteAnswer<'listDeliveries'>> {
  return useRoute('listDeliveries', () => withId(triggerId, (id) => ({ params: { triggerId: id }, query: { limit: INBOX_KEEPS } })))
}

export function useDelivery(deliveryId: Given): Loaded<RouteAnswer<'getDelivery'>> {
  return useRoute('getDelivery', () => withId(deliveryId, (id) => ({ params: { deliveryId: id } })))
}

/** The task that a template and a sample payload make, while the person types either. */
export function useTemplatePreview(
  written: () => { taskTemplate: string; payload: string } | null,
): Written<RouteAnswer<'previewTemplate'>> {
  return useWhileWriting('previewTemplate', () => {
    const body = written()
    return body === null ? null : { body }
  })
}

export function useSchedules(): Pages<Schedule> {
  return usePages(
    'listSchedules',
    () => ({ limit: 100 }),
    (page) => page.schedules,
  )
}

export function useSchedule(scheduleId: Given): Loaded<RouteAnswer<'getSchedule'>> {
  return useRoute('getSchedule', () => withId(scheduleId, (id) => ({ params: { scheduleId: id } })))
}

/** The newest scheduled runs. */
export function useLastOccurrences(scheduleId: Given, limit: number): Loaded<RouteAnswer<'listOccurrences'>> {
  return useRoute('listOccurrences', () => withId(scheduleId, (id) => ({ params: { scheduleId: id }, query: { limit } })))
}

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

export function useUpcomingRuns(hours: number): Loaded<RouteAnswer<'listUpcomingRuns'>> {
  return useRoute('listUpcomingRuns', () => ({ query: { hours } }))
}

/** The next runs of a cron expression, while the person types it. */
export function useCronPreview(written: () => { cron: string; timezone: string } | null): Written<RouteAnswer<'previewCron'>> {
  return useWhileWriting('previewCron', () => {
    const query = written()
    return query === null ? null : { query }
  })
}
