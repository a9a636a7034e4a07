import { quote } from '../../lib/messages.ts'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { JOB_CHANNELS, JOB_STATUSES, Job, JobSummary, type JobStatus } from '../../contract/jobs.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import type { JobFilter } from './list-jobs.sql.ts'
import { createJobSearch, listTerms, searchExpressionFor } from './search-jobs.sql.ts'

let rig: DomainRig
const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T

const MINUTE = 60_000

test('a day lists jobs of that day from an import, also if it is the present day', () => {
  rig = openDomainRig()
  const { id: agentId } = rig.addAgent('Ada')
  const here = write((tx) => rig.store.enqueue(tx, { agentId, channel: 'api', task: 'Here' }))
  const lineOf = (createdAt: number) => ({ kind: 'job' as const, job: { ...here, id: rig.ids.next(), createdAt }, steps: [] })
  const [longAgo, now] = [lineOf(here.createdAt - 1_440 * MINUTE), lineOf(here.createdAt)]
  write((tx) => rig.store.importHistory(tx, [longAgo, now]))
  const { jobs } = rig.store.listJobs(rig.db, { from: here.createdAt, limit: 10 })
  expect(jobs.map(({ id }) => id)).toEqual([now.job.id, here.id])
  rig.close()
})

describe('filters and pages', () => {
  let all: Job[]
  let agents: string[]
  let workspaces: string[]

  /** Jobs of all kinds, by a clock that is set back and forth. */
  beforeAll(() => {
    rig = openDomainRig()
    const shop = rig.addEntity('Shop')
    const [ada, bob, cleo] = [rig.addAgent('Ada'), rig.addAgent('Bob'), rig.addAgent('Cleo', shop)]
    agents = [ada.id, bob.id, cleo.id]
    workspaces = [ada.entityId, shop]
    const made: string[] = []
    for (let i = 0; i < 60; i++) {
      rig.clock.advance(5 * MINUTE)
      if (i === 30) rig.clock.jump(-100 * MINUTE)
      if (i === 41) rig.clock.jump(140 * MINUTE)
      const { id } = write((tx) =>
        rig.store.enqueue(tx, {
          agentId: agents[i % 3]!,
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
    if (status === 'completed') write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'a result' }))
    else if (status === 'failed') write((tx) => rig.store.settle(tx, claim, { kind: 'failed', error: 'stuck', message: quote('x') }))
    else if (status !== 'running') write((tx) => rig.store.settle(tx, claim, { kind: 'waiting', status }))
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

  test('returns the matching jobs newest first, each once, for every combination of filters', () => {
    const moments = all.map((job) => job.createdAt)
    const moment = fc.integer({ min: Math.min(...moments) - 50, max: Math.max(...moments) + 50 })
    const filters = fc.record(
      {
        status: fc.subarray([...JOB_STATUSES], { minLength: 1 }),
        agentId: fc.constantFrom(...agents),
        entityId: fc.constantFrom(...workspaces, 'of nobody'),
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

  const workspaceOf = (agentId: string) => workspaces[agents.indexOf(agentId) === 2 ? 1 : 0]

  function fits(job: Job, filter: Omit<JobFilter, 'limit'>): boolean {
    const words = `${job.title} ${job.task} ${job.result ?? ''}`.toLowerCase().split(/\W+/)
    const wanted = filter.q?.toLowerCase().split(' ') ?? []
    return (
      (filter.status?.includes(job.status) ?? true) &&
      (filter.agentId === undefined || filter.agentId === job.agentId) &&
      (filter.entityId === undefined || filter.entityId === workspaceOf(job.agentId)) &&
      (filter.channel === undefined || filter.channel === job.channel) &&
      (filter.parentJobId === undefined || filter.parentJobId === job.parentJobId) &&
      (filter.from === undefined || job.createdAt >= filter.from) &&
      (filter.to === undefined || job.createdAt < filter.to) &&
      wanted.every((word, i) => words.some((one) => (i === wanted.length - 1 ? one.startsWith(word) : one === word)))
    )
  }

  test('return the shapes of the contract', () => {
    for (const job of rig.store.listJobs(rig.db, { limit: 60 }).jobs) expect(JobSummary.parse(job)).toEqual(job)
    for (const job of all) expect(Job.parse(job)).toEqual(job)
  })

  test('list pending jobs of very many agents', () => {
    const ids = Array.from({ length: 210 }, (_, i) => {
      const { id: agentId } = rig.addAgent(`Agent ${i}`)
      return write((tx) => rig.store.enqueue(tx, { agentId, channel: 'webhook', task: 'Do it' })).id
    })
    const waiting = all.filter(({ status }) => status === 'pending').map(({ id }) => id)
    expect(readAll({ status: ['pending'] }, 100)).toEqual([...ids.toReversed(), ...waiting])
    expect(readAll({ status: ['pending'], channel: 'webhook' }, 100).slice(0, 210)).toEqual(ids.toReversed())
    expect(rig.store.countJobs(rig.db).pending).toBe(210 + waiting.length)
    // More agents than one query can merge.
    const own = [...ids.toReversed(), ...all.filter(({ agentId }) => workspaceOf(agentId) === workspaces[0]).map(({ id }) => id)]
    expect(readAll({ entityId: workspaces[0] }, 100)).toEqual(own)
  })

  test('examine a limited number of jobs for a page, and say where the next one continues', () => {
    const [ada, bob] = agents as [string, string]
    const first = rig.db.prepare<{ seq: number }>('SELECT max(seq) AS seq FROM agent_jobs').get()!.seq
    rig.db.connection.exec(`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 42000)
      INSERT INTO agent_jobs (seq, id, entity_id, agent_id, channel, status, title, claim, attempt, created_at, started_at, finished_at)
      SELECT ${first} + n, 'job ' || n, (SELECT id FROM entities), '${ada}', 'webhook', 'completed', 'Many', 1, 1, 0, 0, 0 FROM numbers;
      INSERT INTO job_texts (job_seq, task) SELECT seq, 'Many' FROM agent_jobs WHERE seq > ${first};
      INSERT INTO job_search (rowid, title, task) SELECT seq, 'Many', 'Many' FROM agent_jobs WHERE seq > ${first};
      INSERT INTO job_search (rowid, title) SELECT seq, title FROM agent_jobs WHERE seq <= ${first};
      UPDATE search_mark SET job_seq = ${first} + 42000`)
    const counted = (filter: Omit<JobFilter, 'limit'>) => {
      let cursor: string | undefined
      const pages: number[] = []
      do {
        const page = rig.store.listJobs(rig.db, { ...filter, limit: 200, cursor })
        pages.push(page.jobs.length)
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      return pages
    }
    const none = Array.from({ length: 8 }, () => 0)
    const ofAda = all.filter(({ agentId, channel }) => agentId === ada && channel === 'api').length
    expect(ofAda).toBeGreaterThan(0)
    expect(counted({ agentId: ada, channel: 'api' })).toEqual([...none, ofAda])
    expect(counted({ q: 'many', agentId: bob })).toEqual([...none, 0])
    expect(rig.store.listJobs(rig.db, { agentId: ada, limit: 5 }).jobs).toHaveLength(5)
  })

  test('reject a cursor of another list', () => {
    for (const cursor of ['x', 'WzBd', 'WyJhIl0', 'e30']) {
      expect(() => rig.store.listJobs(rig.db, { limit: 5, cursor })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    }
  })
})

describe('search', () => {
  let agentId: string
  beforeEach(() => {
    rig = openDomainRig()
    agentId = rig.addAgent('Ada').id
  })
  afterEach(() => rig.close())

  const add = (task: string) => write((tx) => rig.store.enqueue(tx, { agentId, channel: 'api', task }))
  const find = (q: string) => rig.store.listJobs(rig.db, { q, limit: 50 }).jobs.map((job) => job.title)

  test('finds a job as soon as it exists, and its result as soon as it ends', () => {
    const { id } = add('Écrire un résumé')
    expect(find('resume')).toEqual(['Écrire un résumé'])
    const { claim } = write((tx) => rig.store.claim(tx, id, 1))!
    write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'Voilà le sommaire.' }))
    expect(find('somm')).toEqual(['Écrire un résumé'])
    expect(find('résumé sommaire')).toEqual(['Écrire un résumé'])
    expect(find('nothing')).toEqual([])
  })

  test('indexes by itself a moment after the commit, and continues after a crash', async () => {
    add('first')
    const waiting = () =>
      rig.db.prepare<{ n: number }>('SELECT count(*) AS n FROM agent_jobs WHERE seq > (SELECT job_seq FROM search_mark)').get()!.n
    expect(waiting()).toBe(1)
    await rig.clock.untilSleeping((ms) => ms === 250)
    rig.clock.advance(250)
    await expect.poll(waiting).toBe(0)
    add('second')
    rig.reboot()
    expect(find('second')).toEqual(['second'])
    expect(waiting()).toBe(1)
  })

  test('delays indexing while more jobs arrive, for a limited time', async () => {
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

  test.each(['before', 'after'])('finds a result after a crash that came %s its job was indexed', (when) => {
    const { id } = add('first')
    if (when === 'after') find('first')
    const { claim } = write((tx) => rig.store.claim(tx, id, 1))!
    write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'Voilà.' }))
    rig.reboot()
    expect(find('voila')).toEqual(['first'])
  })

  test('writes nothing, and finds the newest jobs that are not indexed yet', async () => {
    for (let i = 0; i < 300; i++) add(`needle ${i}`)
    rig.db.connection.pragma('query_only = ON')
    expect(find('needle 299')).toEqual(['needle 299'])
    expect(find('needle 29')).toHaveLength(10)
    expect(
      rig.store
        .listJobs(rig.db, { q: 'needle', limit: 50 })
        .jobs.map(({ title }) => title)
        .slice(0, 2),
    ).toEqual(['needle 299', 'needle 298'])
    rig.db.connection.pragma('query_only = OFF')
    expect(rig.db.prepare('SELECT job_seq FROM search_mark').get()).toEqual({ job_seq: 0 })
  })

  test('finds the same before and after indexing, whatever the order, case and diacritics of words', () => {
    const texts = ['Ärger im Büro', 'buro', 'ARGER 42', 'naïve café', 'Kaffee', 'two two words', 'x1 y2', '']
    for (const text of texts) add(`${text} end`)
    const typed = fc.oneof(
      fc.constantFrom('arger', 'BÜRO är', 'buro arg', 'naive', 'caf', 'two w', 'x', '4', 'end', 'ende', 'im  Büro!'),
      fc.string(),
    )
    const before = new Map<string, string[]>()
    fc.assert(fc.property(typed, (q) => void before.set(q, find(q))))
    createJobSearch(rig.db).catchUp()
    for (const [q, found] of before) expect([q, find(q)]).toEqual([q, found])
  })

  test('accepts a prefix of more words than are expanded', () => {
    for (let i = 1000; i < 1300; i++) add(`needle${i} n${i}`)
    createJobSearch(rig.db).catchUp()
    expect(rig.store.listJobs(rig.db, { q: 'need', limit: 200 }).jobs).toHaveLength(200)
    expect(find('needle12')).toHaveLength(50)
    // Nearly every job has a word with this prefix.
    expect(find('n')).toEqual([])
  })

  test('finds a word by its prefix without collecting all positions of all such words', () => {
    add('In the inbox, an invoice')
    createJobSearch(rig.db).catchUp()
    expect(searchExpressionFor('the in', (prefix) => listTerms(rig.db, prefix))).toBe('"the" AND ("in" OR "inbox" OR "invoice")')
    expect(find('the in')).toHaveLength(1)
  })

  test('accepts any input without a syntax error', () => {
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
  ])('searches %s as %s', (typed, expression) => {
    expect(searchExpressionFor(typed, () => [])).toBe(expression)
  })
})
