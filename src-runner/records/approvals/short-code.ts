import type { Db } from '../../base/db/database.ts'

/** Without letters that are taken for digits or for each other. */
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
 * Ids of open approvals with this code, whatever its capitals: of the channel's agent, and of those behind it that were asked
 * there. Rarely, two have the same one.
 */
export function findByShortCode(db: Db, channel: { id: string; agentId: string }, code: string): string[] {
  const wanted = code.trim().toUpperCase()
  return db
    .prepare<{ id: string }>(
      `SELECT approval.id FROM approvals AS approval JOIN agent_jobs AS job ON job.seq = approval.job_seq
       WHERE approval.status = 'pending' AND (job.agent_id = ?
         OR EXISTS (SELECT 1 FROM outbox AS asked WHERE asked.approval_id = approval.id AND asked.channel_id = ?))
       ORDER BY approval.seq`,
    )
    .all(channel.agentId, channel.id)
    .map((row) => row.id)
    .filter((id) => shortCodeOf(id) === wanted)
}
