import { beforeEach, describe, expect, it } from 'vitest'
import { FIRES_PER_HOUR } from '../../contract/triggers.ts'
import type { IndexedTrigger } from '../../domain/triggers/trigger-index.ts'
import { BYTES_PER_TURN, createParseQueue, type ParseQueue } from './parse-queue.ts'

const trigger = { seq: 1 } as IndexedTrigger
const other = { seq: 2 } as IndexedTrigger

let accepted: Map<IndexedTrigger, number>
let turns: (() => void)[]
let queue: ParseQueue
let happened: string[]

beforeEach(() => {
  accepted = new Map()
  turns = []
  happened = []
  const roomIn = (one: IndexedTrigger) => FIRES_PER_HOUR - (accepted.get(one) ?? 0)
  queue = createParseQueue({ roomIn, waitFor: (one) => (roomIn(one) > 0 ? 0 : 1000), nextTurn: (act) => void turns.push(act) })
})

/** What is waiting for promises runs first. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

async function nextTurn(): Promise<void> {
  await settled()
  for (const act of turns.splice(0)) act()
  await settled()
}

type Fields = { trigger?: IndexedTrigger; bytes?: number; parsed?: () => void }

function add(name: string, { trigger: of = trigger, bytes = 100, parsed = () => accept(of) }: Fields = {}): void {
  queue.enter(of, bytes).then(
    (waitMs) => {
      happened.push(`${name} ${waitMs === 0 ? 'parsed' : 'full'}`)
      if (waitMs === 0) parsed()
    },
    () => happened.push(`${name} failed`),
  )
}

function accept(of = trigger): void {
  accepted.set(of, (accepted.get(of) ?? 0) + 1)
  queue.leave(of)
}

const counts = (what: string) => happened.filter((line) => line.endsWith(what)).length

describe('a turn of the event loop', () => {
  it('parses small bodies at once, up to a number of bytes', async () => {
    for (let n = 0; n < 10; n++) add(`${n}`, { trigger: { seq: n } as IndexedTrigger, bytes: BYTES_PER_TURN / 8 })
    await settled()
    expect(counts('parsed')).toBe(8)
    await nextTurn()
    expect(counts('parsed')).toBe(10)
  })

  it('parses one large body', async () => {
    for (let n = 0; n < 5; n++) add(`${n}`, { bytes: 1_000_000 })
    await settled()
    for (let turn = 1; turn < 5; turn++) {
      expect(happened).toEqual(Array.from({ length: turn }, (_, n) => `${n} parsed`))
      await nextTurn()
    }
    expect(counts('parsed')).toBe(5)
  })

  it('keeps the order of arrival', async () => {
    add('large', { bytes: 1_000_000 })
    add('next', { bytes: 1_000_000 })
    add('small', { trigger: other, bytes: 10 })
    await settled()
    expect(happened).toEqual(['large parsed'])
    await nextTurn()
    await nextTurn()
    expect(happened).toEqual(['large parsed', 'next parsed', 'small parsed'])
  })
})

describe('the hour of a webhook', () => {
  it('parses thirty deliveries and refuses the rest unparsed', async () => {
    for (let n = 0; n < 60; n++) add(`${n}`, { bytes: 1_000_000 })
    for (let turn = 0; turn < 30; turn++) await nextTurn()
    expect([counts('parsed'), counts('full')]).toEqual([30, 30])
  })

  it('makes deliveries wait for those that have reserved a place', async () => {
    for (let n = 0; n < FIRES_PER_HOUR; n++) add(`${n}`, { parsed: () => {} })
    add('waiting')
    add('waiting too')
    add('of another', { trigger: other })
    await settled()
    expect(happened.slice(FIRES_PER_HOUR)).toEqual(['of another parsed'])
    // One was broken: its place goes to the next.
    queue.leave(trigger)
    await nextTurn()
    expect(happened.slice(FIRES_PER_HOUR)).toEqual(['of another parsed', 'waiting parsed'])
    for (let n = 1; n < FIRES_PER_HOUR; n++) accept()
    await nextTurn()
    expect(happened.at(-1)).toBe('waiting too full')
  })

  it('fails only the delivery for which the hour could not be read', async () => {
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
    await settled()
    expect(happened).toEqual(['first failed', 'second parsed'])
  })
})
