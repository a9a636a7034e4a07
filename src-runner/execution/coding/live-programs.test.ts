import { describe, expect, it } from 'vitest'
import { createHandClock } from '../../testing/hand-clock.ts'
import type { LiveCoding } from './live-coding.ts'
import { createLivePrograms } from './live-programs.ts'

const HALF_AN_HOUR_MS = 30 * 60_000

/** A program that notes when it is told to end, and ends when the test says so. */
function makeProgram() {
  const [gone, stopped] = [Promise.withResolvers<void>(), { is: false }]
  const session = {
    ended: gone.promise,
    stop: () => {
      stopped.is = true
      return gone.promise
    },
  }
  return { live: { session, turn: null } as unknown as LiveCoding, exit: () => gone.resolve(), isStopped: () => stopped.is }
}

function open() {
  const clock = createHandClock()
  return { clock, programs: createLivePrograms({ clock }) }
}

describe('programs that wait for a person', () => {
  it('are four at most: a fifth ends the one that has waited longest', () => {
    const { programs } = open()
    const made = [1, 2, 3, 4, 5].map(() => makeProgram())
    for (const [at, { live }] of made.slice(0, 4).entries()) programs.park(`job ${at}`, live)
    expect(made.map(({ isStopped }) => isStopped())).toEqual([false, false, false, false, false])
    programs.park('job 4', made[4]!.live)
    expect(made.map(({ isStopped }) => isStopped())).toEqual([true, false, false, false, false])
    expect(programs.take('job 0')).toBeNull()
    expect(programs.take('job 1')).toBe(made[1]!.live)
  })

  it('end after half an hour, unless their job went on', () => {
    const { clock, programs } = open()
    const [stays, goesOn] = [makeProgram(), makeProgram()]
    programs.park('stays', stays.live)
    programs.park('goes on', goesOn.live)
    clock.advance(HALF_AN_HOUR_MS - 1)
    expect([stays.isStopped(), programs.take('goes on')]).toEqual([false, goesOn.live])
    clock.advance(1)
    expect([stays.isStopped(), goesOn.isStopped()]).toEqual([true, false])
    expect(programs.take('stays')).toBeNull()
  })

  it('are forgotten when they end by themselves', async () => {
    const { programs } = open()
    const program = makeProgram()
    programs.park('job', program.live)
    program.exit()
    await program.live.session.ended
    expect(programs.take('job')).toBeNull()
  })
})

it('is over for a job only when its attempt and its program have ended', async () => {
  const { programs } = open()
  const [program, attempt] = [makeProgram(), Promise.withResolvers<void>()]
  const order: string[] = []
  void programs.during('job', attempt.promise)
  programs.park('job', program.live)
  const over = programs.endOf('job').then(() => order.push('over'))
  expect(program.isStopped()).toBe(true)
  order.push('attempt')
  attempt.resolve()
  await Promise.resolve()
  order.push('program')
  program.exit()
  await over
  expect(order).toEqual(['attempt', 'program', 'over'])
})
