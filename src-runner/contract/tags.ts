import type { RecordedEventType } from './events.ts'

/**
 * What a page may hold. A query says which tags it shows; an event says, here and nowhere else, which tags it
 * makes stale. A tag with `:` names one thing; the part behind it is the field of the event's payload.
 */
export const TAGS = [
  'jobs',
  'job',
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
] as const
export type Tag = (typeof TAGS)[number]

/** A tag alone makes all of its queries stale; with `by`, only those of the thing that the payload's field names. */
export type StaleTag = { tag: Tag; by?: 'jobId' | 'agentId' | 'conversationId' | 'providerId' }

const job: StaleTag[] = [{ tag: 'jobs' }, { tag: 'job', by: 'jobId' }, { tag: 'conversation', by: 'conversationId' }]

const approval: StaleTag[] = [{ tag: 'approvals' }, { tag: 'job', by: 'jobId' }, { tag: 'conversation', by: 'conversationId' }]

/** Total: an event type without an entry does not compile. */
export const STALE_AFTER: Record<RecordedEventType, StaleTag[]> = {
  'job.created': [...job, { tag: 'conversations' }],
  'job.started': job,
  'job.step_recorded': [{ tag: 'job', by: 'jobId' }, { tag: 'conversation', by: 'conversationId' }, { tag: 'spend' }],
  'job.waiting': [...job, { tag: 'conversations' }],
  'job.requeued': job,
  'job.cancel_requested': job,
  'job.finished': [...job, { tag: 'conversations' }, { tag: 'spend' }],
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
  'agent.changed': [{ tag: 'agents' }],
  'agent.deleted': [{ tag: 'agents' }, { tag: 'rules' }, { tag: 'jobs' }, { tag: 'conversations' }],
  'conversation.created': [{ tag: 'conversations' }],
  'conversation.changed': [{ tag: 'conversations' }, { tag: 'conversation', by: 'conversationId' }],
  'conversation.deleted': [{ tag: 'conversations' }, { tag: 'conversation', by: 'conversationId' }],
  'provider.created': [{ tag: 'providers' }, { tag: 'models' }],
  'provider.changed': [{ tag: 'providers' }, { tag: 'models' }],
  'provider.deleted': [{ tag: 'providers' }, { tag: 'models' }],
  'model.price_changed': [{ tag: 'models' }, { tag: 'spend' }],
  'settings.changed': [{ tag: 'settings' }, { tag: 'models' }],
}
