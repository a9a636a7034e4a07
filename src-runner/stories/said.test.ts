import { describe, expect, it } from 'vitest'
import { readSaid } from '../kit/said.ts'
import { STUCK_AFTER_MS } from '../contract/schedules.ts'
import { parseCron } from '../records/schedules/due-times.ts'
import { behindBrake, heldBy, lateBy, overBudget, REASONS, skippedFor, tooLongAgo } from '../records/schedules/reasons.ts'

const HOUR = 3_600_000

/**
 * Sentences that are kept in rows are read again by their words. Whoever changes one where it is made has to change it in the
 * catalogue too, or pages in other languages show it in English.
 */
describe('sentences that are made elsewhere and read by their words', () => {
  const live = (['pending', 'awaiting_approval', 'running'] as const).map((status) => ({ id: 'j', status, created_at: 0 }))
  const held = [false, true].flatMap((brake) =>
    live.flatMap((job) => [1, STUCK_AFTER_MS + 1].flatMap((now) => [heldBy(job, now, brake), skippedFor(job, now, brake)])),
  )
  const reasons = [
    ...Object.values(REASONS),
    ...held,
    ...[HOUR, 24 * HOUR, 1.5 * HOUR].map(tooLongAgo),
    ...[lateBy(45_000), overBudget(5_250_000, 5_000_000), behindBrake(REASONS.askedFor)],
  ]

  it.each([...new Set(reasons)])('reads why a due time became what it is: %s', (reason) => {
    expect(readSaid(reason)?.code).toMatch(/^due_/)
  })

  it.each([
    ...['', '* *', '* * * *', '* * * * * *', '* * * * * * *', '@daily', '@often', '*', '1,,2 * * * *', '*/2/3 * * * *', '1-2-3 * * * *'],
    ...[
      '5/10 * * * *',
      '20-10 * * * *',
      '75 * * * *',
      '0 25 * * *',
      '? * * * *',
      '0 0 L * *',
      '0 0 * * MON#1',
      'now * * * *',
      '0 soon * * *',
    ],
    ...['*/0 * * * *', '*/70 * * * *', '0 0 30 2 *'],
  ])('reads what is wrong with the cron expression “%s”', (cron) => {
    const parsed = parseCron(cron, 'UTC')
    expect(parsed.ok || readSaid(parsed.problem)?.code).toMatch(/^cron_/)
  })

  it('reads what is wrong with a time zone', () => {
    const parsed = parseCron('0 9 * * *', 'Atlantis/Main')
    expect(parsed.ok || readSaid(parsed.problem)).toEqual({ code: 'cron_bad_zone', facts: { zone: 'Atlantis/Main' } })
  })
})
