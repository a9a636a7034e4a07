import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdsInstanceLock, isLockedHere, removeForeignLock } from './single-instance.ts'

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

const HERE = { host: 'my-laptop', isRunning: (pid: number) => pid === 4711 }

test.each([
  ['of another host whose process does not run here', 'old-name-4712', []],
  ['of another host with the id of a process that runs here', 'old-name-4711', ['SingletonLock']],
  ['of this host, which Electron examines itself', 'my-laptop-4712', ['SingletonLock']],
  ['of something else', 'elsewhere', ['SingletonLock']],
])('removes a lock only if it would never be released: one %s', (_, link, left) => {
  symlinkSync(link, join(dir, 'SingletonLock'))
  removeForeignLock(dir, HERE)
  expect(readdirSync(dir)).toEqual(left)
})

test.each([
  ['my-laptop-4711', true],
  ['my-laptop-4712', false],
  ['old-name-4711', false],
])('the lock %s belongs to a Deckhand that runs here: %s', (link, isHere) => {
  symlinkSync(link, join(dir, 'SingletonLock'))
  expect(isLockedHere(dir, HERE)).toBe(isHere)
})

test('asks the system whether a process runs', () => {
  symlinkSync(`${hostname()}-${process.pid}`, join(dir, 'SingletonLock'))
  expect(isLockedHere(dir)).toBe(true)
  removeForeignLock(dir)
  expect(readdirSync(dir)).toEqual(['SingletonLock'])
})

test('leaves it to Electron where there is no link', () => {
  removeForeignLock(dir, HERE)
  expect(isLockedHere(dir, HERE)).toBe(true)
})
