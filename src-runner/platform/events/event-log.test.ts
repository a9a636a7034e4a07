import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { transact } from '../db/database.ts'
import { createEventHub } from './event-hub.ts'
import { findEventBounds, listEventsAfter, pruneEvents } from './event-log.sql.ts'

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

function record(count: number): void {
  for (let i = 0; i < count; i++) {
    rig.clock.advance(1000)
    transact(rig.db, (tx) => tx.emit({ type: 'settings.changed', payload: { keys: ['concurrency'] } }))
  }
}
const ids = (after: number, limit?: number) => listEventsAfter(rig.db, after, limit).map((event) => event.id)
const prune = (keepRows: number, olderThan = 0, limit?: number) => transact(rig.db, (tx) => pruneEvents(tx, { keepRows, olderThan, limit }))

test('reads pages after an id', () => {
  record(5)
  expect(ids(0, 3)).toEqual([1, 2, 3])
  expect(ids(3)).toEqual([4, 5])
  expect(ids(5)).toEqual([])
  expect(listEventsAfter(rig.db, 4)).toEqual([{ id: 5, at: rig.clock.now(), type: 'settings.changed', payload: { keys: ['concurrency'] } }])
})

test('delivers and stores the same events', () => {
  const heard: unknown[] = []
  const stop = createEventHub({ db: rig.db }).subscribe((event) => void heard.push(event))
  record(3)
  stop()
  record(1)
  expect(heard).toEqual(listEventsAfter(rig.db, 0, 3))
})

test('pruning keeps the newest rows, and readers can tell that they missed some', () => {
  record(10)
  expect(findEventBounds(rig.db)).toEqual({ oldest: 1, newest: 10 })
  expect(prune(4)).toBe(6)
  expect(ids(0)).toEqual([7, 8, 9, 10])
  expect(findEventBounds(rig.db)).toEqual({ oldest: 7, newest: 10 })
  expect(prune(4)).toBe(0)
})

test('pruning by age keeps recent events and always the newest one', () => {
  record(10)
  expect(prune(1000, rig.clock.now() - 2000)).toBe(7)
  expect(ids(0)).toEqual([8, 9, 10])
  expect(prune(1000, rig.clock.now() + 1)).toBe(2)
  expect(prune(0, rig.clock.now() + 1)).toBe(0)
  expect(findEventBounds(rig.db)).toEqual({ oldest: 10, newest: 10 })
  record(1)
  expect(ids(0)).toEqual([10, 11])
})

test('pruning deletes a limited number, oldest first', () => {
  record(10)
  expect(prune(1, 0, 3)).toBe(3)
  expect(ids(0)[0]).toBe(4)
})

test('live events reach every listener even if one throws', () => {
  const hub = createEventHub({ db: rig.db })
  const heard: string[] = []
  hub.subscribeLive(() => {
    throw new Error('oops')
  })
  const stop = hub.subscribeLive((event) => void heard.push(event.type === 'job.progress' ? event.payload.activity : event.type))
  hub.publishLive({ type: 'job.progress', payload: { jobId: rig.ids.next(), activity: 'model', detail: null, until: null } })
  stop()
  hub.publishLive({ type: 'job.progress', payload: { jobId: rig.ids.next(), activity: 'tool', detail: null, until: null } })
  expect(heard).toEqual(['model'])
  expect(findEventBounds(rig.db).newest).toBe(0)
})
