import { and, eq, exists, or } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { typedCodeOf } from '../../lib/typed-code.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { outbox } from '../outbox/outbox-table.ts'
import { approvals } from './approvals-table.ts'

/** What a person types to answer an approval where there are no buttons. Made from the random end of its id. */
export function shortCodeOf(approvalId: string): string {
  return typedCodeOf(Number.parseInt(approvalId.slice(-8), 16), 4)
}

/**
 * Ids of pending approvals with this code, whatever its case: those of the channel's agent, and those of other agents that
 * were sent to this channel. Two can share a code, which is rare.
 */
export function findByShortCode(db: Db, channel: { id: string; agentId: string }, code: string): string[] {
  const wanted = code.trim().toUpperCase()
  const sentHere = db
    .select({ seq: outbox.seq })
    .from(outbox)
    .where(and(eq(outbox.approvalId, approvals.id), eq(outbox.channelId, channel.id)))
  return db
    .select({ id: approvals.id })
    .from(approvals)
    .innerJoin(jobs, eq(jobs.seq, approvals.jobSeq))
    .where(and(eq(approvals.status, 'pending'), or(eq(jobs.agentId, channel.agentId), exists(sentHere))))
    .orderBy(approvals.seq)
    .all()
    .map(({ id }) => id)
    .filter((id) => shortCodeOf(id) === wanted)
}
