import { afterEach, beforeEach, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { createGit } from '../../platform/git/create-git.ts'
import { findCodingTurn, insertCodeTask } from '../../domain/code-tasks/code-tasks.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { createLivePrograms } from './live-programs.ts'
import { createWorkKeeper, type WorkKeeperDeps } from './work-keeper.ts'

let rig: DomainRig
let agentId: string
beforeEach(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Coder').id
})
afterEach(() => rig.close())

function keeperWith(codingPrograms: Partial<WorkKeeperDeps['codingPrograms']>) {
  return createWorkKeeper({
    db: rig.db,
    log: rig.db.log,
    clock: rig.clock,
    programs: createLivePrograms({ clock: rig.clock }),
    git: createGit({ home: rig.folder, clock: rig.clock, listProgramFolders: async () => [], closedFolders: () => [] }),
    codingPrograms: { listHomes: async () => [], listLogins: async () => [], forget: async () => {}, ...codingPrograms },
  })
}

it('reads nothing more of the database when the runner stops during the look for what an earlier process left', async () => {
  const homes = Promise.withResolvers<string[]>()
  const forgotten: string[] = []
  const keeper = keeperWith({ listHomes: () => homes.promise, forget: async (jobId) => void forgotten.push(jobId) })
  const recovering = keeper.recover()
  await keeper.stop()
  rig.db.close()
  homes.resolve([rig.ids.next()])
  await recovering
  expect(forgotten).toEqual([])
})

it('saves the work of a task, and deletes other homes at the start, even if the home of its program cannot be deleted', async () => {
  const { id } = transact(rig.db, (tx) => {
    const job = rig.store.enqueue(tx, { agentId, channel: 'chat', task: 'Build it' })
    const commit = 'c'.repeat(40)
    insertCodeTask(tx, job.id, { cli: 'gemini', repository: '/shop', branch: 'b', baseCommit: commit, baseBranch: null, internet: false })
    return job
  })
  const forgotten: string[] = []
  const keeper = keeperWith({
    listHomes: async () => [id, 'gone'],
    async forget(jobId) {
      if (jobId === id) throw new Error('EACCES: permission denied')
      forgotten.push(jobId)
    },
  })
  transact(rig.db, (tx) => rig.store.cancel(tx, id))
  await keeper.recover()
  await keeper.stop()
  expect(findCodingTurn(rig.db, id)).toMatchObject({ savedAt: rig.clock.now() })
  expect(forgotten).toEqual(['gone'])
  expect(rig.logged).toContain('the home of a coding program could not be deleted: EACCES: permission denied')
})
