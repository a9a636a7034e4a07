import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdsInstanceLock } from './single-instance.ts'

let dir: string
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'deckhand-lock-'))))
afterEach(() => rmSync(dir, { recursive: true }))

test.each([
  ['my-laptop-4711', true],
  ['4711-4712', false],
  ['my-laptop-14711', false],
  ['4711', false],
])('the link %s belongs to process 4711: %s', (link, ours) => {
  symlinkSync(link, join(dir, 'SingletonLock'))
  expect(holdsInstanceLock(dir, 4711)).toBe(ours)
})

test('trusts Electron where there is no link', () => {
  expect(holdsInstanceLock(dir, 4711)).toBe(true)
  expect(holdsInstanceLock(join(dir, 'missing'), 4711)).toBe(true)
  mkdirSync(join(dir, 'other'))
  writeFileSync(join(dir, 'other/SingletonLock'), '')
  expect(holdsInstanceLock(join(dir, 'other'), 4711)).toBe(true)
})
