import { afterEach, expect, it } from 'vitest'
import { AWAY_MS, awaySince, markBack, notePresence } from './presence.ts'

const NOW = 1_700_000_000_000

afterEach(() => markBack(NOW))

it('somebody who uses the window now and then is not away', () => {
  markBack(NOW)
  notePresence(NOW + AWAY_MS - 1)
  expect(awaySince(NOW + 2 * AWAY_MS - 2)).toBeNull()
})

it('somebody who has not used it for long is away since the last use, also after the return', () => {
  markBack(NOW)
  const back = NOW + 2 * AWAY_MS
  expect(awaySince(back)).toBe(NOW)
  notePresence(back)
  notePresence(back + 60_000)
  expect(awaySince(back + 120_000)).toBe(NOW)
  // Away once more, and the first time is still unseen.
  notePresence(back + 3 * AWAY_MS)
  expect(awaySince(back + 3 * AWAY_MS)).toBe(NOW)
  markBack(back + 4 * AWAY_MS)
  expect(awaySince(back + 4 * AWAY_MS)).toBeNull()
})

it('setting the clock back makes nobody away', () => {
  markBack(NOW)
  notePresence(NOW - 10 * AWAY_MS)
  expect(awaySince(NOW - 10 * AWAY_MS)).toBeNull()
})

it('invalid stored values are ignored', () => {
  for (const stored of ['', 'null', '{"at":"x"}', '[', '{"at":1,"awayFrom":"y"}']) {
    localStorage.setItem('deckhand.presence', stored)
    expect(() => notePresence(NOW)).not.toThrow()
  }
})
