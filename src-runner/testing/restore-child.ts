import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/**
 * A process that restores the backup `argv[3]` of the database `argv[2]` and kills itself before its n-th change of a file
 * (`argv[4]`). It ends normally if there are fewer.
 */
let left = Number(process.argv[4])

function killBefore<F extends (...given: never[]) => unknown>(change: F): F {
  return function (this: unknown, ...given) {
    if (--left === 0) process.kill(process.pid, 'SIGKILL')
    return change.apply(this, given)
  } as F
}

for (const name of ['writeFileSync', 'copyFileSync', 'renameSync', 'rmSync'] as const) {
  Object.assign(fs, { [name]: killBefore(fs[name]) })
}
syncBuiltinESMExports()

const { replaceDatabase } = await import('../platform/db/replacement.ts')
replaceDatabase(process.argv[2]!, { backup: process.argv[3]! }, 0, () => {
  throw new Error('not asked for')
})
