import { beforeEach, describe, expect, it } from 'vitest'
import { FIRES_PER_HOUR } from '../../contract/triggers.ts'
import type { KnownTrigger } from '../../records/triggers/trigger-index.ts'
import { BYTES_PER_TURN, createParseQueue, type ParseQueue, type QueuedDelivery } from './parse-queue.ts'

const trigger = { seq: 1 } as KnownTrigger
const other = { seq: 2 } as KnownTrigger

let accepted: Map<KnownTrigger, number>
let turns: (() => void)[]
let queue: ParseQueue
let happened: string[]

beforeEach(() => {
  accepted = new Map()
  turns = []
  happened = []
  const roomIn = (one: KnownTrigger) => FIRES_PER_HOUR - (accepted.get(one) ?? 0)
  queue = createParseQueue({ roomIn, waitFor: (one) => (roomIn(one) > 0 ? 0 : 1000), nextTurn: (act) => void turns.push(act) })
})

function nextTurn(): void {
  for (const act of turns.splice(0)) act()
}

type Fields = Partial<Pick<QueuedDelivery, 'trigger' | 'bytes' | 'parse'>>

function add(name: string, { trigger: of = trigger, bytes = 100, parse }: Fields = {}): void {
  queue.add({
    trigger: of,
    bytes,
    parse: parse ?? ((leave) => (happened.push(`${name} parsed`), accept(leave, of))),
    full: () => void happened.push(`${name} full`),
    failed: () => void happened.push(`${name} failed`),
  })
}

function accept(leave: () => void, of = trigger): void {
  accepted.set(of, (accepted.get(of) ?? 0) + 1)
  leave()
}

const counts = (what: string) => happened.filter((line) => line.endsWith(what)).length

describe('a turn of the event loop', () => {
  it('parses small bodies as soon as they are here, and so many bytes of them', () => {
    for (let n = 0; n < 10; n++) add(`${n}`, { trigger: { seq: n } as KnownTrigger, bytes: BYTES_PER_TURN / 8 })
    expect(counts('parsed')).toBe(8)
    nextTurn()
    expect(counts('parsed')).toBe(10)
  })

  it('parses one large body, however many wait', () => {
    for (let n = 0; n < 5; n++) add(`${n}`, { bytes: 1_000_000 })
    for (let turn = 1; turn < 5; turn++) {
      expect(happened).toEqual(Array.from({ length: turn }, (_, n) => `${n} parsed`))
      nextTurn()
    }
    expect(counts('parsed')).toBe(5)
  })

  it('lets nobody pass who came later', () => {
    add('large', { bytes: 1_000_000 })
    add('next', { bytes: 1_000_000 })
    add('small', { trigger: other, bytes: 10 })
    expect(happened).toEqual(['large parsed'])
    nextTurn()
    nextTurn()
    expect(happened).toEqual(['large parsed', 'next parsed', 'small parsed'])
  })
})

describe('the hour of a webhook', () => {
  it('is full for the rest once thirty were accepted, and the rest is not parsed', () => {
    for (let n = 0; n < 60; n++) add(`${n}`, { bytes: 1_000_000 })
    for (let turn = 0; turn < 30; turn++) nextTurn()
    expect([counts('parsed'), counts('full')]).toEqual([30, 30])
  })

  it('has a place for as many as it may accept, and those behind them wait for how they end', () => {
    const leaves: (() => void)[] = []
    for (let n = 0; n < FIRES_PER_HOUR; n++) add(`${n}`, { parse: (leave) => void leaves.push(leave) })
    add('waiting')
    add('waiting too')
    add('of another', { trigger: other })
    expect(happened).toEqual(['of another parsed'])
    // One was broken: its place goes to the next, and nobody is refused for it.
    leaves.pop()!()
    nextTurn()
    expect(happened).toEqual(['of another parsed', 'waiting parsed'])
    for (const leave of leaves) accept(leave)
    nextTurn()
    expect(happened.at(-1)).toBe('waiting too full')
  })

  it('that cannot be read fails the delivery and no other', () => {
    let isBroken = true
    queue = createParseQueue({
      roomIn: () => 30,
      waitFor() {
        if (isBroken) throw new Error('the database is gone')
        return 0
      },
      nextTurn: (act) => void turns.push(act),
    })
    add('first')
    isBroken = false
    add('second')
    expect(happened).toEqual(['first failed', 'second parsed'])
  })
})
