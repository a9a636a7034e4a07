import type { CodingSession, CodingSessionOptions, CodingStopReason, CodingLimits, CodingTurn } from './coding-session.ts'
import { namesOf, SET_ASIDE } from '../tools/set-aside-note.ts'
import type { CodingProcess } from './coding-process.ts'
import type { CodingTurns } from './coding-turns.ts'
import { failureOf, silent, type CodingWay } from './coding-ways.ts'

/** What a protocol is given. */
export type OpenWith = Pick<CodingSessionOptions, 'cli' | 'folder' | 'loadSessionId' | 'clock'> & {
  way: CodingWay
  program: CodingProcess
  turns: CodingTurns
  limits: CodingLimits
}

/** What differs between protocols once a session is open. */
type Spoken = {
  /** It may get its name with its first turn. */
  session: { readonly id: string; readonly canLoad: boolean }
  /** Sends the prompt and resolves when the turn is over. */
  ask(text: string): Promise<CodingStopReason>
  /** Asks it to end its turn. */
  interrupt(): void
}

export function createTurnSession({ cli, clock, program, turns, limits }: OpenWith, { session, ask, interrupt }: Spoken): CodingSession {
  let turn: Promise<CodingTurn> | null = null
  let isCancelled = false

  async function run(text: string): Promise<CodingTurn> {
    try {
      const stopReason = await ask(asText(text))
      const setAside = await program.takeSetAside()
      if (setAside.length > 0) turns.text(`\n\n[${SET_ASIDE}\n${namesOf(setAside).join('\n')}\n]`)
      return { stopReason: isCancelled ? 'cancelled' : stopReason, text: turns.end() }
    } catch (thrown) {
      const said = turns.end()
      if (isCancelled) return { stopReason: 'cancelled', text: said }
      throw failureOf(cli, thrown, program.isOver() ? await program.ended : null, program.complaint())
    } finally {
      turn = null
    }
  }

  return {
    get sessionId() {
      return session.id
    },
    get canLoad() {
      return session.canLoad
    },
    ended: program.ended,
    prompt(text, handlers) {
      if (turn !== null) return Promise.reject(new Error('a turn is running'))
      isCancelled = false
      turns.begin(handlers)
      turn = run(text)
      return turn
    },
    resume: (handlers) => (turn !== null && turns.resume(handlers) ? turn : null),
    async cancel() {
      if (turn === null) return
      isCancelled = true
      const over = new AbortController()
      const ended = turn.then(() => true)
      const late = clock.sleep(limits.cancelMs, over.signal).then(
        () => false,
        () => true,
      )
      turns.cancelRequests()
      interrupt()
      if (!(await Promise.race([ended, late]))) await program.end('stopped', 'It did not end its turn.')
      over.abort()
    },
    async stop() {
      await program.end('stopped', 'stopped')
    },
  }
}

/** A task is never a command of the program, such as `/logout`. */
function asText(task: string): string {
  return /^\s*[/!#$]/.test(task) ? `Task:\n${task}` : task
}

/** Rejects with CodingSessionFailed `no_answer` if it takes longer than the program has to start. */
export async function answerInTime<T>({ cli, clock, limits }: OpenWith, answer: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(limits.startMs, over.signal).then(() => Promise.reject(silent(cli, Math.ceil(limits.startMs / 1_000))))
  late.catch(() => {})
  try {
    return await Promise.race([answer, late])
  } finally {
    over.abort()
  }
}
