import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { openOutboxRig, type OutboxRig } from '../../testing/outbox-rig.ts'
import { plansOf } from '../../testing/query-plans.ts'
import { countPending, listOutbox } from './outbox.ts'
import { findDueOf, findNextDueOf, findNextGivenUp, listSendingChannels, pruneOutbox } from './due-messages.sql.ts'
import { hasOverdue, moveGivingUp } from './send-message.ts'

let rig: OutboxRig
beforeAll(() => {
  rig = openOutboxRig()
})
afterAll(async () => {
  await rig.sender.stop({ graceMs: 0 })
  rig.close()
})

/** Scans and sorts. There are few channels, so scanning those is fine. */
function slowParts(act: () => void): string[] {
  const plans = plansOf(rig.db, act)
  expect(plans.length).toBeGreaterThan(0)
  return plans.flatMap(({ sql, plan }) =>
    plan
      .filter((line) => (/^SCAN (?!channels)/.test(line) && !/USING (COVERING )?INDEX/.test(line)) || /TEMP B-TREE/.test(line))
      .map((line) => `${line} in ${sql.replace(/\s+/g, ' ')}`),
  )
}

describe('an outbox with years of messages', () => {
  const READINGS: Record<string, () => unknown> = {
    'channels that send': () => listSendingChannels(rig.db),
    'the next message of a channel': () => findDueOf(rig.db, 'c', 0),
    'when the next message is due': () => findNextDueOf(rig.db, 'c'),
    'when the next one is given up': () => findNextGivenUp(rig.db),
    'whether something is overdue': () => hasOverdue(rig.db, 0),
    'how many wait': () => countPending(rig.db),
    everything: () => listOutbox(rig.db, { limit: 50 }),
    'one state': () => listOutbox(rig.db, { state: 'undeliverable', limit: 50 }),
    'an agent': () => listOutbox(rig.db, { agentId: 'a', limit: 50 }),
    'a workspace': () => listOutbox(rig.db, { entityId: 'e', limit: 50 }),
    'one state of a workspace': () => listOutbox(rig.db, { entityId: 'e', state: 'undeliverable', limit: 50 }),
    'a job': () => listOutbox(rig.db, { jobId: 'j', limit: 50 }),
  }
  it.each(Object.keys(READINGS))('%s', (name) => {
    const slow = slowParts(() => void READINGS[name]!())
    // A job has few messages.
    expect(slow.filter((line) => !/TEMP B-TREE FOR ORDER BY in SELECT message\.seq.*message\.job_id = /.test(line))).toEqual([])
  })

  it.each([
    ['a workspace', 'SEARCH outbox USING INDEX outbox_by_entity (entity_id=? AND seq<?)'],
    ['one state of a workspace', 'SEARCH outbox USING INDEX outbox_by_entity_and_state (entity_id=? AND state=? AND seq<?)'],
  ])('reads only the messages of %s', (name, search) => {
    expect(plansOf(rig.db, () => void READINGS[name]!()).flatMap(({ plan }) => plan)).toContain(search)
  })

  it('prunes from the oldest message on', () => {
    const plans = transact(rig.db, (tx) => plansOf(rig.db, () => void pruneOutbox(tx, 0)))
    const lines = plans.flatMap(({ plan }) => plan)
    expect(lines).toContain('SEARCH outbox USING INTEGER PRIMARY KEY (rowid=?)')
    expect(lines.filter((line) => line.includes('TEMP B-TREE'))).toEqual([])
  })

  it('moves only pending messages when the clock is set', () => {
    const plans = transact(rig.db, (tx) => plansOf(rig.db, () => moveGivingUp(tx, 0)))
    expect(plans.flatMap(({ plan }) => plan)).toEqual(['SEARCH outbox USING INDEX outbox_by_state (state=?)'])
  })

  it('finds the next message of a channel by its own pending messages', () => {
    for (const look of [READINGS['the next message of a channel']!, READINGS['when the next message is due']!]) {
      const lines = plansOf(rig.db, () => void look()).flatMap(({ plan }) => plan)
      expect(lines.filter((line) => /^(SCAN|SEARCH)/.test(line))).toEqual([
        'SEARCH message USING INDEX outbox_of_channel (channel_id=?)',
        'SEARCH earlier USING COVERING INDEX outbox_of_chat (channel_id=? AND chat_id=? AND seq<?)',
      ])
    }
  })
})
