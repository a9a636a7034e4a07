import { expect, test } from 'vitest'
import { advance, readPosition, readUntil, startAt, writePosition } from './position.ts'

const TS = '1795000000.000000'
const NOW = 1_795_000_200_000

test('holds the last message of each conversation', () => {
  let position = startAt(1_795_000_000_000)
  expect(readUntil(position, 'D1')).toBe('1794999940.000000')
  position = advance(position, { channel: 'D1', ts: '1795000001.000100' }, NOW)
  position = advance(position, { channel: 'C1', ts: '1795000002.000000' }, NOW)
  position = advance(position, { channel: 'D1', ts: '1795000001.000050' }, NOW)
  expect(readUntil(position, 'D1')).toBe('1795000001.000100')
  expect(writePosition(position)).toBe('1794999940.000000|D1=1795000001.000100,C1=1795000002.000000')
  expect(readPosition(writePosition(position))).toEqual(position)
})

test('forgets the oldest conversations, and goes back to none of their messages', () => {
  let position = startAt(1_795_000_000_000)
  for (let i = 0; i < 60; i++) {
    position = advance(position, { channel: `D${i}`, ts: `17950001${String(i).padStart(2, '0')}.000000` }, NOW)
  }
  expect(position.read.size).toBe(50)
  expect(readUntil(position, 'D3')).toBe('1795000109.000000')
  expect(readUntil(position, 'D59')).toBe('1795000159.000000')
})

test.each([null, '', 'x', '1|', `${TS}|D1`, `${TS}|D1=x`, `${TS}|d1=${TS}`, `${TS}||`, `1.000000|D1=${TS}`, '500@1'])(
  'is not read from %j',
  (text) => expect(readPosition(text)).toBeNull(),
)
