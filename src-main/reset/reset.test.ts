import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDatabase } from '../../src-runner/platform/db/open-database.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { takeDataLock } from './data-lock.ts'
import { measureData } from './own-files.ts'
import { isResetPending } from './own-files.ts'
import { finishReset, requestReset, resetNow } from './reset.ts'

let home: string
let dataDir: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'deckhand-reset-'))
  dataDir = join(home, 'data')
  fill()
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const OTHERS = ['mine.txt', 'my folder/notes.md']
const OWN = [
  'deckhand.db-wal',
  'deckhand.db.replaced-20260101T000000Z',
  'deckhand.db.lock.pid',
  'auth.db',
  'settings.json',
  'window.json',
  'vault-keychain.json',
  'updates.json',
  'certificate.pem',
  'browser-link.json',
  'files/ab/content',
  'logs/main.log',
  'cache/code/x',
  'window/Local Storage/leveldb/1',
  'tunnel/state',
  'skills/4f/SKILL.md',
  'code/1/src/main.ts',
  'mcp/1/home/cache',
  'whatsapp/1',
]

function fill(): void {
  openDatabase({ file: join(dataDir, 'deckhand.db'), clock: systemClock, keepsBallast: false }).close()
  for (const name of [...OWN, ...OTHERS, 'backups/deckhand-20260101T000000Z.db', 'window/SingletonLock']) {
    mkdirSync(dirname(join(dataDir, name)), { recursive: true })
    writeFileSync(join(dataDir, name), 'x')
  }
}

const names = () => readdirSync(dataDir).toSorted()
const erased: string[] = []
const eraseKeys = async (folder: string) => void erased.push(folder)

it('deletes everything of Deckhand, the key in the keychain included, and nothing else', async () => {
  const outside = join(home, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'precious'), 'x')
  symlinkSync(outside, join(dataDir, 'files', 'link'))
  expect(measureData(dataDir)).toMatchObject({ backups: { files: 1, bytes: 1 }, leftAlone: ['mine.txt', 'my folder'] })
  expect(measureData(dataDir).data.files).toBeGreaterThan(OWN.length)
  await requestReset(dataDir, { keepsBackups: false })
  await finishReset({ dataDir, eraseKeys })
  // Chromium holds its own lock while the app starts.
  expect([names(), readdirSync(join(dataDir, 'window'))]).toEqual([['mine.txt', 'my folder', 'window'], ['SingletonLock']])
  expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('x')
  expect(erased).toEqual([dataDir])
  // A start finds a folder that was never used.
  openDatabase({ file: join(dataDir, 'deckhand.db'), clock: systemClock, keepsBallast: false }).close()
})

it('knows everything that the sources put into the data folder', () => {
  const root = join(import.meta.dirname, '../..')
  const sources = ['src-main', 'src-runner'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  )
  const named = new Set(sources.flatMap((text) => [...text.matchAll(/join\((?:\w+\.)*dataDir, '([^']+)'/g)].map(([, name]) => name!)))
  expect([...named]).toEqual(expect.arrayContaining(['deckhand.db', 'whatsapp', 'cache']))
  const folder = join(home, 'named')
  for (const name of named) mkdirSync(join(folder, name), { recursive: true })
  expect(measureData(folder).leftAlone).toEqual([])
})

it('lets repositories forget the folders of code tasks, and trusts no forged one', async () => {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const entries = ['mine', 'forged', 'linked'].map((name) => join(home, 'project/.git/worktrees', name))
  for (const entry of entries) write(join(entry, 'HEAD'), 'ref: refs/heads/x\n')
  write(join(entries[0]!, 'gitdir'), `${dataDir}/code/job-1/.git\n`)
  write(join(entries[1]!, 'gitdir'), `${home}/elsewhere/.git\n`)
  write(join(entries[2]!, 'gitdir'), `${dataDir}/code/job-3/.git\n`)
  write(join(dataDir, 'code/job-1/.git'), `gitdir: ${entries[0]}\n`)
  write(join(dataDir, 'code/job-2/.git'), `gitdir: ${entries[1]}\n`)
  mkdirSync(join(dataDir, 'code/job-3/closed'), { recursive: true })
  symlinkSync(join(dataDir, 'code/job-1/.git'), join(dataDir, 'code/job-3/.git'))
  chmodSync(join(dataDir, 'code/job-3/closed'), 0)
  await resetNow({ dataDir, eraseKeys }, { keepsBackups: true })
  expect(existsSync(join(dataDir, 'code'))).toBe(false)
  expect(readdirSync(join(home, 'project/.git/worktrees'))).toEqual(['forged', 'linked'])
})

it('keeps the backups if wanted', async () => {
  await resetNow({ dataDir, eraseKeys }, { keepsBackups: true })
  expect(names()).toEqual(['backups', 'mine.txt', 'my folder', 'window'])
})

it('finishes at the next start what was interrupted at any step', async () => {
  let steps = 0
  await resetNow({ dataDir, eraseKeys, onStep: () => void steps++ }, { keepsBackups: false })
  expect(steps).toBeGreaterThan(10)
  for (let stopAt = 0; stopAt < steps; stopAt++) {
    fill()
    await requestReset(dataDir, { keepsBackups: false })
    let left = stopAt
    const die = () => {
      if (left-- === 0) throw new Error('killed')
    }
    await finishReset({ dataDir, eraseKeys, onStep: die }).catch(() => {})
    expect(isResetPending(dataDir)).toBe(true)
    await finishReset({ dataDir, eraseKeys })
    expect([names(), isResetPending(dataDir)]).toEqual([['mine.txt', 'my folder', 'window'], false])
  }
})

it('deletes nothing, now or later, while a runner uses the data', async () => {
  const db = openDatabase({ file: join(dataDir, 'deckhand.db'), clock: systemClock, keepsBallast: false })
  const before = names()
  await expect(resetNow({ dataDir, eraseKeys, waitMs: 0 }, { keepsBackups: false })).rejects.toMatchObject({
    detail: { code: 'reset_in_use' },
  })
  expect([names(), isResetPending(dataDir)]).toEqual([before, false])
  db.close()
  const release = takeDataLock(join(dataDir, 'deckhand.db.lock'))
  expect(release).not.toBeNull()
  release!()
})

it('deletes the data also if the keychain does not respond', async () => {
  await resetNow({ dataDir, eraseKeys: () => Promise.reject(new Error('locked')) }, { keepsBackups: false })
  expect(existsSync(join(dataDir, 'vault-keychain.json'))).toBe(false)
})

it('refuses a damaged request without deleting anything', async () => {
  writeFileSync(join(dataDir, 'reset.json'), '{')
  const before = names()
  await expect(finishReset({ dataDir, eraseKeys })).rejects.toMatchObject({ detail: { code: 'reset_unreadable' } })
  expect(names()).toEqual(before)
})
