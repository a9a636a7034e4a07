import type { Database } from '../base/db/database.ts'
import type { readLoginPath } from '../base/programs/login-path.ts'
import { createOwnPrograms, systemPrograms, type OwnPrograms } from '../base/programs/own-programs.ts'
import type { Settings } from '../contract/settings.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { listAgentFolders } from '../records/agents/agents.ts'
import type { FoundPrograms } from './doctor.ts'

export type AgentProgramsDeps = {
  db: Database
  clock: Pick<Clock, 'sleep'>
  log: Log
  dataDir: string
  settings: () => Pick<Settings, 'ownPrograms'>
  readPath: typeof readLoginPath
}

export type AgentPrograms = {
  /** Which programs a command has now. `closed`: what its agent may not see. */
  find(closed: readonly string[]): Promise<OwnPrograms>
  /** Well-known ones, as they were last seen: empty until somebody has looked. */
  names(): readonly string[]
  /** Resolves when the first look has ended or failed, after `FIRST_LOOK_MS` at the latest. */
  firstLook(signal: AbortSignal): Promise<void>
  /** Asks the person's shell where their programs are. */
  lookAgain(): Promise<void>
  examine(): Promise<FoundPrograms>
  close(): void
}

/** Shells with many start-up files take a second or two. A job does not wait longer, and is then told of no programs. */
const FIRST_LOOK_MS = 5_000

/** The programs that agents may run: the system's, and those of the person as long as the person wants that. */
export function createAgentPrograms({ db, clock, log, dataDir, settings, readPath }: AgentProgramsDeps): AgentPrograms {
  const over = new AbortController()
  const own = createOwnPrograms({ readPath, signal: over.signal, dataDir, writable: () => listAgentFolders(db) })
  let names: readonly string[] = []
  const looked = Promise.withResolvers<void>()

  // Windows has no box, and its programs are found in folders of the system.
  const isOn = () => settings().ownPrograms && process.platform !== 'win32'
  const find = async (closed: readonly string[]) => (isOn() ? own.find(closed) : systemPrograms())

  async function see(): Promise<OwnPrograms> {
    const programs = await find([])
    names = await own.names(programs)
    return programs
  }

  async function quietly(look: () => Promise<void>): Promise<void> {
    try {
      await look()
    } catch (error) {
      if (!over.signal.aborted) log.warn({ error }, "the person's programs could not be looked at")
    }
  }

  const stopListening = db.onEvents((event) => {
    if (event.type === 'settings.changed' && event.payload.keys.includes('ownPrograms')) void quietly(async () => void (await see()))
  })

  return {
    find,
    names: () => names,
    async firstLook(signal) {
      const over = new AbortController()
      const late = clock.sleep(FIRST_LOOK_MS, AbortSignal.any([signal, over.signal]))
      await Promise.race([looked.promise, late.catch(() => {})])
      over.abort()
    },
    async lookAgain() {
      await quietly(async () => {
        const login = isOn() ? await own.refresh() : null
        const { used, leftOut } = await see()
        if (login !== null) log.info({ shell: login.shell, problem: login.problem, used, leftOut }, "the person's programs were looked for")
      })
      looked.resolve()
    },
    async examine() {
      const on = isOn()
      const [{ used, leftOut }, login] = await Promise.all([see(), on ? own.login() : null])
      const unasked = login === null || login.problem === null ? null : { shell: login.shell, agentsWrite: login.agentsWrite === true }
      return { names, used, leftOut, isOn: on, unasked }
    },
    close() {
      stopListening()
      over.abort()
    },
  }
}
