import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { pruneJobs, START } from '../retention/prune-jobs.sql.ts'
import { changeCodeTask, findCodeTask, findCodingTurn, getCodeTask, insertCodeTask, listCodeTasks } from './code-tasks.ts'

let rig: DomainRig
beforeEach(() => (rig = openDomainRig()))
afterEach(() => rig.close())

const TASK = { cli: 'gemini', repository: '/home/ada/shop', branch: 'deckhand/x', baseCommit: 'a'.repeat(40), baseBranch: 'main' } as const

function addTask(agentId: string): string {
  return transact(rig.db, (tx) => {
    const { id } = rig.store.enqueue(tx, { agentId, channel: 'api', task: 'Fix the till' })
    insertCodeTask(tx, id, { ...TASK, internet: false })
    return id
  })
}

describe('the tasks of coding programs', () => {
  it('belong to jobs, and other jobs have none', () => {
    const { id: agentId } = rig.addAgent('Ada')
    const jobId = addTask(agentId)
    const plain = transact(rig.db, (tx) => rig.store.enqueue(tx, { agentId, channel: 'api', task: 'Look' }))
    expect(getCodeTask(rig.db, jobId)).toMatchObject({ ...TASK, jobId, agentName: 'Ada', title: 'Fix the till', jobStatus: 'pending', files: [], folder: null, result: 'none' }) // prettier-ignore
    expect(findCodeTask(rig.db, plain.id)).toBeNull()
    expect(() => getCodeTask(rig.db, plain.id)).toThrow(expect.objectContaining({ code: 'code_task_not_found' }))
  })

  it('are listed newest first, page by page, of one agent or workspace', () => {
    const [ada, bo] = [rig.addAgent('Ada'), rig.addAgent('Bo')]
    const jobIds = [addTask(ada.id), addTask(ada.id), addTask(bo.id)]
    const first = listCodeTasks(rig.db, { limit: 2 })
    const second = listCodeTasks(rig.db, { limit: 2, cursor: first.nextCursor! })
    expect([...first.codeTasks, ...second.codeTasks].map(({ jobId }) => jobId)).toEqual(jobIds.toReversed())
    expect(second.nextCursor).toBeNull()
    expect(listCodeTasks(rig.db, { limit: 9, agentId: bo.id }).codeTasks.map(({ jobId }) => jobId)).toEqual([jobIds[2]])
    expect(listCodeTasks(rig.db, { limit: 9, entityId: ada.entityId }).codeTasks).toHaveLength(3)
    expect(listCodeTasks(rig.db, { limit: 9, entityId: 'another' }).codeTasks).toEqual([])
  })

  it('change with an event, and keep the conversation with the program to themselves', () => {
    const jobId = addTask(rig.addAgent('Ada').id)
    const events: string[] = []
    rig.db.onEvents(({ type }) => void events.push(type))
    const file = {
      path: 'till.ts',
      change: 'modified',
      from: null,
      additions: 2,
      deletions: 1,
      binary: false,
      runsByItself: false,
    } as const
    transact(rig.db, (tx) => changeCodeTask(tx, jobId, { sessionId: 's1', prompts: 1, result: 'ready', files: [file], fileCount: 1 }))
    expect(events).toEqual(['code_task.changed'])
    expect(findCodingTurn(rig.db, jobId)).toEqual({ sessionId: 's1', prompts: 1, turnEndedAt: null, savedAt: null })
    const task = getCodeTask(rig.db, jobId)
    expect(task).toMatchObject({ result: 'ready', files: [file], fileCount: 1 })
    expect(JSON.stringify(task)).not.toContain('s1')
  })

  it('keep their job until their folder is gone', () => {
    const { id: agentId } = rig.addAgent('Ada')
    const jobIds = [addTask(agentId), addTask(agentId)]
    addTask(agentId)
    for (const jobId of jobIds) transact(rig.db, (tx) => rig.store.cancel(tx, jobId))
    transact(rig.db, (tx) => changeCodeTask(tx, jobIds[0]!, { folder: '/data/code/1' }))
    rig.clock.advance(1000)
    const prune = () => transact(rig.db, (tx) => pruneJobs(tx, { before: rig.clock.now(), now: rig.clock.now(), after: START })).deleted
    expect(prune()).toBe(1)
    expect(findCodeTask(rig.db, jobIds[1]!)).toBeNull()
    transact(rig.db, (tx) => changeCodeTask(tx, jobIds[0]!, { folder: null, folderRemovedAt: rig.clock.now() }))
    expect(prune()).toBe(1)
    expect(findCodeTask(rig.db, jobIds[0]!)).toBeNull()
  })
})
