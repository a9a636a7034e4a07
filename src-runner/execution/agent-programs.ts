import { createUserToolchain, systemPrograms, type UserToolchain } from '../platform/programs/user-toolchain.ts'
import type { Services } from '../platform/services.ts'
import type { Settings } from '../contract/settings.ts'
import type { Clock } from '../lib/clock.ts'
import { listAgentFolders } from '../domain/agents/agents.ts'
import type { FoundPrograms } from './health-checks.ts'

export type AgentProgramsDeps = Pick<Services, 'db' | 'log'> & {
  clock: Pick<Clock, 'sleep'>
  dataDir: string
  settings: () => Pick<Settings, 'ownPrograms'>
  listProgramFolders: () => Promise<readonly string[]>
}

/** Large folders of programs take a second or two, on a busy machine more. A job that waits longer starts without the list. */
const FIRST_SCAN_MS = 30_000

/** The system's programs, and the person's own if the settings allow it. */
export function createAgentPrograms({ db, clock, log, dataDir, settings, listProgramFolders }: AgentProgramsDeps) {
  const own = createUserToolchain({ listFolders: listProgramFolders, dataDir, writable: () => listAgentFolders(db) })
  let names: readonly string[] = []
  const scanned = Promise.withResolvers<void>()
  let isScanned = false

  // Windows has no sandbox.
  const isOn = () => settings().ownPrograms && process.platform !== 'win32'
  /** The programs for a command. `closed`: what its agent may not see. */
  const find = async (closed: readonly string[]) => (isOn() ? own.find(closed) : systemPrograms())

  async function findAll(): Promise<UserToolchain> {
    const programs = await find([])
    names = await own.names(programs)
    return programs
  }

  async function logFailure(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      log.warn({ error }, "could not read the person's program folders")
    }
  }

  const stopListening = db.onEvents((event) => {
    if (event.type === 'settings.changed' && event.payload.keys.includes('ownPrograms')) void logFailure(findAll)
  })

  return {
    find,
    /** The person's own, whatever the settings say: for programs that a person has chosen. */
    findOwn: own.find,
    /** Well-known programs, as of the last scan. */
    names: () => names,
    /** Resolves when the first scan is over, after `FIRST_SCAN_MS` at the latest. */
    async waitForScan(signal: AbortSignal): Promise<void> {
      if (isScanned) return
      const over = new AbortController()
      const late = clock.sleep(FIRST_SCAN_MS, AbortSignal.any([signal, over.signal]))
      await Promise.race([scanned.promise, late.catch(() => {})])
      over.abort()
    },
    /** Looks for programs again, and logs the folders. */
    async scan(): Promise<void> {
      await logFailure(async () => {
        const { used, leftOut } = await findAll()
        if (isOn()) log.info({ used, leftOut }, "read the person's program folders")
      })
      isScanned = true
      scanned.resolve()
    },
    async examine(): Promise<FoundPrograms> {
      const { used, leftOut } = await findAll()
      return { names, used, leftOut, isOn: isOn() }
    },
    close: stopListening,
  }
}
