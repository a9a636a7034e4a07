import { describe, expect, it } from 'vitest'
import { pageOfList } from './cursors.ts'

const keyOf = (name: string) => name
const ALL = ['a', 'b', 'c', 'd', 'e']

describe('pageOfList', () => {
  it('is the whole list without a limit', () => {
    expect(pageOfList(ALL, {}, keyOf)).toEqual({ items: ALL, nextCursor: null })
    expect(pageOfList([], {}, keyOf)).toEqual({ items: [], nextCursor: null })
  })

  it.each([1, 2, 3, 4, 5, 6])('has each item on one page of %i', (limit) => {
    const seen: string[][] = []
    for (let cursor: string | undefined; ;) {
      const { items, nextCursor } = pageOfList(ALL, { limit, cursor }, keyOf)
      seen.push(items)
      if (nextCursor === null) break
      cursor = nextCursor
    }
    expect(seen.flat()).toEqual(ALL)
    expect(seen).toHaveLength(Math.ceil(ALL.length / limit))
  })

  it('goes on after the last item when others came or went, and at its place when it went itself', () => {
    const cursor = pageOfList(ALL, { limit: 2 }, keyOf).nextCursor!
    const next = (items: string[]) => pageOfList(items, { limit: 2, cursor }, keyOf).items
    expect(next(['new', ...ALL])).toEqual(['c', 'd'])
    expect(next(['b', 'c', 'd', 'e'])).toEqual(['c', 'd'])
    expect(next(['a', 'c', 'd', 'e'])).toEqual(['c', 'd'])
    expect(next(['a'])).toEqual([])
  })
})
