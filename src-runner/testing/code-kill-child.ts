import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { homedir } from 'node:os'

/**
 * A process that does `argv[4]` with the code task of the job `argv[5]`, and kills itself before its n-th change of a file or folder
 * (`argv[6]`). The database is `argv[2]`, the folder of the worktrees `argv[3]`. It ends normally if there are fewer, and prints how many
 * there were, and the task.
 */
const [file, home, what, jobId, nth] = process.argv.slice(2) as [string, string, string, string, string]
let changes = -Infinity

function killBefore<F extends (...given: never[]) => unknown>(change: F): F {
  return function (this: unknown, ...given) {
    if (++changes === Number(nth)) process.kill(process.pid, 'SIGKILL')
    return change.apply(this, given)
  } as F
}

for (const name of ['mkdir', 'rename', 'unlink', 'rmdir', 'rm', 'symlink', 'writeFile', 'chmod', 'copyFile'] as const)
  Object.assign(fs, { [name]: killBefore(fs[name] as () => unknown) })
syncBuiltinESMExports()

const { openDatabase } = await import('../platform/db/open-database.ts')
const { createGit } = await import('../platform/git/create-git.ts')
const { listProgramFolders } = await import('../platform/programs/program-folders.ts')
const { systemClock: clock } = await import('../lib/clock.ts')
const { silentLog: log } = await import('../lib/log.ts')
const { getCodeTask } = await import('../domain/code-tasks/code-tasks.ts')
const { createCodeResults } = await import('../execution/coding/code-results.ts')
const { createCodingProgramFinder } = await import('../execution/coding/coding-program-finder.ts')
const { createLivePrograms } = await import('../execution/coding/live-programs.ts')
const { createWorkKeeper } = await import('../execution/coding/work-keeper.ts')

const db = openDatabase({ file, clock, keepsBallast: false })
const places = { listProgramFolders, closedFolders: () => [home] }
const git = createGit({ home, clock, ...places })
const codingPrograms = createCodingProgramFinder({ clock, dataDir: home, home: homedir(), ...places })
const keeper = createWorkKeeper({ db, git, clock, log, programs: createLivePrograms({ clock }), codingPrograms })
const results = createCodeResults({ db, git, clock, keeper })
const WAYS: Record<string, () => Promise<unknown>> = {
  apply: () => results.apply(jobId),
  removeFolder: () => results.removeFolder(jobId),
  discard: () => results.discard(jobId),
  /** What the next start does. */
  recover: () => keeper.recover(),
}
changes = 0
await WAYS[what]!()
await keeper.stop()
process.stdout.write(JSON.stringify({ changes, task: getCodeTask(db, jobId) }))
db.close()
