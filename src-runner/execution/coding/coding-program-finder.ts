import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeFolder } from '../../platform/programs/remove-folder.ts'
import { CodingCli } from '../../contract/coding-programs.ts'
import type { Clock } from '../../lib/clock.ts'
import { findSignIn, isLogin, listLogins, outsideEnvironment, prepareCodingHome, runsInSandbox } from '../../agent/coding/coding-home.ts'
import { findCodingProgram } from '../../agent/coding/coding-ways.ts'

/** A program as it would be started now. */
export type ReadyProgram = {
  /** Absolute. */
  program: string
  /** Its sign-in can be shown to it in the sandbox. */
  runsInSandbox: boolean
  /** What it gets for this job. `secrets`: values that must not be stored. */
  makeHome(jobId: string, sandboxed: boolean): Promise<{ env: Record<string, string>; writable: string[]; secrets: string[] }>
}

export type CodingProgramFinder = {
  /** null: it is not installed. */
  find(cli: CodingCli): Promise<ReadyProgram | null>
  /** As of the last look. */
  installed(): readonly CodingCli[]
  /** Looks again, if the last look is not recent. */
  look(): Promise<void>
  /** The logins that programs got since the start, and those that are there now. */
  listLogins(): Promise<string[]>
  /** Deletes what a program kept for itself, and its login. */
  forget(jobId: string): Promise<void>
  /** The jobs with something to forget. */
  listHomes(): Promise<string[]>
}

type Deps = {
  clock: Pick<Clock, 'now' | 'monotonic'>
  dataDir: string
  home: string
  listProgramFolders: () => Promise<readonly string[]>
  /** Where agents write. A program there is never the person's. */
  closedFolders: () => readonly string[]
}

const LOOK_EVERY_MS = 60_000
const HOME = '.home'

export function createCodingProgramFinder({ clock, dataDir, home, listProgramFolders, closedFolders }: Deps): CodingProgramFinder {
  const homes = join(dataDir, 'code')
  const homeOf = (jobId: string) => join(homes, jobId + HOME)
  const { env, platform } = process
  const person = { home, env, platform, now: () => clock.now() }
  const given = new Set<string>()
  let installed: readonly CodingCli[] = []
  let lookedAt = -Infinity
  const places = async () => ({ folders: await listProgramFolders(), closed: closedFolders() })
  return {
    installed: () => installed,
    async look() {
      if (clock.monotonic() - lookedAt < LOOK_EVERY_MS) return
      lookedAt = clock.monotonic()
      const where = await places()
      installed = CodingCli.options.filter((cli) => findCodingProgram(cli, where) !== null)
    },
    async find(cli) {
      const program = findCodingProgram(cli, await places())
      if (program === null) return null
      return {
        program,
        runsInSandbox: runsInSandbox(await findSignIn(cli, person)),
        async makeHome(jobId, sandboxed) {
          const folder = homeOf(jobId)
          const made = sandboxed ? await prepareCodingHome(cli, folder, person) : outsideEnvironment(cli, env)
          for (const secret of made.secrets.filter(isLogin)) given.add(secret)
          return { ...made, writable: sandboxed ? [folder] : [] }
        },
      }
    },
    listLogins: async () => [...new Set([...given, ...(await listLogins(person))])],
    forget: (jobId) => removeFolder(homeOf(jobId)),
    async listHomes() {
      const names = await readdir(homes).catch((): string[] => [])
      return names.flatMap((name) => (name.endsWith(HOME) ? name.slice(0, -HOME.length) : []))
    },
  }
}
