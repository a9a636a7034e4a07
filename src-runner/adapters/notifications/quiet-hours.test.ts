import { describe, expect, it } from 'vitest'
import { isQuiet } from './quiet-hours.ts'

const night = { from: '22:00', until: '07:00' }

describe('quiet hours', () => {
  it.each([
    ['21:59', false],
    ['22:00', true],
    ['23:59', true],
    ['00:00', true],
    ['06:59', true],
    ['07:00', false],
    ['12:00', false],
  ])('from 22:00 until 07:00 hold at %s: %s', (time, quiet) => {
    expect(isQuiet(night, Date.parse(`2026-11-20T${time}:00Z`), 'UTC')).toBe(quiet)
  })

  it.each([
    ['11:59', false],
    ['12:00', true],
    ['12:59', true],
    ['13:00', false],
  ])('from 12:00 until 13:00 hold at %s: %s', (time, quiet) => {
    expect(isQuiet({ from: '12:00', until: '13:00' }, Date.parse(`2026-11-20T${time}:00Z`), 'UTC')).toBe(quiet)
  })

  it('follow the local time zone', () => {
    const at = Date.parse('2026-11-20T21:30:00Z')
    expect(isQuiet(night, at, 'Europe/Berlin')).toBe(true)
    expect(isQuiet(night, at, 'Europe/London')).toBe(false)
    expect(isQuiet(night, at, 'Asia/Kathmandu')).toBe(true)
  })

  it('follow daylight saving time, both ways', () => {
    const short = { from: '02:00', until: '03:00' }
    // On 29 March 2026 Berlin skips from 02:00 to 03:00.
    for (const time of ['00:59', '01:00', '01:59'])
      expect(isQuiet(short, Date.parse(`2026-03-29T${time}:00Z`), 'Europe/Berlin')).toBe(false)
    // On 25 October 2026 the hour from 02:00 is repeated.
    for (const time of ['00:00', '00:59', '01:00', '01:59'])
      expect(isQuiet(short, Date.parse(`2026-10-25T${time}:00Z`), 'Europe/Berlin')).toBe(true)
    for (const time of ['23:59', '02:00'])
      expect(isQuiet(short, Date.parse(`2026-10-${time === '23:59' ? 24 : 25}T${time}:00Z`), 'Europe/Berlin')).toBe(false)
  })

  it('are off if they are not set or empty', () => {
    expect(isQuiet(null, 0, 'UTC')).toBe(false)
    expect(isQuiet({ from: '00:00', until: '00:00' }, 0, 'UTC')).toBe(false)
  })
})
