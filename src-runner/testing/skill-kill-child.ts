import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

/**
 * A process that does `argv[3]` with a skill in the data folder `argv[2]`, from the source `argv[4]`, and kills itself before its n-th
 * change of a file (`argv[5]`). It ends normally if there are fewer, and prints how many there were.
 */
const [dataDir, what, source, nth] = process.argv.slice(2) as [string, string, string, string]
let changes = -Infinity

function killBefore<F extends (...given: never[]) => unknown>(change: F): F {
  return function (this: unknown, ...given) {
    if (++changes === Number(nth)) process.kill(process.pid, 'SIGKILL')
    return change.apply(this, given)
  } as F
}

for (const name of ['mkdir', 'open', 'rename', 'rm'] as const) Object.assign(promises, { [name]: killBefore(promises[name]) })
Object.assign(fs, { fsyncSync: killBefore(fs.fsyncSync) })
syncBuiltinESMExports()

const { createGuardedFetch } = await import('../platform/net/guarded-fetch.ts')
const { openDatabase } = await import('../platform/db/open-database.ts')
const { systemClock } = await import('../lib/clock.ts')
const { createIds } = await import('../lib/ids.ts')
const { silentLog } = await import('../lib/log.ts')
const { createSkillFolders } = await import('../domain/skills/skill-folders.ts')
const { listSkills } = await import('../domain/skills/skills.ts')
const { createSkillInstaller } = await import('../adapters/skills/skill-installer.ts')

const db = openDatabase({ file: `${dataDir}/deckhand.db`, clock: systemClock, keepsBallast: false })
const installer = createSkillInstaller({
  db,
  clock: systemClock,
  ids: createIds(Date.now),
  log: silentLog,
  dataDir,
  fetch: createGuardedFetch(),
  skillFolders: createSkillFolders(`${dataDir}/skills`),
})
const skill = () => listSkills(db)[0]!
const WAYS: Record<string, () => Promise<unknown>> = {
  install: () => installer.install({ source }),
  update: () => installer.update(skill, { allows: true }),
  save: async () => {
    const { digest, files } = await installer.readFiles(skill().id)
    const edited = files.map(({ path, text }) => ({ path, text: `${text}Changed.\n` }))
    return installer.save(skill().id, { expectedDigest: digest, files: [...edited, { path: 'scripts/new.sh', text: '#!/bin/sh\n' }] })
  },
  remove: () => installer.uninstall(skill),
}
changes = 0
await WAYS[what]!()
process.stdout.write(String(changes))
db.close()
