import { expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { createMachineTime, thisMachine } from './machine-time.ts'

/** A machine that can sleep and whose clock can be set. */
function createToyMachine() {
  const state = { running: 5_000, asleep: 100_000, wall: 1_800_000_000_000, reads: 0 }
  return {
    state,
    clock: { now: () => state.wall, monotonic: () => state.running },
    machine: { uptimeMs: () => (state.reads++, state.running + state.asleep), bootId: () => 'boot 1' },
    pass(ms: number) {
      state.running += ms
      state.wall += ms
    },
    sleep(ms: number) {
      state.asleep += ms
      state.wall += ms
    },
  }
}

test('counts time awake and asleep, and ignores a set clock', () => {
  const toy = createToyMachine()
  const time = createMachineTime(toy.clock, toy.machine)
  const start = time.elapsed()
  toy.pass(10_000)
  expect(time.elapsed() - start).toBe(10_000)
  toy.sleep(7_200_000)
  expect(time.elapsed() - start).toBe(7_210_000)
  toy.state.wall -= 86_400_000
  expect(time.elapsed() - start).toBe(7_210_000)
  toy.state.wall += 2 * 86_400_000
  toy.pass(500)
  expect(time.elapsed() - start).toBe(7_210_500)
})

test('asks the system only when there is something to learn', () => {
  const toy = createToyMachine()
  const time = createMachineTime(toy.clock, toy.machine)
  for (let i = 0; i < 1000; i++) {
    toy.pass(20)
    time.elapsed()
  }
  expect(toy.state.reads).toBe(1)
})

test('two processes of one boot tell the same time', () => {
  const [first, second] = [createMachineTime(systemClock, thisMachine), createMachineTime(systemClock, thisMachine)]
  // /proc/uptime is exact to a hundredth of a second, other systems to a second.
  expect(Math.abs(first.elapsed() - second.elapsed())).toBeLessThan(1100)
  if (process.platform === 'linux') expect(first.boot).toBe(second.boot)
})
