import { describe, expect, it, vi } from 'vitest'
import { createStaleBatch } from './stale-batch.ts'

function setUp() {
  let time = 1000
  const frames: (() => void)[] = []
  const later: { at: number; fn: () => void }[] = []
  const flushed: string[][] = []
  const { mark, stop } = createStaleBatch(
    (tags) => flushed.push([...tags]),
    (fn) => frames.push(fn),
    () => time,
    (ms, fn) => later.push({ at: time + ms, fn }),
  )
  const frame = () => frames.splice(0).forEach((fn) => fn())
  const advance = (ms: number) => {
    time += ms
    const due = later.filter((one) => one.at <= time)
    for (const one of due) later.splice(later.indexOf(one), 1)
    for (const one of due) one.fn()
    frame()
  }
  return { mark, stop, frame, advance, flushed }
}

describe('createStaleBatch', () => {
  it('flushes once per frame, each tag once', () => {
    const { mark, frame, flushed } = setUp()
    mark(['jobs', 'job:1'])
    mark(['jobs', 'spend'])
    expect(flushed).toEqual([])
    frame()
    expect(flushed).toEqual([['jobs', 'job:1', 'spend']])
  })

  it('flushes the first at once and a burst at most five times a second, without loss', () => {
    const { mark, advance, flushed } = setUp()
    for (let i = 0; i < 100; i++) {
      mark([`job:${i}`])
      advance(10)
    }
    advance(1000)
    expect(flushed[0]).toEqual(['job:0'])
    expect(flushed.length).toBeLessThanOrEqual(7)
    expect(flushed.flat()).toHaveLength(100)
  })

  it('flushes while the page is hidden, which gets no frames', () => {
    vi.useFakeTimers()
    try {
      vi.stubGlobal('requestAnimationFrame', () => 1)
      const flushed: string[][] = []
      createStaleBatch((tags) => flushed.push([...tags])).mark(['jobs'])
      vi.runAllTimers()
      expect(flushed).toEqual([['jobs']])
    } finally {
      vi.unstubAllGlobals()
      vi.useRealTimers()
    }
  })

  it('flushes nothing when nothing is stale', () => {
    const { mark, frame, flushed } = setUp()
    mark([])
    frame()
    expect(flushed).toEqual([])
  })

  it('flushes nothing once the page is gone', () => {
    const { mark, stop, frame, advance, flushed } = setUp()
    mark(['jobs'])
    frame()
    mark(['jobs'])
    stop()
    advance(1000)
    mark(['spend'])
    advance(1000)
    expect(flushed).toEqual([['jobs']])
  })
})
