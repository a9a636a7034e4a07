import type { Services } from '../../platform/services.ts'
import { SERVICE_NAMES } from '../../contract/channels.ts'
import type { StoredEvent } from '../../contract/events.ts'
import { findChannelPersonOfConversation } from '../../domain/channels/owner-conversation.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'

/** Services show it for about five seconds. */
const REPEAT_MS = 4500

type TypingDeps = Pick<Services, 'db' | 'clock'> & { jobs: Pick<JobStore, 'findJob'>; show(channelId: string, chatId: string): void }

export type Typing = ReturnType<typeof createTyping>

/** Shows in a chat that a reply is being written while its job runs. */
export function createTyping({ db, jobs, clock, show }: TypingDeps) {
  const shown = new Map<string, () => void>()

  function begin(jobId: string): void {
    const job = jobs.findJob(db, jobId)
    if (job === null || job.conversationId === null || !(job.channel in SERVICE_NAMES)) return
    const person = findChannelPersonOfConversation(db, job.conversationId)
    if (person === null || person.role === 'refused') return
    const showTyping = () => show(person.channelId, person.chatId)
    end(jobId)
    shown.set(jobId, clock.every(REPEAT_MS, showTyping))
    showTyping()
  }

  function end(jobId: string): void {
    shown.get(jobId)?.()
    shown.delete(jobId)
  }

  return {
    onEvent(event: StoredEvent): void {
      if (event.type === 'job.started' && event.payload.conversationId !== null) begin(event.payload.jobId)
      if (event.type === 'job.waiting' || event.type === 'job.finished' || event.type === 'job.requeued') end(event.payload.jobId)
    },
    stop(): void {
      for (const jobId of Array.from(shown.keys())) end(jobId)
    },
  }
}
