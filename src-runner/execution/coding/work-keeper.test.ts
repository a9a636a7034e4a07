import { afterEach, beforeEach, expect, it } from 'vitest'
import { createGit } from '../../platform/git/create-git.ts'
import { silentLog } from '../../lib/log.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { createLivePrograms } from './live-programs.ts'
import { createWorkKeeper } from './work-keeper.ts'

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

it('reads nothing more of the database when the runner stops during the look for what an earlier process left', async () => {
  const homes = Promise.withResolvers<string[]>()
  const forgotten: string[] = []
  const keeper = createWorkKeeper({
    db: rig.db,
    log: silentLog,
    clock: rig.clock,
    programs: createLivePrograms({ clock: rig.clock }),
    git: createGit({ home: rig.folder, clock: rig.clock, listProgramFolders: async () => [], closedFolders: () => [] }),
    codingPrograms: { listHomes: () => homes.promise, listLogins: async () => [], forget: async (jobId) => void forgotten.push(jobId) },
  })
  const recovering = keeper.recover()
  await keeper.stop()
  rig.db.close()
  homes.resolve([rig.ids.next()])
  await recovering
  expect(forgotten).toEqual([])
})
