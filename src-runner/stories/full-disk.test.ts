import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { transact, type Database } from '../platform/db/database.ts'
import { openDatabase } from '../platform/db/open-database.ts'
import type { DatabaseRefused } from '../platform/db/database-errors.ts'
import { migrate } from '../platform/db/migrate.ts'
import { LATEST_VERSION, MIGRATIONS } from '../platform/db/migrations/migrations.ts'
import { silentLog } from '../lib/log.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock } from '../testing/hand-clock.ts'
import { mountSmallDisk, type SmallDisk } from '../testing/small-disk.ts'

const probe = mountSmallDisk(1)
probe?.remove()
/** `npm run test:long` fills and frees the disk 50 times. */
const CYCLES = Number(process.env['DISK_CYCLES'] ?? 3)
const REASON = probe === null ? ' (skipped: this account may not mount a small disk)' : ''

describe.skipIf(probe === null)(`a disk that is really full${REASON}`, () => {
  let disk: SmallDisk
  let db: Database | null = null
  let runner: TestRunner | null = null
  const clock = createHandClock()
  afterEach(async () => {
    await runner?.stop()
    db?.close()
    ;[runner, db] = [null, null]
    disk.remove()
  })

  const fileOf = () => join(disk.folder, 'data', 'deckhand.db')
  const open = () => (db = openDatabase({ file: fileOf(), clock }))
  const sizeOf = (more: string) => statSync(`${fileOf()}${more}`, { throwIfNoEntry: false })?.size ?? 0
  const write = (bytes: number) => transact(db!, (tx) => tx.emit({ type: 'settings.changed', payload: { keys: ['x'.repeat(bytes)] } }))
  const writeUntilFull = () => {
    try {
      for (;;) write(100_000)
    } catch (error) {
      expect(error).toMatchObject({ code: 'disk_full' })
    }
  }

  /**
   * The write-ahead log grows with each commit, the file hardly. SQLite writes only the pages of a row that change: first all of
   * them, which takes few commits, then one, until there is no room for a single page.
   */
  const rewriteUntilFull = () => {
    for (const changed of [1_000_000, 1]) {
      let digit = 0
      const nextName = () =>
        String((digit = (digit + 1) % 10))
          .repeat(changed)
          .padEnd(1_000_000, 'x')
      try {
        for (;;) transact(db!, (tx) => tx.prepare('UPDATE entities SET name = ?').run(nextName()))
      } catch (error) {
        expect(error).toMatchObject({ code: 'disk_full' })
      }
    }
  }

  it('frees its ballast when the disk is full, and sets it aside again later', async () => {
    disk = mountSmallDisk(64)!
    open()
    clock.advance(60_000)
    await expect.poll(() => sizeOf('.ballast')).toBe(16 * 1024 * 1024)
    disk.fill()
    writeUntilFull()
    expect(sizeOf('.ballast')).toBe(0)
    expect(db!.trouble()).toBe('disk_full')
    clock.advance(1000)
    expect(db!.trouble()).toBeNull()
    write(100_000)
    disk.free()
    // The file has its name before the runner has noticed that it is written, and until then no other one is started.
    await expect.poll(() => (clock.advance(60_000), sizeOf('.ballast'))).toBe(16 * 1024 * 1024)
  })

  it('truncates the write-ahead log as soon as there is room and keeps what was accepted, however often the disk was full', async () => {
    disk = mountSmallDisk(32)!
    open()
    let accepted = 0
    for (let round = 0; round < CYCLES; round++) {
      write(100)
      accepted++
      disk.fill(10 * 1024 * 1024)
      rewriteUntilFull()
      expect(sizeOf('-wal')).toBeGreaterThan(15 * 1024 * 1024)
      disk.free()
      clock.advance(1000)
      expect(db!.trouble()).toBeNull()
      await expect.poll(() => (clock.advance(1000), sizeOf('-wal'))).toBe(0)
      expect(sizeOf('')).toBeLessThan(3 * 1024 * 1024)
    }
    expect(await db!.findDamage()).toEqual([])
    db!.close()
    expect(open().prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n).toBe(accepted)
  })

  it('allows a start after a clean stop, and empties a long write-ahead log when there is room', async () => {
    disk = mountSmallDisk(32)!
    open()
    disk.fill(10 * 1024 * 1024)
    rewriteUntilFull()
    db!.close()
    disk.fill()
    open()
    expect(db!.prepare<{ n: number }>('SELECT length(name) AS n FROM entities').get()!.n).toBe(1_000_000)
    disk.free()
    clock.advance(60_000)
    await expect.poll(() => sizeOf('-wal')).toBeLessThan(1024 * 1024)
  })

  it('says at start that the disk is full, and starts when there is room', () => {
    disk = mountSmallDisk(16)!
    open()
    db!.close()
    disk.fill()
    rmSync(`${fileOf()}.ballast`, { force: true })
    disk.fill()
    const started = () => ((db = openDatabase({ file: fileOf(), clock })), 'started')
    const codeOf = (start: () => string) => {
      try {
        return start()
      } catch (error) {
        return (error as DatabaseRefused).code
      }
    }
    expect(codeOf(started)).toBe('disk_full')
    disk.free()
    expect(codeOf(started)).toBe('started')
  })

  it('says at start that nothing may be written, and changes nothing', () => {
    disk = mountSmallDisk(16)!
    open()
    write(1000)
    db!.close()
    db = null
    disk.forbidWriting()
    expect(() => openDatabase({ file: fileOf(), clock })).toThrow(expect.objectContaining({ code: 'read_only' }))
  })

  it('refuses a migration without room for it, and leaves nothing behind', () => {
    disk = mountSmallDisk(16)!
    open()
    for (let n = 0; n < 60; n++) write(100_000)
    disk.fill()
    const next = [...MIGRATIONS, { version: LATEST_VERSION + 1, sql: 'CREATE TABLE berths (id INTEGER PRIMARY KEY) STRICT' }]
    expect(() => migrate(db!.connection, { file: fileOf(), log: silentLog, now: 0 }, next)).toThrow(/needs \d+ MB of free space/)
    expect(readdirSync(join(disk.folder, 'data')).filter((name) => /part|before/.test(name))).toEqual([])
    expect(db!.connection.pragma('user_version', { simple: true })).toBe(LATEST_VERSION)
  })

  it('pauses work, reports it in health, and resumes accepted jobs within five seconds of room', async () => {
    disk = mountSmallDisk(64)!
    const dataDir = join(disk.folder, 'data')
    runner = await createTestRunner({ config: { dataDir }, clock })
    const agent = await runner.addAgent()
    const held = runner.modelServer.holdBefore(0)
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'early', agentId: agent.id } })
    await runner.modelServer.untilReceived(1)
    disk.fill()
    const big = { task: 'x'.repeat(200_000), agentId: agent.id }
    await expect.poll(async () => (await runner!.client.ask('submitTask', { body: big })).status).toBe(503)
    expect(await runner.client.ask('health')).toMatchObject({ status: 503, body: { db: 'disk_full' } })
    held.release()
    disk.free()
    let ended = false
    const done = runner.ended(jobId).then((job) => ((ended = true), job))
    for (let seconds = 0; !ended && seconds < 5; seconds++) {
      clock.advance(1000)
      // Time for one more model call on a busy machine.
      await expect
        .poll(() => ended, { timeout: 3000 })
        .toBe(true)
        .catch(() => {})
    }
    expect(await done).toMatchObject({ status: 'completed' })
    clock.advance(1000)
    expect(await runner.client.ask('health')).toMatchObject({ status: 200 })
  })
  it('loses no accepted job, however often the disk is full, and not by a crash while it is full', async () => {
    disk = mountSmallDisk(48 + 2 * CYCLES)!
    const filler = join(disk.folder, 'filler')
    runner = await createTestRunner({ config: { dataDir: join(disk.folder, 'data') }, clock })
    const agent = await runner.addAgent()
    await runner.client.ok('setPauseAll', { body: { pauseAll: true } })
    const accepted: string[] = []
    const submit = async () => {
      const answer = await runner!.client.ask('submitTask', { body: { task: 'x'.repeat(20_000), agentId: agent.id } })
      if (answer.status === 202) accepted.push((answer.body as { jobId: string }).jobId)
      return answer.status
    }
    const expectKept = async (jobIds: string[]) => {
      for (const jobId of jobIds) expect(await runner!.client.ask('getJob', { params: { jobId } })).toMatchObject({ status: 200 })
    }
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const before = accepted.length
      disk.fill()
      // Room for some jobs, and another amount in each cycle, so that the disk is full at another place of a commit.
      truncateSync(filler, statSync(filler).size - 400_000 - ((cycle * 61_001) % 1_000_000))
      // Several at once share a commit.
      const statuses = new Set<number>()
      while (!statuses.has(503)) for (const status of await Promise.all(Array.from({ length: 4 }, submit))) statuses.add(status)
      expect(statuses).toEqual(new Set([202, 503]))
      await expectKept(accepted.slice(before))
      if (cycle === CYCLES - 1) break
      disk.free()
      clock.advance(1000)
      expect(await runner.client.ask('health')).toMatchObject({ status: 200 })
      await expectKept(accepted.slice(before))
    }
    await runner.restart({ crash: true })
    await expectKept(accepted)
    const db = new Sqlite(join(runner.dataDir, 'deckhand.db'), { readonly: true })
    const kept = db.prepare<[], string>('SELECT id FROM agent_jobs').pluck().all()
    db.close()
    // A refused job is not made.
    expect(kept.toSorted()).toEqual(accepted.toSorted())
  })
})
