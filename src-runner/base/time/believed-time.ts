import type { Clock } from '../../kit/clock.ts'
import type { Database } from '../db/database.ts'
import type { Tx } from '../db/transact.ts'
import type { MachineTime } from './machine-time.ts'

/**
 * The clock of a machine may be wrong by years, and nobody tells. What it shows is believed as far as running time explains
 * it. What a jump adds, forward or back, is believed when the clock has stood there for a day of running time; until then
 * time goes on from where it was. A clock that is set right before that is believed at once.
 *
 * That needs no knowledge of which of two clocks was right. It asks for a day's delay of those for whom a jump was the truth.
 */
export type BelievedTimes = {
  /**
   * The day and month that money belongs to. While the machine was off any time may have passed, and a person who comes
   * back finds a new day. Only a clock that was set for certain opens no new one.
   */
  readonly money: Now
  /** For whatever is forgotten by its age: never later than the clock, and never later than what is believed. */
  readonly age: Now
  /** What moments are compared with that were promised to a person: `notice` says by how much those are to be moved. */
  readonly deadlines: Now
  /**
   * To be called often. Answers by how many milliseconds the clock was set since the last time, or was ahead of what the
   * machine can have been off: deadlines are to be moved by this in the same transaction, so that what is left of them stays.
   * Times are told anew after its commit.
   */
  notice(tx: Tx): number
}

type Now = Pick<Clock, 'now'>

/** Less than this between clock and running time is their drift, or a clock that is being steered. */
const NOTICED_MS = 60_000
const DAY_MS = 86_400_000
/** Running time for which a clock has to stand before it is believed. */
const BELIEVED_AFTER_MS = DAY_MS
/** A clock that two systems of one machine keep in different zones is set by some hours, forward or back, at every start. */
const MOST_SET_AT_START_MS = DAY_MS
/** A clock that is wrong at its start hides how long the machine was off before. */
const MOST_HIDDEN_MS = 31 * DAY_MS
/**
 * After a crash the running time of the same boot explains what passed since. After a reboot these minutes count as time that
 * the machine was off.
 */
const WRITTEN_EVERY_MS = 900_000

/** Time as it is believed to pass. Whole milliseconds. */
export type Line = {
  /** The moment that was believed when the clock was last looked at. */
  at: number
  /** What the clock showed beyond that, and nobody believes yet; below 0: it was behind. */
  aheadMs: number
  /** For so long it has run since. */
  stoodMs: number
  /** 1: the doubt is from a start of the machine, so when the clock is set right some time has passed. */
  wasOff: 0 | 1
  /** Where the running time was then. Of another boot it says nothing. */
  elapsedMs: number
  boot: string
}

/** `isStarting`: the machine was turned on a moment ago. */
export type Sight = { wall: number; elapsedMs: number; boot: string; isStarting: boolean }

/** How long a machine may have been off for the clock to be believed at its start. */
const MOST_OFF_MS = { age: DAY_MS, money: Infinity }
type LineName = keyof typeof MOST_OFF_MS
const NAMES = ['age', 'money'] as const

/** The line at another look, and by how much the clock was set in between. */
export function follow(line: Line, { wall, elapsedMs, boot, isStarting }: Sight, mostOffMs: number): { line: Line; setMs: number } {
  // A container that was started again has the boot of its machine and a running time of its own.
  const isSameBoot = boot === line.boot && elapsedMs >= line.elapsedMs
  const at = line.at + (isSameBoot ? elapsedMs - line.elapsedMs : 0)
  const mostUnexplained = isSameBoot && !isStarting ? NOTICED_MS : Math.max(mostOffMs, NOTICED_MS)
  const unexplained = wall - at - line.aheadMs
  if (unexplained >= (isStarting ? -MOST_SET_AT_START_MS : -NOTICED_MS) && unexplained <= mostUnexplained) {
    const stoodMs = line.stoodMs + at - line.at
    const isBelieved = line.aheadMs === 0 || stoodMs >= BELIEVED_AFTER_MS
    if (isBelieved) return { line: believed({ wall, elapsedMs, boot }), setMs: 0 }
    return { line: { ...line, at: wall - line.aheadMs, stoodMs, elapsedMs, boot }, setMs: 0 }
  }
  const aheadMs = wall - at
  const wasOff = isSameBoot ? line.wasOff : 1
  const mostLate = wasOff === 1 ? Math.min(mostOffMs, MOST_HIDDEN_MS) : NOTICED_MS
  if (line.aheadMs !== 0 && aheadMs >= -NOTICED_MS && aheadMs <= mostLate) {
    return { line: believed({ wall, elapsedMs, boot }), setMs: -line.aheadMs }
  }
  // Where sleep is not counted as running time, the doubt of one night must not be renewed by that of the next for ever.
  const stoodMs = line.aheadMs === 0 || Math.abs(unexplained) > DAY_MS ? 0 : line.stoodMs
  return { line: { at, aheadMs, stoodMs, wasOff, elapsedMs, boot }, setMs: unexplained }
}

function believed({ wall, elapsedMs, boot }: Pick<Sight, 'wall' | 'elapsedMs' | 'boot'>): Line {
  return { at: wall, aheadMs: 0, stoodMs: 0, wasOff: 0, elapsedMs, boot }
}

export function createBelievedTimes({ db, clock, time }: { db: Database; clock: Now; time: MachineTime }): BelievedTimes {
  const look = (): Sight => ({
    wall: clock.now(),
    elapsedMs: Math.floor(time.elapsed()),
    boot: time.boot,
    isStarting: time.isStarting?.() ?? false,
  })
  let lines = readLines(db)
  let writtenAt = -Infinity
  const followed = (name: LineName, sight: Sight) => follow(lines[name], sight, MOST_OFF_MS[name])

  return {
    money: { now: () => followed('money', look()).line.at },
    age: {
      now() {
        const sight = look()
        return Math.min(sight.wall, followed('age', sight).line.at)
      },
    },
    deadlines: {
      now() {
        const sight = look()
        return sight.wall - followed('age', sight).setMs
      },
    },
    notice(tx) {
      const sight = look()
      const [age, money] = [followed('age', sight), followed('money', sight)]
      const next = { age: age.line, money: money.line }
      const isNews = NAMES.some((name) => next[name].aheadMs !== lines[name].aheadMs || next[name].boot !== lines[name].boot)
      const isWritten = isNews || sight.elapsedMs - writtenAt >= WRITTEN_EVERY_MS
      if (isWritten) for (const name of NAMES) writeLine(tx, name, next[name])
      tx.afterCommit(() => {
        lines = next
        if (isWritten) writtenAt = sight.elapsedMs
      })
      return age.setMs
    },
  }
}

const SELECT_LINE = `SELECT at, ahead_ms AS aheadMs, stood_ms AS stoodMs, was_off AS wasOff, elapsed_ms AS elapsedMs, boot
  FROM believed_times WHERE line = ?`
const WRITE_LINE = 'UPDATE believed_times SET at = ?, ahead_ms = ?, stood_ms = ?, was_off = ?, elapsed_ms = ?, boot = ? WHERE line = ?'

/** The newest event says nothing here: it is dated by the clock, and a clock may have been wrong for that one moment. */
function readLines(db: Database): Record<LineName, Line> {
  const select = db.prepare<Line>(SELECT_LINE)
  return { age: select.get('age')!, money: select.get('money')! }
}

function writeLine(tx: Tx, name: LineName, { at, aheadMs, stoodMs, wasOff, elapsedMs, boot }: Line): void {
  tx.prepare(WRITE_LINE).run(at, aheadMs, stoodMs, wasOff, elapsedMs, boot, name)
}
