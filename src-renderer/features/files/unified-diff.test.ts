import { createTwoFilesPatch } from 'diff'
import { expect, it } from 'vitest'
import { parseDiff, splitDiff } from './unified-diff.ts'

const shown = (before: string, after: string) =>
  parseDiff(createTwoFilesPatch('a', 'b', before, after, '', '', { context: 1 })).lines.map((line) =>
    line.kind === 'gap'
      ? '…'
      : `${line.before ?? ''}|${line.after ?? ''}|${{ same: ' ', add: '+', remove: '-' }[line.kind]}${line.text}${line.noEnd ? '¬' : ''}`,
  )

it('numbers the lines of both sides', () => {
  expect(shown('one\ntwo\nthree\n', 'one\n2\nthree\nfour\n')).toEqual(['1|1| one', '2||-two', '|2|+2', '3|3| three', '|4|+four'])
})

it('marks left-out lines', () => {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`)
  const changed = lines.with(4, 'FIVE').with(15, 'SIXTEEN')
  expect(shown(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`)).toEqual([
    '…',
    '4|4| line 4',
    '5||-line 5',
    '|5|+FIVE',
    '6|6| line 6',
    '…',
    '15|15| line 15',
    '16||-line 16',
    '|16|+SIXTEEN',
    '17|17| line 17',
  ])
})

it('is not confused by text that looks like a diff header', () => {
  expect(shown('-- old\n', '++ new\n@@ -1 +1 @@\n')).toEqual(['1||--- old', '|1|+++ new', '|2|+@@ -1 +1 @@'])
})

it('marks a missing newline at the end', () => {
  expect(shown('a', 'a\n')).toEqual(['1||-a¬', '|1|+a'])
})

it('shows a new and a deleted file', () => {
  expect(shown('', 'a\nb\n')).toEqual(['|1|+a', '|2|+b'])
  expect(shown('a\n', '')).toEqual(['1||-a'])
})

it.each(['', '--- a\n+++ b\n', 'not a diff at all'])('finds no lines in %j', (text) => {
  expect(parseDiff(text)).toEqual({ lines: [], added: 0, removed: 0 })
})

it('splits a diff of several files, and loses no line', () => {
  const one = '--- a/cart.ts\n+++ b/cart.ts\n@@ -1 +1 @@\n-x\n+y\n'
  const gone = '--- a/old.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n'
  expect(splitDiff(one + gone)).toEqual([
    { path: 'cart.ts', diff: one },
    { path: 'old.ts', diff: gone },
  ])
  expect(splitDiff('no diff')).toEqual([])
})
