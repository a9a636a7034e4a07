import { afterEach, describe, expect, it, vi } from 'vitest'
import { makeId } from '../../testing/things.ts'
import { groupOf, isFiltered, jobFilterOf, readFilter } from './activity-filter.ts'

afterEach(() => vi.unstubAllEnvs())

describe('filters in the address', () => {
  it('are read', () => {
    const agent = makeId()
    expect(readFilter({ status: 'running,pending', agent, channel: 'webhook', time: 'week', q: ' invoice ' })).toEqual({
      status: ['pending', 'running'],
      agent,
      channel: 'webhook',
      time: 'week',
      q: 'invoice',
    })
  })

  it('are ignored when invalid', () => {
    const filter = readFilter({ status: 'sleeping,', agent: "'; drop table", channel: 'fax', time: 'never', q: '' })
    expect(isFiltered(filter)).toBe(false)
    expect(jobFilterOf(filter, 0)).toEqual({ status: [], agentId: undefined, channel: undefined, from: undefined, q: undefined })
  })

  it('name a group of statuses in any order', () => {
    expect(groupOf(['awaiting_child', 'running', 'pending'])).toBe('active')
    expect(groupOf(['failed'])).toBe('failed')
    expect(groupOf(['running'])).toBeNull()
    expect(groupOf([])).toBeNull()
  })

  it('have days that begin at midnight in the person’s time zone', () => {
    const now = new Date(2026, 2, 31, 15, 30).getTime()
    const from = (time: 'today' | 'week' | 'month') => new Date(jobFilterOf({ ...readFilter({}), time }, now).from!)
    expect(from('today')).toEqual(new Date(2026, 2, 31))
    expect(from('week')).toEqual(new Date(2026, 2, 25))
    expect(from('month')).toEqual(new Date(2026, 2, 2))
  })

  it('can name one day', () => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    const { from, to } = jobFilterOf(readFilter({ time: '2026-03-29' }), 0)
    expect([new Date(from!), new Date(to!)]).toEqual([new Date(2026, 2, 29), new Date(2026, 2, 30)])
    expect(to! - from!).toBe(23 * 3_600_000)
    for (const time of ['2026-02-30', '2026-13-01', '0026-01-01', '2026-1-1', 'constructor']) expect(readFilter({ time }).time).toBeNull()
  })

  it('count days, not hours, when the clocks change', () => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    const from = (now: Date) => new Date(jobFilterOf({ ...readFilter({}), time: 'week' }, now.getTime()).from!)
    expect(from(new Date(2026, 3, 1, 15, 30))).toEqual(new Date(2026, 2, 26))
    expect(from(new Date(2026, 9, 28, 15, 30))).toEqual(new Date(2026, 9, 22))
  })
})
