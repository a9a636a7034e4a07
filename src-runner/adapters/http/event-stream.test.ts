import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { transact, type Database } from '../../platform/db/database.ts'
import { openDatabase } from '../../platform/db/open-database.ts'
import { createEventHub, type EventHub } from '../../platform/events/event-hub.ts'
import { findEventBounds } from '../../platform/events/event-log.sql.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/log.ts'
import { findDefaultEntity } from '../../domain/entities/entities.ts'
import { openEventStream } from './handlers/events.ts'
import type { EventSink } from './stream.ts'

/** A reader with a speed chosen by the test. */
function createReader(): EventSink & { ids: number[]; live: number; slow: boolean; hasEnded: boolean; drain(): void } {
  const waiting: (() => void)[] = []
  return {
    ids: [],
    live: 0,
    slow: false,
    hasEnded: false,
    send(text) {
      const id = /^id: (\d+)\n/.exec(text)?.[1]
      if (id === undefined) this.live++
      else this.ids.push(Number(id))
    },
    keepsUp() {
      return !this.slow
    },
    onDrain: (listener) => void waiting.push(listener),
    drain() {
      this.slow = false
      for (const listener of waiting.splice(0)) listener()
    },
    end() {
      this.hasEnded = true
    },
  }
}

describe('the stream of events', () => {
  const cleanUps: (() => void)[] = []
  afterEach(() =>
    cleanUps
      .splice(0)
      .reverse()
      .forEach((cleanUp) => cleanUp()),
  )

  function open(): { db: Database; hub: EventHub } {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-events-'))
    const db = openDatabase({ file: join(folder, 'deckhand.db'), clock: systemClock })
    cleanUps.push(
      () => rmSync(folder, { recursive: true }),
      () => db.close(),
    )
    return { db, hub: createEventHub({ db }) }
  }

  function happen(db: Database, times: number): void {
    transact(db, (tx) => {
      for (let i = 0; i < times; i++) tx.emit({ type: 'settings.changed', payload: { keys: [`${i}`] } })
    })
  }

  it('sends every reader each event once and in order', () => {
    const { db, hub } = open()
    const action = fc.oneof(
      fc.record({ do: fc.constant('happen' as const), times: fc.integer({ min: 1, max: 700 }) }),
      fc.constantFrom({ do: 'slow' as const }, { do: 'drain' as const }, { do: 'live' as const }, { do: 'reopen' as const }),
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 25 }), (actions) => {
        const start = findEventBounds(db).newest
        const seen: number[] = []
        let reader = createReader()
        let stop = openEventStream({ db, hub, log: silentLog }, start, reader)
        for (const step of actions) {
          if (step.do === 'happen') happen(db, step.times)
          else if (step.do === 'slow') reader.slow = true
          else if (step.do === 'drain') reader.drain()
          else if (step.do === 'live') {
            hub.publishLive({ type: 'job.progress', payload: { jobId: 'x', activity: 'model', detail: null, until: null } })
          } else {
            stop()
            seen.push(...reader.ids)
            reader = createReader()
            stop = openEventStream({ db, hub, log: silentLog }, seen.at(-1) ?? start, reader)
          }
        }
        reader.drain()
        stop()
        seen.push(...reader.ids)
        const { newest } = findEventBounds(db)
        expect(seen).toEqual(Array.from({ length: newest - start }, (_, i) => start + 1 + i))
      }),
      { numRuns: 60 },
    )
  })

  it('sends at most a page to a slow reader', () => {
    const { db, hub } = open()
    happen(db, 5000)
    const reader = createReader()
    reader.slow = true
    cleanUps.push(openEventStream({ db, hub, log: silentLog }, 0, reader))
    expect(reader.ids.length).toBeLessThanOrEqual(500)
    happen(db, 10)
    hub.publishLive({ type: 'job.progress', payload: { jobId: 'x', activity: 'model', detail: null, until: null } })
    expect([reader.ids.length <= 500, reader.live]).toEqual([true, 0])
  })

  it('lets others go on while it looks for the events of one workspace, and misses none', async () => {
    const { db, hub } = open()
    happen(db, 1900)
    const { id: entityId } = findDefaultEntity(db)
    const reader = createReader()
    const mine = () =>
      transact(db, (tx) =>
        tx.emit({ type: 'credential.deleted', payload: { credentialId: '018f4e9a-7b1c-7c3d-8e4f-0123456789ab', entityId } }),
      )
    let reads = 0
    const counted = { prepare: (sql: string) => ((reads += Number(sql.includes('FROM events'))), db.prepare(sql)) } as unknown as Database
    cleanUps.push(openEventStream({ db: counted, hub, log: silentLog }, 0, reader, entityId))
    expect(reads).toBeLessThanOrEqual(3)
    mine()
    expect(reader.ids).toEqual([])
    const last = findEventBounds(db).newest
    await expect.poll(() => reader.ids).toEqual([last])
    mine()
    await expect.poll(() => reader.ids).toEqual([last, last + 1])
  })

  it('ends when the events cannot be read, and nothing else does', async () => {
    const { db, hub } = open()
    happen(db, 10)
    const reader = createReader()
    let isBroken = false
    const breaking = {
      prepare(sql: string) {
        if (isBroken) throw new Error('disk I/O error')
        return db.prepare(sql)
      },
    } as unknown as Database
    reader.slow = true
    cleanUps.push(openEventStream({ db: breaking, hub, log: silentLog }, 0, reader))
    isBroken = true
    reader.drain()
    expect(reader.hasEnded).toBe(true)
  })

  it('starts from now without an id, or with one from the future', () => {
    const { db, hub } = open()
    happen(db, 3)
    const { newest } = findEventBounds(db)
    for (const from of [null, newest + 1_000_000]) {
      const reader = createReader()
      const before = findEventBounds(db).newest
      cleanUps.push(openEventStream({ db, hub, log: silentLog }, from, reader))
      happen(db, 1)
      expect(reader.ids).toEqual([before + 1])
    }
  })

  it('repeats the newest 2,000 events after a long absence', () => {
    const { db, hub } = open()
    happen(db, 3000)
    const reader = createReader()
    cleanUps.push(openEventStream({ db, hub, log: silentLog }, 0, reader))
    expect(reader.ids).toEqual(Array.from({ length: 2000 }, (_, i) => i + 1001))
    happen(db, 1)
    expect(reader.ids.at(-1)).toBe(3001)
  })
})
