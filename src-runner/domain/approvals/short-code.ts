import { and, eq, exists, or } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { outbox } from '../outbox/outbox-table.ts'
import { approvals } from './approvals-table.ts'

/** Without letters that look like digits or like each other. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 4

/** What a person types to answer an approval where there are no buttons. Made from the random end of its id. */
export function shortCodeOf(approvalId: string): string {
  let rest = Number.parseInt(approvalId.slice(-8), 16)
  let code = ''
  for (let i = 0; i < LENGTH; i++) {
    code += ALPHABET[rest % ALPHABET.length]
    rest = Math.floor(rest / ALPHABET.length)
  }
  return code
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
