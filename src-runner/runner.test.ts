import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from './platform/db/database.ts'
import { openDatabase } from './platform/db/open-database.ts'
import type { JobStatus } from './contract/jobs.ts'
import { silentLog, type Log } from './lib/log.ts'
import { createMemoryVault } from './lib/vault.ts'
import { createRunner, type Runner } from './runner.ts'
import { TEST_SECRET } from './testing/create-test-runner.ts'
import { findFreePort } from './testing/free-port.ts'
import { createHandAlarm } from './testing/hand-alarm.ts'
import { createHandClock, type HandClock } from './testing/hand-clock.ts'
import { createRunnerClient } from './testing/runner-client.ts'

describe('the start of a runner', () => {
  let home: string
  let clock: HandClock
  let db: Database | null
  let runner: Runner
  const servers: Server[] = []

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'deckhand-runner-'))
    clock = createHandClock()
    db = null
  })
  afterEach(async () => {
    await runner.stop({ graceMs: 0 })
    for (const server of servers.splice(0)) server.close()
    rmSync(home, { recursive: true, force: true })
  })

  /** `when` is called with each line of the log when it is written. */
  function create({ port = 0, ingressPort = null as number | null, when = (_line: string) => {} } = {}): Runner {
    const write = (_fields: unknown, line: string) => when(line)
    const log: Log = { ...silentLog, info: write, error: write }
    runner = createRunner({
      config: {
        dataDir: home,
        host: '127.0.0.1',
        port,
        authMode: 'local-auth',
        workerSecret: TEST_SECRET,
        logLevel: 'debug',
        origins: [],
        hosts: [],
        safeMode: false,
        ingressPort,
        publicRunnerUrl: null,
      },
      vault: createMemoryVault(),
      clock,
      alarm: createHandAlarm(clock),
      log,
      openDatabase: (options) => (db = openDatabase(options)),
      demoWordMs: 0,
    })
    return runner
  }

  const clientOf = ({ port }: { port: number }) => createRunnerClient(`http://127.0.0.1:${port}`, TEST_SECRET)

  async function listen(port = 0): Promise<number> {
    const server = createServer().listen(port, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  /** A job that waits until pause all is off. */
  async function leaveJob(): Promise<string> {
    const client = clientOf(await create().start())
    const { agent } = await client.ok('createAgent', { body: { name: 'Ada', model: { providerId: 'demo', model: 'demo' } } })
    runner.setPauseAll(true)
    const { jobId } = await client.ok('submitTask', { body: { task: 'Say hello', agentId: agent.id } })
    await runner.stop({ graceMs: 0 })
    return jobId
  }

  function statusInFile(jobId: string): JobStatus {
    const look = openDatabase({ file: join(home, 'deckhand.db'), clock })
    try {
      return look.prepare<{ status: JobStatus }>('SELECT status FROM agent_jobs WHERE id = ?').get(jobId)!.status
    } finally {
      look.close()
    }
  }

  /** From now on this connection finds nothing in the table. The file does not change. */
  function lose(table: string): void {
    db!.connection.exec(`CREATE TEMP TABLE ${table} (lost)`)
  }

  async function expectNothingLeft(ports: number[]): Promise<void> {
    expect(db!.connection.open).toBe(false)
    // A timer that fires once finds the database closed. A repeated one would still be there.
    clock.advance(3_600_000)
    expect(clock.sleepers()).toBe(0)
    // Each port is free.
    for (const port of ports) await listen(port)
  }

  it('leaves nothing running if its port is taken', async () => {
    const port = await listen()
    await expect(create({ port }).start()).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await expectNothingLeft([])
    const address = await create().start()
    expect(await clientOf(address).ask('health')).toMatchObject({ status: 200 })
  })

  it.each([
    { table: 'channels', line: 'the runner is ready', at: 'between the worker and the channels' },
    { table: 'settings', line: 'moved the webhook-only listener', at: 'after the last listener' },
  ])('leaves nothing running if it fails $at, and the next start does the work', async ({ table, line }) => {
    const jobId = await leaveJob()
    const [port, ingressPort] = [await findFreePort(), await findFreePort()]
    const when = (written: string) => {
      if (written === 'the runner is ready') runner.setPauseAll(false)
      if (written === line) lose(table)
    }
    await expect(create({ port, ingressPort, when }).start()).rejects.toThrow('no such column')
    await expectNothingLeft([port, ingressPort])
    expect(statusInFile(jobId)).toBe('pending')
    const client = clientOf(await create().start())
    await expect.poll(async () => (await client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
  })

  it.each([
    ['files', 'a file', (path: string) => writeFileSync(path, 'notes')],
    ['tunnel', 'a file', (path: string) => writeFileSync(path, 'notes')],
    ['files', 'a link to a file', (path: string) => symlinkSync(import.meta.filename, path)],
    ['files', 'a link to nothing', (path: string) => symlinkSync('/nonexistent/files', path)],
  ])('changes nothing if, in place of its folder %s, there is %s', async (name, _what, place) => {
    chmodSync(home, 0o755)
    place(join(home, name))
    await expect(create().start()).rejects.toMatchObject({ code: 'data_dir_unusable', message: expect.stringContaining(name) })
    expect(readdirSync(home)).toEqual([name])
    expect(statSync(home).mode & 0o777).toBe(0o755)
  })

  it('ends if it is stopped meanwhile', async () => {
    const [port, ingressPort] = [await findFreePort(), await findFreePort()]
    const starting = create({ port, ingressPort }).start()
    await runner.stop({ graceMs: 0 })
    await starting
    await expectNothingLeft([port, ingressPort])
  })
})
