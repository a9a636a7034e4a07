import type { RecordedEventType } from './events.ts'

/**
 * What a page may show. A route names the tags that it shows; this file says which tags each event makes stale.
 */
export const TAGS = [
  'jobs',
  'job',
  'steps',
  'agents',
  'conversations',
  'conversation',
  'providers',
  'models',
  'spend',
  'settings',
  'approvals',
  'rules',
  'memories',
  'triggers',
  'trigger',
  'schedules',
  'schedule',
  'channels',
  'credentials',
  'authorization',
  'skills',
  'outbox',
  'attention',
  'public_address',
  'tokens',
  'retention',
  'mcp_servers',
  'code_tasks',
  'code_task',
] as const
export type Tag = (typeof TAGS)[number]

/** A tag makes all of its queries stale; with `by`, only those about the id in this field of the event's payload. */
export type StaleTag = {
  tag: Tag
  by?: 'jobId' | 'agentId' | 'conversationId' | 'providerId' | 'triggerId' | 'scheduleId' | 'authorizationId'
}

const codeTask: StaleTag[] = [{ tag: 'code_tasks' }, { tag: 'code_task', by: 'jobId' }]
const job: StaleTag[] = [{ tag: 'jobs' }, { tag: 'job', by: 'jobId' }, { tag: 'conversation', by: 'conversationId' }, ...codeTask]

const trigger: StaleTag[] = [{ tag: 'triggers' }, { tag: 'trigger', by: 'triggerId' }, { tag: 'attention' }]
const schedule: StaleTag[] = [{ tag: 'schedules' }, { tag: 'schedule', by: 'scheduleId' }, { tag: 'attention' }]
const channel: StaleTag[] = [{ tag: 'channels' }, { tag: 'attention' }]
const credential: StaleTag[] = [{ tag: 'credentials' }, { tag: 'attention' }]
const mcpServer: StaleTag[] = [{ tag: 'mcp_servers' }, { tag: 'attention' }]
const skill: StaleTag[] = [{ tag: 'skills' }, { tag: 'attention' }]
const outbound: StaleTag[] = [{ tag: 'outbox' }, { tag: 'attention' }]

const approval: StaleTag[] = [{ tag: 'approvals' }, { tag: 'job', by: 'jobId' }, { tag: 'conversation', by: 'conversationId' }]

/** All that shows the name of an agent. */
const agent: StaleTag[] = [
  { tag: 'agents' },
  { tag: 'rules' },
  { tag: 'jobs' },
  { tag: 'job' },
  { tag: 'conversations' },
  { tag: 'conversation' },
  { tag: 'approvals' },
  { tag: 'code_tasks' },
  { tag: 'code_task' },
  { tag: 'triggers' },
  { tag: 'trigger' },
  { tag: 'schedules' },
  { tag: 'schedule' },
  { tag: 'channels' },
  { tag: 'credentials' },
  { tag: 'mcp_servers' },
  { tag: 'skills' },
  { tag: 'attention' },
]

/** Total: an event type without an entry does not compile. */
export const STALE_AFTER: Record<RecordedEventType, StaleTag[]> = {
  'job.created': [...job, { tag: 'conversations' }, { tag: 'trigger', by: 'triggerId' }, { tag: 'schedule', by: 'scheduleId' }],
  'job.started': job,
  'job.step_recorded': [
    { tag: 'job', by: 'jobId' },
    { tag: 'steps', by: 'jobId' },
    { tag: 'conversation', by: 'conversationId' },
    { tag: 'spend' },
  ],
  'job.waiting': [...job, { tag: 'conversations' }, { tag: 'schedule', by: 'scheduleId' }],
  'job.requeued': [...job, { tag: 'schedule', by: 'scheduleId' }],
  'job.postponed': job,
  'job.cancel_requested': job,
  'job.finished': [...job, { tag: 'conversations' }, { tag: 'spend' }, { tag: 'schedule', by: 'scheduleId' }, { tag: 'attention' }],
  'approval.asked': approval,
  'approval.answered': approval,
  'approval.expired': approval,
  'approval.withdrawn': approval,
  'rule.created': [{ tag: 'rules' }],
  'rule.deleted': [{ tag: 'rules' }],
  'files.undone': [{ tag: 'job', by: 'jobId' }],
  'memory.created': [{ tag: 'memories' }],
  'memory.changed': [{ tag: 'memories' }],
  'memory.deleted': [{ tag: 'memories' }],
  'agent.created': [{ tag: 'agents' }],
  'agent.changed': agent,
  'agent.deleted': agent,
  'conversation.created': [{ tag: 'conversations' }],
  'conversation.changed': [{ tag: 'conversations' }, { tag: 'conversation', by: 'conversationId' }],
  'conversation.deleted': [{ tag: 'conversations' }, { tag: 'conversation', by: 'conversationId' }],
  'provider.created': [{ tag: 'providers' }, { tag: 'models' }],
  'provider.changed': [{ tag: 'providers' }, { tag: 'models' }],
  'provider.deleted': [{ tag: 'providers' }, { tag: 'models' }],
  'model.price_changed': [{ tag: 'models' }, { tag: 'spend' }],
  'trigger.created': trigger,
  'trigger.changed': trigger,
  'trigger.deleted': trigger,
  'delivery.refused': [{ tag: 'trigger', by: 'triggerId' }, { tag: 'attention' }],
  'schedule.created': schedule,
  'schedule.changed': schedule,
  'schedule.deleted': schedule,
  'schedule.skipped': schedule,
  'schedule.budget_exhausted': schedule,
  'channel.created': channel,
  'channel.changed': channel,
  'channel.deleted': channel,
  'channel.access_requested': channel,
  'outbound.written': outbound,
  'outbound.sent': outbound,
  'outbound.failed': outbound,
  'public_address.changed': [{ tag: 'public_address' }, { tag: 'attention' }],
  'attention.changed': [{ tag: 'attention' }],
  'clock.set': [{ tag: 'approvals' }],
  'credential.created': credential,
  'credential.changed': credential,
  'credential.deleted': credential,
  'authorization.changed': [{ tag: 'authorization', by: 'authorizationId' }],
  'skill.installed': skill,
  'skill.changed': skill,
  'skill.removed': skill,
  'code_task.changed': codeTask,
  'token.created': [{ tag: 'tokens' }],
  'token.revoked': [{ tag: 'tokens' }],
  'mcp_server.created': mcpServer,
  'mcp_server.changed': mcpServer,
  'mcp_server.deleted': mcpServer,
  'retention.deleted': [
    { tag: 'retention' },
    { tag: 'jobs' },
    { tag: 'job' },
    { tag: 'conversations' },
    { tag: 'trigger' },
    { tag: 'schedule' },
  ],
  'history.imported': [{ tag: 'jobs' }, { tag: 'conversations' }, { tag: 'spend' }, { tag: 'retention' }],
  'settings.changed': [{ tag: 'settings' }, { tag: 'models' }],
}
