import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitSoon, transact, type Tx } from '../../platform/db/database.ts'
import type { Log } from '../../lib/log.ts'
import { openDomainRig, replyOf, type DomainRig } from '../../testing/domain-rig.ts'
import type { NewJob } from './enqueue-job.ts'
import { AttemptStopped, type Attempt } from './attempts.ts'
import { createWorker, type Worker } from './worker.ts'

let rig: DomainRig
let agentId: string
let worker: Worker
let errors: string[]

beforeEach(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Ada').id
  errors = []
})
afterEach(async () => {
  await worker.stop({ graceMs: 0 })
  rig.close()
})

function employ(perform: (attempt: Attempt) => Promise<void>, limit = 4): Worker {
  const log: Log = { error: (_, message) => void errors.push(message), warn() {}, info() {}, debug() {} }
  worker = createWorker({ store: rig.store, db: rig.db, clock: rig.clock, log, limit: () => limit, perform })
  worker.start()
  return worker
}

const enqueue = (job: Partial<NewJob> = {}) =>
  commitSoon(rig.db, (tx) => rig.store.enqueue(tx, { agentId, channel: 'api', task: 'Do it', ...job }))
const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
const job = (id: string) => rig.store.getJob(rig.db, id)
const complete = async ({ claim }: Attempt) =>
  void (await commitSoon(rig.db, (tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'done' })))
/** An executor that runs until it is stopped, and then throws the reason as it should. */
const untilStopped = ({ signal }: Attempt) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
const deaf = () => new Promise<void>(() => {})

/** Attempts wait here until the test lets them continue. */
function createToolPolicy() {
  const waiting: (() => void)[] = []
  const seen: Attempt[] = []
  const watchers: (() => void)[] = []
  return {
    seen,
    perform: async (attempt: Attempt) => {
      seen.push(attempt)
      for (const look of watchers) look()
      await new Promise<void>((resolve) => waiting.push(resolve))
      await complete(attempt)
    },
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => seen.length >= count && resolve()
        watchers.push(look)
        look()
      }),
    open() {
      for (const go of waiting.splice(0)) go()
    },
  }
}

const started = (attempts: Attempt[], count: number) => expect.poll(() => attempts.length).toBe(count)

test('performs jobs as they arrive', async () => {
  employ(complete)
  const made = await Promise.all(Array.from({ length: 20 }, () => enqueue()))
  await worker.drain()
  expect(made.map(({ id }) => job(id).status)).toEqual(made.map(() => 'completed'))
  expect(worker.running()).toEqual([])
})

test('runs at most as many jobs as the limit, and fills a free slot at once', async () => {
  const gate = createToolPolicy()
  employ(gate.perform, 2)
  for (let i = 0; i < 5; i++) await enqueue()
  await gate.arrived(2)
  expect(rig.store.countJobs(rig.db)).toMatchObject({ running: 2, pending: 3 })
  gate.open()
  await gate.arrived(4)
  expect(rig.store.countJobs(rig.db)).toMatchObject({ running: 2, pending: 1 })
  gate.open()
  await gate.arrived(5)
  gate.open()
  await worker.drain()
})

test('runs jobs that were pending before the start', async () => {
  const { id } = await enqueue()
  employ(complete)
  await worker.drain()
  expect(job(id).status).toBe('completed')
})

test('fails and logs a job whose executor throws, and continues with the others', async () => {
  employ(async (attempt) => {
    if (attempt.job.task === 'bad') throw new Error('a bug')
    await complete(attempt)
  })
  const bad = await enqueue({ task: 'bad' })
  const good = await enqueue()
  await worker.drain()
  expect(job(bad.id)).toMatchObject({ status: 'failed', error: 'internal' })
  expect(job(bad.id).errorMessage).not.toContain('a bug')
  expect(job(good.id).status).toBe('completed')
  expect(errors).toContain('an attempt failed unexpectedly: a bug')
})

test('fails a job whose executor ends without an outcome', async () => {
  employ(async () => {})
  const { id } = await enqueue()
  await worker.drain()
  expect(job(id)).toMatchObject({ status: 'failed', error: 'internal' })
  expect(errors).toHaveLength(1)
})

test('retries reading the settings after a failure', async () => {
  let isReadable = false
  const limit = () => {
    if (!isReadable) throw new Error('the file cannot be read')
    return 4
  }
  worker = createWorker({ store: rig.store, db: rig.db, clock: rig.clock, log: rig.db.log, limit, perform: complete })
  worker.start()
  const { id } = await enqueue()
  await new Promise((resolve) => setImmediate(resolve))
  expect(job(id).status).toBe('pending')
  isReadable = true
  worker.nudge()
  await worker.drain()
  expect(job(id).status).toBe('completed')
})

describe('Stop', () => {
  test('aborts the attempt, which ends as cancelled', async () => {
    const attempts: Attempt[] = []
    employ((attempt) => (attempts.push(attempt), untilStopped(attempt)))
    const { id } = await enqueue()
    await started(attempts, 1)
    write((tx) => rig.store.cancel(tx, id))
    expect(attempts[0]!.signal.reason).toBeInstanceOf(AttemptStopped)
    await worker.drain()
    expect(job(id)).toMatchObject({ status: 'cancelled', cancelRequested: true })
    expect(errors).toEqual([])
  })

  test('takes job and slot away from an attempt that does not stop within 1.5 seconds', async () => {
    const attempts: Attempt[] = []
    employ((attempt) => (attempts.push(attempt), attempt.job.task === 'deaf' ? deaf() : complete(attempt)), 1)
    const { id } = await enqueue({ task: 'deaf' })
    const next = await enqueue()
    await started(attempts, 1)
    write((tx) => rig.store.recordReply(tx, attempts[0]!.claim, replyOf('So far.')))
    write((tx) => rig.store.cancel(tx, id))
    rig.clock.advance(1499)
    expect(job(id).status).toBe('running')
    rig.clock.advance(1)
    await expect.poll(() => job(id).status).toBe('cancelled')
    expect(job(id).result).toBe('So far.')
    await expect.poll(() => job(next.id).status).toBe('completed')
    expect(() => write((tx) => rig.store.recordReply(tx, attempts[0]!.claim, replyOf('late')))).toThrow('not the current one')
  })

  test('ignores how an attempt ends after it has lost its job', async () => {
    let let_go = () => {}
    employ(async () => {
      await new Promise<void>((resolve) => (let_go = resolve))
      throw new Error('too late')
    })
    const { id } = await enqueue()
    await expect.poll(() => worker.running()).toEqual([id])
    write((tx) => rig.store.cancel(tx, id))
    rig.clock.advance(2000)
    await expect.poll(() => job(id).status).toBe('cancelled')
    const before = job(id)
    let_go()
    await worker.drain()
    expect(job(id)).toEqual(before)
  })
})

describe('signs of life', () => {
  const minutes = (count: number) => {
    for (let i = 0; i < count * 12; i++) rig.clock.advance(5000)
  }

  test('fail a silent job after 15 minutes, and keep an active one', async () => {
    const attempts: Attempt[] = []
    employ((attempt) => (attempts.push(attempt), deaf()))
    const silent = await enqueue()
    const moving = await enqueue()
    await started(attempts, 2)
    const alive = attempts.find((attempt) => attempt.job.id === moving.id)!.alive
    for (let i = 0; i < 16; i++) {
      alive()
      minutes(1)
    }
    expect(job(silent.id)).toMatchObject({ status: 'failed', error: 'stuck' })
    expect(attempts.find((attempt) => attempt.job.id === silent.id)!.signal.aborted).toBe(true)
    expect(job(moving.id)).toMatchObject({ status: 'running' })
    expect(job(moving.id).workingMs).toBeGreaterThan(14 * 60_000)
    expect(worker.running()).toEqual([moving.id])
  })

  test('do not count the time asleep', async () => {
    const attempts: Attempt[] = []
    // The clock jumps as during sleep, without ticks in between.
    let away = 0
    const sleepy = { ...rig.clock, now: () => rig.clock.now() + away }
    const log: Log = { error() {}, warn() {}, info() {}, debug() {} }
    worker = createWorker({ store: rig.store, db: rig.db, clock: sleepy, log, limit: () => 4, perform: (a) => (attempts.push(a), deaf()) })
    worker.start()
    const { id } = await enqueue()
    await started(attempts, 1)
    away = 8 * 3_600_000
    rig.db.prepare('UPDATE agent_jobs SET heartbeat_at = heartbeat_at - ?').run(away)
    rig.clock.advance(5000)
    expect(job(id).status).toBe('running')
  })

  test('do not make the time asleep working time', async () => {
    const attempts: Attempt[] = []
    employ((attempt) => (attempts.push(attempt), deaf()))
    const { id } = await enqueue()
    await started(attempts, 1)
    attempts[0]!.alive()
    rig.clock.advance(5000)
    rig.clock.suspend(72 * 3_600_000)
    expect(job(id)).toMatchObject({ status: 'running', workingMs: 5000 })
  })
})

describe('stopping the process', () => {
  test('makes jobs pending again with their steps, without counting a crash', async () => {
    const attempts: Attempt[] = []
    employ(async (attempt) => {
      write((tx) => rig.store.recordToolStarted(tx, attempt.claim, { callId: 'a', name: 'send' }))
      attempts.push(attempt)
      await untilStopped(attempt)
    })
    const { id } = await enqueue()
    await started(attempts, 1)
    await worker.stop({ graceMs: 1000 })
    expect(attempts[0]!.signal.reason).toMatchObject({ why: 'shutdown' })
    expect(job(id)).toMatchObject({ status: 'pending', attempt: 1 })
    rig.reboot()
    expect(write((tx) => rig.store.rescue(tx)).pending).toEqual([])
    employ(complete)
    await worker.drain()
    expect(job(id)).toMatchObject({ status: 'completed', attempt: 2 })
    expect(rig.store.listSteps(rig.db, id)).toHaveLength(1)
  })

  test('releases a job whose attempt does not stop in time', async () => {
    employ(deaf)
    const { id } = await enqueue()
    await expect.poll(() => worker.running()).toEqual([id])
    const stopping = worker.stop({ graceMs: 3000 })
    await rig.clock.untilSleeping((ms) => ms === 3000)
    rig.clock.advance(3000)
    await stopping
    expect(job(id).status).toBe('pending')
  })

  test('claims nothing afterwards', async () => {
    employ(complete)
    await worker.stop({ graceMs: 0 })
    const { id } = await enqueue()
    worker.nudge()
    worker.run(id)
    await worker.drain()
    expect(job(id).status).toBe('pending')
  })
})

test('claims nothing while paused, and continues when resumed', async () => {
  employ(complete)
  worker.pause()
  const { id } = await enqueue()
  worker.run(id)
  await worker.drain()
  expect(job(id).status).toBe('pending')
  worker.resume()
  await worker.drain()
  expect(job(id).status).toBe('completed')
})

describe('running one job by id', () => {
  test('starts nothing else', async () => {
    const [other, named] = [await enqueue(), await enqueue()]
    worker = createWorker({ store: rig.store, db: rig.db, clock: rig.clock, log: rig.db.log, limit: () => 4, perform: complete })
    worker.run(named.id)
    await expect.poll(() => job(named.id).status).toBe('completed')
    expect(job(other.id).status).toBe('pending')
  })

  test('ignores a job that runs, has ended or does not exist', async () => {
    const attempts: Attempt[] = []
    employ((attempt) => (attempts.push(attempt), complete(attempt)))
    const { id } = await enqueue()
    await worker.drain()
    worker.run(id)
    worker.run(rig.ids.next())
    await worker.drain()
    expect(attempts).toHaveLength(1)
    expect(errors).toEqual([])
  })
})

describe('a full disk', () => {
  /** So full that not even the shortest event fits. */
  const fill = () => {
    const pages = rig.db.connection.pragma('page_count', { simple: true }) as number
    rig.db.connection.pragma(`max_page_count = ${pages}`)
    const one = rig.db.prepare("INSERT INTO events (at, type, payload) VALUES (0, '', '')")
    expect(() => {
      for (let i = 0; i < 10_000; i++) one.run()
    }).toThrow('full')
  }
  const makeRoom = () => rig.db.connection.pragma('max_page_count = 1073741823')

  test('makes the job pending, and it is done when there is room', async () => {
    let attempts = 0
    const failed = Promise.withResolvers<unknown>()
    employ(async (attempt) => {
      attempts++
      if (attempts === 1) fill()
      try {
        await commitSoon(rig.db, (tx) => rig.store.recordReply(tx, attempt.claim, replyOf('x'.repeat(200_000))))
      } catch (error) {
        failed.resolve(error)
        throw error
      }
      await complete(attempt)
    })
    const { id } = await enqueue()
    expect(await failed.promise).toMatchObject({ code: 'disk_full' })
    makeRoom()
    const aSecondLater = () => (rig.clock.advance(1000), job(id))
    await expect.poll(aSecondLater).toMatchObject({ status: 'completed', attempt: 2, turns: 1 })
    expect(attempts).toBe(2)
  })

  test('resumes with the oldest job when there is room', async () => {
    // Queued before the work begins, since a full disk accepts nothing.
    const ids: string[] = []
    for (const task of ['1', '2', '3', '4', '5']) ids.push((await enqueue({ task })).id)
    const texts: string[] = []
    let isFull = true
    const bothRun = Promise.withResolvers<void>()
    const failures: unknown[] = []
    employ(async (attempt) => {
      texts.push(attempt.job.task)
      if (isFull) {
        if (texts.length === 2) {
          fill()
          bothRun.resolve()
        }
        await bothRun.promise
      }
      try {
        await commitSoon(rig.db, (tx) => rig.store.recordReply(tx, attempt.claim, replyOf('x'.repeat(200_000))))
      } catch (error) {
        failures.push(error)
        throw error
      }
      await complete(attempt)
    }, 2)
    await expect.poll(() => failures).toMatchObject([{ code: 'disk_full' }, { code: 'disk_full' }])
    expect(texts).toEqual(['1', '2'])
    isFull = false
    makeRoom()
    const aSecondLater = () => (rig.clock.advance(1000), ids.map((id) => job(id).status))
    await expect.poll(aSecondLater).toEqual(ids.map(() => 'completed'))
    expect(texts).toEqual(['1', '2', '1', '2', '3', '4', '5'])
  })
})
