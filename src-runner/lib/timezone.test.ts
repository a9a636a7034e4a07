import { expect, it } from 'vitest'
import { createHandClock } from '../testing/hand-clock.ts'
import { createMachineTimezone } from './timezone.ts'

it.each<[(string | undefined)[], string]>([
  [['Europe/Berlin', 'America/New_York'], 'Europe/Berlin'],
  [[undefined, 'America/New_York'], 'America/New_York'],
  [['Etc/UTC'], 'UTC'],
  [['Etc/Unknown'], 'UTC'],
  [['posix/../nowhere', undefined], 'UTC'],
  [[], 'UTC'],
])('of a machine that names %j is %s', (names, expected) => {
  expect(createMachineTimezone(createHandClock(), () => names)()).toBe(expected)
})

it('is read again after a minute', () => {
  const clock = createHandClock()
  let name = 'Europe/Berlin'
  const timezone = createMachineTimezone(clock, () => [name])
  expect(timezone()).toBe('Europe/Berlin')
  name = 'America/New_York'
  expect(timezone()).toBe('Europe/Berlin')
  clock.advance(60_000)
  expect(timezone()).toBe('America/New_York')
})

it('of this machine is one that can be used', () => {
  const timezone = createMachineTimezone(createHandClock())()
  expect(new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone).toBe(timezone)
})
