import { expect, it } from 'vitest'
import { makeId } from '../testing/things.ts'
import { isSeen, markSeen } from './seen.ts'

it('forgets the oldest jobs first, in whatever order they were seen', () => {
  const oldestFirst = Array.from({ length: 10_001 }, makeId)
  markSeen(oldestFirst.toReversed())
  expect(oldestFirst.filter((id) => !isSeen(id))).toEqual([oldestFirst[0]])
})
