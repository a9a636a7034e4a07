import { expect, test } from 'vitest'
import { advance, readPosition, readUntil, startAt, writePosition } from './position.ts'

test('holds the last message of each conversation', () => {
  let position = startAt(1_795_000_000_000)
  expect(readUntil(position, 'D1')).toBe('1794999940.000000')
  position = advance(position, 'D1', '1795000001.000100')
  position = advance(position, 'C1', '1795000002.000000')
  position = advance(position, 'D1', '1795000001.000050')
  expect(readUntil(position, 'D1')).toBe('1795000001.000100')
  expect(writePosition(position)).toBe('1794999940.000000|D1=1795000001.000100,C1=1795000002.000000')
  expect(readPosition(writePosition(position))).toEqual(position)
})

test('forgets the oldest conversations, and goes back to none of their messages', () => {
  let position = startAt(1_795_000_000_000)
  for (let i = 0; i < 60; i++) position = advance(position, `D${i}`, `17950001${String(i).padStart(2, '0')}.000000`)
  expect(position.read.size).toBe(50)
  expect(readUntil(position, 'D3')).toBe('1795000109.000000')
  expect(readUntil(position, 'D59')).toBe('1795000159.000000')
})

test.each([null, '', 'x', '1|', '1.000000|D1', '1.000000|D1=x', '1.000000|d1=1.000000', '1.000000||', '500@1'])(
  'is not read from %j',
  (text) => expect(readPosition(text)).toBeNull(),
)
