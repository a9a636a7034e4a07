import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest'
import type { StoredEvent } from '../../contract/events.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { commitSoon, transact, type Tx } from './database.ts'

let rig: DomainRig
let events: StoredEvent[]

beforeEach(() => {
  rig = openDomainRig()
  events = []
  rig.db.onEvents((event) => void events.push(event))
})
afterEach(() => rig.close())

const emit = (tx: Tx, key: string) => tx.emit({ type: 'settings.changed', payload: { keys: [key] } })
const recorded = () =>
  rig.db
    .prepare<{ payload: string }>('SELECT payload FROM events ORDER BY id')
    .all()
    .map((row) => JSON.parse(row.payload).keys[0] as string)
const heard = () => events.map((event) => (event.type === 'settings.changed' ? event.payload.keys[0] : ''))

describe('transact', () => {
  test('returns the result of the function, and delivers the event with its id after the commit', () => {
    const value = transact(rig.db, (tx) => {
      emit(tx, 'a')
      expect(events).toEqual([])
      return 7
    })
    expect(value).toBe(7)
    expect(events).toEqual([{ id: 1, at: rig.clock.now(), type: 'settings.changed', payload: { keys: ['a'] } }])
  })

  test('leaves no row, event or effect when the function throws', () => {
    const effect = vi.fn()
    const failing = (tx: Tx) => {
      emit(tx, 'a')
      tx.afterCommit(effect)
      throw new Error('no')
    }
    expect(() => transact(rig.db, failing)).toThrow('no')
    expect([recorded(), events, effect.mock.calls]).toEqual([[], [], []])
  })

  test('refuses a promise at compile time and at run time', () => {
    // @ts-expect-error a transaction cannot wait
    const attempt = () => transact(rig.db, async (tx) => emit(tx, 'a'))
    expect(attempt).toThrow('a transaction is synchronous')
    // @ts-expect-error nor can one that shares its commit
    const soon = commitSoon(rig.db, async (tx) => emit(tx, 'b'))
    expectTypeOf(transact(rig.db, () => 5)).toEqualTypeOf<number>()
    return expect(soon)
      .rejects.toThrow('a transaction is synchronous')
      .then(() => expect(recorded()).toEqual([]))
  })

  test('refuses a nested transaction and rolls back the outer one', () => {
    const nested = (tx: Tx) => {
      emit(tx, 'outer')
      transact(rig.db, (inner) => emit(inner, 'inner'))
    }
    expect(() => transact(rig.db, nested)).toThrow('already under way')
    expect(recorded()).toEqual([])
  })

  test('refuses events after the transaction has ended', () => {
    const kept = transact<Tx>(rig.db, (tx) => tx)
    expect(() => emit(kept, 'late')).toThrow('has ended')
    expect(recorded()).toEqual([])
  })

  test('logs an effect that throws, and runs the others', () => {
    const effect = vi.fn()
    transact(rig.db, (tx) => {
      tx.afterCommit(() => {
        throw new Error('oops')
      })
      tx.afterCommit(effect)
      emit(tx, 'a')
    })
    expect(effect).toHaveBeenCalledOnce()
    expect(rig.logged).toEqual(['an effect after a commit failed'])
    expect(heard()).toEqual(['a'])
  })

  test('delivers events in the order of their ids, even if a listener emits another one', () => {
    const order: number[] = []
    rig.db.onEvents((event) => {
      if (event.id === 1) transact(rig.db, (tx) => emit(tx, 'c'))
    })
    rig.db.onEvents((event) => void order.push(event.id))
    transact(rig.db, (tx) => {
      emit(tx, 'a')
      emit(tx, 'b')
    })
    expect(order).toEqual([1, 2, 3])
  })

  test('refuses a broken foreign key', () => {
    expect(() => transact(rig.db, (tx) => tx.prepare('INSERT INTO search_queue VALUES (99)').run().changes)).toThrow('FOREIGN KEY')
  })
})

describe('commitSoon', () => {
  test('shares one commit in a turn of the event loop, and resolves after it', async () => {
    const order: string[] = []
    const queue = (name: string) =>
      commitSoon(rig.db, (tx) => {
        order.push(`${name} runs`)
        tx.afterCommit(() => order.push(`${name} committed`))
      }).then(() => order.push(`${name} answered`))
    await Promise.all([queue('a'), queue('b')])
    expect(order).toEqual(['a runs', 'b runs', 'a committed', 'b committed', 'a answered', 'b answered'])
  })

  test('rolls back only the function that throws', async () => {
    const outcomes = await Promise.allSettled([
      commitSoon(rig.db, (tx) => emit(tx, 'a')),
      commitSoon(rig.db, (tx) => {
        emit(tx, 'b')
        throw new Error('only this one')
      }),
      commitSoon(rig.db, (tx) => {
        emit(tx, 'c')
        return tx.prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n
      }),
    ])
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message))).toEqual([
      undefined,
      'only this one',
      2,
    ])
    expect(recorded()).toEqual(['a', 'c'])
    expect(heard()).toEqual(['a', 'c'])
  })

  test('keeps the order of a thousand calls', async () => {
    const keys = Array.from({ length: 1000 }, (_, i) => String(i))
    await Promise.all(keys.map((key) => commitSoon(rig.db, (tx) => emit(tx, key))))
    expect(recorded()).toEqual(keys)
  })

  test('is committed when the database closes, and refused afterwards', async () => {
    const queued = commitSoon(rig.db, (tx) => emit(tx, 'last'))
    rig.reboot()
    await queued
    expect(recorded()).toEqual(['last'])
    const closed = rig.db
    rig.reboot()
    await expect(commitSoon(closed, () => 1)).rejects.toMatchObject({ code: 'database_unavailable' })
    expect(() => transact(closed, () => 1)).toThrow(expect.objectContaining({ code: 'database_unavailable' }))
  })
})

describe('a full disk', () => {
  const fill = () => {
    const pages = rig.db.connection.pragma('page_count', { simple: true }) as number
    rig.db.connection.pragma(`max_page_count = ${pages + 4}`)
  }
  const makeRoom = () => rig.db.connection.pragma('max_page_count = 1073741823')
  const big = (tx: Tx) => emit(tx, 'x'.repeat(100_000))

  test('is reported, leaves nothing half written, and ends when there is room', async () => {
    fill()
    expect(() => transact(rig.db, big)).toThrow(expect.objectContaining({ code: 'disk_full' }))
    expect([recorded(), events]).toEqual([[], []])
    expect(rig.db.trouble()).toBe('disk_full')
    makeRoom()
    transact(rig.db, (tx) => emit(tx, 'again'))
    expect(recorded()).toEqual(['again'])
    expect(await rig.db.findDamage()).toEqual([])
  })

  test('fails only those functions of a shared commit that were not written', async () => {
    fill()
    const outcomes = await Promise.allSettled([commitSoon(rig.db, (tx) => emit(tx, 'small')), commitSoon(rig.db, big)])
    const kept = recorded()
    expect(outcomes[1]).toMatchObject({ status: 'rejected', reason: { code: 'disk_full' } })
    expect(kept).toEqual(outcomes[0].status === 'fulfilled' ? ['small'] : [])
    expect(heard()).toEqual(kept)
    makeRoom()
    await commitSoon(rig.db, (tx) => emit(tx, 'after'))
    expect(recorded().at(-1)).toBe('after')
  })
})
