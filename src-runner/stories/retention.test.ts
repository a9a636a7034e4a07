import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock } from '../testing/hand-clock.ts'
import { postWebhook } from '../testing/webhook-sender.ts'

const DAY_MS = 86_400_000
const KEEP_ALL = { jobs: null, deliveries: null, contents: null, logs: null }

describe('what is older than its time to keep', () => {
  let runner: TestRunner
  let clock: ReturnType<typeof createHandClock>
  beforeEach(async () => {
    clock = createHandClock()
    runner = await createTestRunner({ clock, machine: { uptimeMs: () => clock.monotonic(), bootId: () => 'one boot' } })
  })
  afterEach(() => runner.stop())

  /** While the runner is off, because it does something every few seconds. The machine was running, so the time is trusted. */
  async function wait(days: number): Promise<void> {
    await runner.runner.stop({ graceMs: 0 })
    clock.advance(days * DAY_MS)
    await runner.restart()
  }

  const keep = (days: Partial<Record<keyof typeof KEEP_ALL, number>>) =>
    runner.client.ok('updateSettings', { body: { retention: { ...KEEP_ALL, ...days } } })
  const retained = (kind: keyof typeof KEEP_ALL, days?: number) => runner.client.ok('getRetained', { query: { kind, days } })
  async function deleteNow(kind: keyof typeof KEEP_ALL): Promise<void> {
    await runner.client.ok('deleteDue', { body: { kind } })
    await expect.poll(async () => (await retained(kind)).isDeleting).toBe(false)
  }
  const statusOf = async (jobId: string) => (await runner.client.ask('getJob', { params: { jobId } })).status

  async function writeFile(): Promise<{ jobId: string; folder: string }> {
    const folder = runner.makeFolder({ 'notes.md': 'one\n' })
    const agent = await runner.addAgent({ name: `Writer ${folder.slice(-1)}`, folders: [folder], autonomy: 'on_its_own' })
    const args = { path: `${folder.split('/').at(-1)}/notes.md`, content: 'two\n' }
    runner.modelServer.play({ toolCalls: [{ id: 'c1', name: 'write_file', args }] }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Write', agentId: agent.id } })
    await runner.ended(jobId)
    return { jobId, folder }
  }
  const contents = () =>
    readdirSync(join(runner.dataDir, 'files'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

  it('is deleted when Deckhand is idle, and only then', async () => {
    const { jobId } = await writeFile()
    await wait(40)
    const { jobId: young } = await writeFile()
    clock.advance(2 * 3_600_000)
    expect(await statusOf(jobId)).toBe(200)
    expect(await retained('jobs')).toMatchObject({ all: { count: 2 }, due: { count: 0 } })
    expect(await retained('jobs', 30)).toMatchObject({ all: { count: 2 }, due: { count: 1 } })
    await keep({ jobs: 30 })
    clock.advance(2 * 3_600_000)
    await expect.poll(() => statusOf(jobId)).toBe(404)
    expect(await statusOf(young)).toBe(200)
    // The contents that only the deleted job needed are free: the younger one changed the same texts.
    await expect.poll(contents).toBe(2)
  })

  it('is deleted also if Deckhand never runs for an hour', async () => {
    const { jobId } = await writeFile()
    await keep({ jobs: 30 })
    await wait(40)
    await writeFile()
    clock.advance(4 * 60_000)
    expect(await statusOf(jobId)).toBe(200)
    clock.advance(16 * 60_000)
    await expect.poll(() => statusOf(jobId)).toBe(404)
  })

  it('frees earlier contents of files, and says why they cannot be restored', async () => {
    const { jobId, folder } = await writeFile()
    await wait(400)
    await keep({ contents: 365 })
    expect(await retained('contents', 365)).toMatchObject({ all: { count: 2 }, due: { count: 2, bytes: 8 } })
    const fileOf = async () => (await runner.client.ok('listJobFiles', { params: { jobId } })).files[0]!
    expect(await fileOf()).toMatchObject({ undoable: true, whyNoUndo: null })
    await deleteNow('contents')
    expect(contents()).toBe(0)
    expect(await fileOf()).toMatchObject({ undoable: false, whyNoUndo: { code: 'undo_deleted' } })
    const undone = await runner.client.ask('undoFile', {
      params: { jobId },
      body: { path: `${folder.split('/').at(-1)}/notes.md`, force: true },
    })
    expect(undone).toMatchObject({ status: 409, body: { error: 'file_cannot_be_undone' } })
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('two\n')
    expect(await statusOf(jobId)).toBe(200)
  })

  it('keeps the contents that an unfinished job may need', async () => {
    const folder = runner.makeFolder({ 'notes.md': 'one\n' })
    const agent = await runner.addAgent({ folders: [folder], autonomy: 'ask_when_it_matters' })
    runner.modelServer.play(
      { toolCalls: [{ id: 'c1', name: 'write_file', args: { path: 'folder-1/new.md', content: 'new\n' } }] },
      { toolCalls: [{ id: 'c2', name: 'delete_file', args: { path: 'folder-1/notes.md' } }] },
    )
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Tidy', agentId: agent.id } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
    await keep({ contents: 1, jobs: 1 })
    runner.write((tx) => void tx.prepare('UPDATE file_changes SET started_at = 0').run())
    await deleteNow('contents')
    await deleteNow('jobs')
    expect(contents()).toBe(1)
    expect(await statusOf(jobId)).toBe(200)
  })

  it('leaves the inbox of a webhook without its old deliveries, whose jobs stay', async () => {
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['ok'] })
    const { trigger, url } = await runner.client.ok('createTrigger', {
      body: { name: 'Build', agentId: agent.id, taskTemplate: 'Look at {a}' },
    })
    const { body } = await postWebhook(url, { body: { a: 1 } })
    const jobId = body.jobId!
    await runner.ended(jobId)
    const inbox = async () => (await runner.client.ok('listDeliveries', { params: { triggerId: trigger.id } })).deliveries.length
    expect(await inbox()).toBe(1)
    await wait(100)
    await keep({ deliveries: 90 })
    expect(await retained('deliveries', 90)).toMatchObject({ all: { count: 1 }, due: { count: 1 } })
    await deleteNow('deliveries')
    expect([await inbox(), await statusOf(jobId)]).toEqual([0, 200])
  })

  it('deletes old logs and crash reports, and nothing else in their folder', async () => {
    const logs = join(runner.dataDir, 'logs')
    mkdirSync(join(logs, 'crashes'), { recursive: true })
    const old = ['20260101-0901-01-runner.log', 'crashes/crash-2026-01-01T00-00-00-000Z.json']
    const others = ['runner.log', '20260101-notes.txt', 'crashes/mine.json']
    for (const name of [...old, ...others]) {
      writeFileSync(join(logs, name), 'x')
      utimesSync(join(logs, name), 1, 1)
    }
    await keep({ logs: 90 })
    expect(await retained('logs', 90)).toMatchObject({ due: { count: 2, bytes: 2 } })
    await deleteNow('logs')
    expect([...old, ...others].filter((name) => existsSync(join(logs, name)))).toEqual(others)
  })

  it('is not deleted by a clock that is years ahead', async () => {
    const { jobId } = await writeFile()
    await writeFile()
    await keep({ jobs: 30, contents: 30 })
    clock.jump(3 * 365 * DAY_MS)
    clock.advance(60_000)
    await deleteNow('jobs')
    expect([await statusOf(jobId), contents()]).toEqual([200, 2])
  })
})
