import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { transact, type Tx } from '../../base/db/transact.ts'
import { JOB_CHANNELS, JOB_STATUSES, Job, JobSummary, type JobStatus } from '../../contract/jobs.ts'
import { openRecordsRig, type RecordsRig } from '../../testing/records-rig.ts'
import type { JobFilter } from './listing.ts'
import { searchExpressionFor } from './search.ts'

let rig: RecordsRig
const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T

const MINUTE = 60_000

describe('filters and pages', () => {
  let all: Job[]
  let agents: string[]

  /** Jobs of all kinds, at moments that go back and forth as a clock that is set does. */
  beforeAll(() => {
    rig = openRecordsRig()
    agents = ['Ada', 'Bob'].map((name) => rig.addAgent(name).id)
    const made: string[] = []
    for (let i = 0; i < 60; i++) {
      rig.clock.advance(5 * MINUTE)
      if (i === 30) rig.clock.jump(-100 * MINUTE)
      if (i === 41) rig.clock.jump(140 * MINUTE)
      const { id } = write((tx) =>
        rig.store.enqueue(tx, {
          agentId: agents[i % 2]!,
          channel: JOB_CHANNELS[1 + (i % 3)]!,
          task: `Job number${i} ${i % 4 === 0 ? 'about ships' : ''}`,
          parentJobId: i % 5 === 1 ? made[i % 2] : undefined,
        }),
      )
      made.push(id)
      finish(id, JOB_STATUSES[i % JOB_STATUSES.length]!)
    }
    all = made.map((id) => rig.store.getJob(rig.db, id)).reverse()
  })
  afterAll(() => rig.close())

  function finish(id: string, status: JobStatus): void {
    if (status === 'pending') return
    if (status === 'cancelled') return void write((tx) => rig.store.cancel(tx, id))
    const claim = write((tx) => rig.store.claim(tx, id, 1000))!.claim
    if (status === 'completed') write((tx) => rig.store.settle(tx, claim, { ending: 'completed', text: 'a result' }))
    else if (status === 'failed') write((tx) => rig.store.settle(tx, claim, { ending: 'failed', error: 'stuck', message: 'x' }))
    else if (status !== 'running') write((tx) => rig.store.settle(tx, claim, { ending: 'waiting', status }))
  }

  function readAll(filter: Omit<JobFilter, 'limit'>, limit: number): string[] {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = rig.store.listJobs(rig.db, { ...filter, limit, cursor })
      expect(page.jobs.length).toBeLessThanOrEqual(limit)
      seen.push(...page.jobs.map((job) => job.id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    return seen
  }

  test('every filter, alone and with others, gives what it says, newest first, each once', () => {
    const moments = all.map((job) => job.createdAt)
    const moment = fc.integer({ min: Math.min(...moments) - 50, max: Math.max(...moments) + 50 })
    const filters = fc.record(
      {
        status: fc.subarray([...JOB_STATUSES], { minLength: 1 }),
        agentId: fc.constantFrom(...agents),
        channel: fc.constantFrom(...JOB_CHANNELS.slice(0, 5)),
        parentJobId: fc.constantFrom(...all.slice(-3).map((job) => job.id)),
        from: moment,
        to: moment,
        q: fc.constantFrom('ships', 'SHIP', 'number7', 'result', 'job about'),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(filters, fc.integer({ min: 1, max: 30 }), (filter, limit) => {
        expect(readAll(filter, limit)).toEqual(all.filter((job) => fits(job, filter)).map((job) => job.id))
      }),
      { numRuns: 500 },
    )
  })

  function fits(job: Job, filter: Omit<JobFilter, 'limit'>): boolean {
    const words = `${job.title} ${job.task} ${job.result ?? ''}`.toLowerCase().split(/\W+/)
    const wanted = filter.q?.toLowerCase().split(' ') ?? []
    return (
      (filter.status?.includes(job.status) ?? true) &&
      (filter.agentId === undefined || filter.agentId === job.agentId) &&
      (filter.channel === undefined || filter.channel === job.channel) &&
      (filter.parentJobId === undefined || filter.parentJobId === job.parentJobId) &&
      (filter.from === undefined || job.createdAt >= filter.from) &&
      (filter.to === undefined || job.createdAt < filter.to) &&
      wanted.every((word, i) => words.some((one) => (i === wanted.length - 1 ? one.startsWith(word) : one === word)))
    )
  }

  test('what is answered has the shapes of the contract', () => {
    for (const job of rig.store.listJobs(rig.db, { limit: 60 }).jobs) expect(JobSummary.parse(job)).toEqual(job)
    for (const job of all) expect(Job.parse(job)).toEqual(job)
  })

  test('what waits for very many agents is listed too', () => {
    const ids = Array.from({ length: 210 }, (_, i) => {
      const { id: agentId } = rig.addAgent(`Agent ${i}`)
      return write((tx) => rig.store.enqueue(tx, { agentId, channel: 'webhook', task: 'Do it' })).id
    })
    const waiting = all.filter(({ status }) => status === 'pending').map(({ id }) => id)
    expect(readAll({ status: ['pending'] }, 100)).toEqual([...ids.toReversed(), ...waiting])
    expect(readAll({ status: ['pending'], channel: 'webhook' }, 100).slice(0, 210)).toEqual(ids.toReversed())
    expect(rig.store.countJobs(rig.db).pending).toBe(210 + waiting.length)
  })

  test('a cursor that was never given out is refused', () => {
    for (const cursor of ['x', 'WzBd', 'WyJhIl0', 'e30']) {
      expect(() => rig.store.listJobs(rig.db, { limit: 5, cursor })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    }
  })
})

describe('search', () => {
  let agentId: string
  beforeEach(() => {
    rig = openRecordsRig()
    agentId = rig.addAgent('Ada').id
  })
  afterEach(() => rig.close())

  const add = (task: string) => write((tx) => rig.store.enqueue(tx, { agentId, channel: 'api', task }))
  const find = (q: string) => rig.store.listJobs(rig.db, { q, limit: 50 }).jobs.map((job) => job.title)

  test('finds a job the moment it was made, and its result the moment it ended', () => {
    const { id } = add('Écrire un résumé')
    expect(find('resume')).toEqual(['Écrire un résumé'])
    const { claim } = write((tx) => rig.store.claim(tx, id, 1))!
    write((tx) => rig.store.settle(tx, claim, { ending: 'completed', text: 'Voilà le sommaire.' }))
    expect(find('somm')).toEqual(['Écrire un résumé'])
    expect(find('résumé sommaire')).toEqual(['Écrire un résumé'])
    expect(find('nothing')).toEqual([])
  })

  test('indexes by itself a moment after the commit, and goes on after a crash', async () => {
    add('first')
    const waiting = () =>
      rig.db.prepare<{ n: number }>('SELECT count(*) AS n FROM agent_jobs WHERE seq > (SELECT job_seq FROM search_mark)').get()!.n
    expect(waiting()).toBe(1)
    await rig.clock.untilSleeping((ms) => ms === 250)
    rig.clock.advance(250)
    await expect.poll(waiting).toBe(0)
    add('second')
    rig.reboot()
    expect(waiting()).toBe(1)
    expect(find('second')).toEqual(['second'])
    expect(waiting()).toBe(0)
  })

  test('waits while more jobs keep coming, and not for long', async () => {
    const left = () =>
      rig.db.prepare<{ n: number }>('SELECT count(*) AS n FROM agent_jobs WHERE seq > (SELECT job_seq FROM search_mark)').get()!.n
    let made = 0
    while (made < 100 && left() === made) {
      add('one')
      add('another')
      made += 2
      await rig.clock.untilSleeping((ms) => ms === 250)
      rig.clock.advance(250)
      await new Promise(setImmediate)
    }
    const seconds = (made / 2) * 0.25
    expect(seconds).toBeGreaterThan(4)
    expect(seconds).toBeLessThan(7)
    expect(left()).toBe(0)
  })

  test.each(['before', 'after'])('a result that came %s its job was indexed is found after a crash', (when) => {
    const { id } = add('first')
    if (when === 'after') find('first')
    const { claim } = write((tx) => rig.store.claim(tx, id, 1))!
    write((tx) => rig.store.settle(tx, claim, { ending: 'completed', text: 'Voilà.' }))
    rig.reboot()
    expect(find('voila')).toEqual(['first'])
  })

  test('a long list of new jobs is worked off before the answer', () => {
    for (let i = 0; i < 600; i++) add(`needle ${i}`)
    expect(rig.store.listJobs(rig.db, { q: 'needle', limit: 200 }).jobs).toHaveLength(200)
    expect(find('needle 599')).toHaveLength(1)
  })

  test('whatever a person types is looked for and never a syntax error', () => {
    add('plain words')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom('"', 'a"b', 'NEAR(', 'title:x', '*', 'a OR', '-', '^a', "';--", '{a b}', 'ＡＢ', '🦆', 'a\0b'),
        ),
        (q) => {
          expect(find(q)).toBeInstanceOf(Array)
        },
      ),
    )
  })

  test.each([
    ['ship', '"ship" *'],
    ['two words', '"two" AND "words" *'],
    ['"quoted" -x', '"quoted" AND "x" *'],
    [' …! ', null],
  ])('%s is looked for as %s', (typed, expression) => {
    expect(searchExpressionFor(typed)).toBe(expression)
  })
})
