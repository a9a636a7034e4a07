import type { Db } from '../../base/db/database.ts'

/**
 * What an agent's jobs cost from `since` on and before `until`, in micro-dollars. Exact for the beginning of a quarter of an
 * hour, which that of any day is. What a clock wrote that was ahead lies behind the end of the day.
 */
export function readAgentSpend(db: Db, agentId: string, since: number, until: number): number {
  return db
    .prepare<{ micros: number }>(
      'SELECT ifnull(sum(cost_micros), 0) AS micros FROM spend_agent_quarters WHERE agent_id = ? AND quarter_at >= ? AND quarter_at < ?',
    )
    .get(agentId, since, until)!.micros
}
