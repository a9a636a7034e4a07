import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { accountsOfBackup } from '../../src-runner/platform/db/account-files.ts'
import { createBackups } from '../../src-runner/platform/db/backups.ts'
import { openDatabase } from '../../src-runner/platform/db/open-database.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { createSignIn, type SignIn } from './sign-in.ts'

let dataDir: string
let file: string
let signIn: SignIn
let at = Date.UTC(2026, 10, 23)
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'deckhand-accounts-'))
  file = join(dataDir, 'deckhand.db')
  signIn = open()
})
afterEach(() => {
  signIn.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const secrets = new Map<string, string>()
const vault = {
  get: async (name: string) => secrets.get(name) ?? null,
  set: async (name: string, value: string) => void secrets.set(name, value),
}
const open = () => createSignIn({ dataDir, vault, log: { error() {}, hide() {} } })
const client = { address: '127.0.0.1', userAgent: 'test', cookie: undefined }
const password = 'correct horse battery'

async function backUp(): Promise<string> {
  const db = openDatabase({ file, clock: systemClock, keepsBallast: false })
  const backups = createBackups(file, () => 0)
  const { name } = await backups.make((at += 60_000))
  db.close()
  return name
}
async function restore(backup: string): Promise<void> {
  openDatabase({ file, clock: systemClock, keepsBallast: false, replaceWith: { backup } }).close()
  await signIn.reloadRestored()
}
async function addOwner(name: string): Promise<string> {
  const made = await (await signIn.accounts()).createOwner({ name, password })
  if ('refused' in made) throw new Error(made.refused)
  return signInAs(name)
}
async function signInAs(name: string, given = password): Promise<string> {
  const done = await (await signIn.accounts()).signIn(name, given, client)
  if ('refused' in done) throw new Error(done.refused)
  return done.token
}

it('come back with a restore if there are none, and everybody signs in again', async () => {
  const token = await addOwner('Ada')
  const name = await backUp()
  signIn.close()
  for (const lost of readdirSync(dataDir)) if (lost.startsWith('auth.db')) rmSync(join(dataDir, lost))
  signIn = open()
  expect(await signIn.hasOwner()).toBe(false)
  await restore(name)
  expect(await signIn.hasOwner()).toBe(true)
  expect(await signIn.resolveSession(token)).toBeNull()
  expect(await signIn.resolveSession(await signInAs('Ada'))).not.toBeNull()
  expect(existsSync(join(dataDir, 'auth.db.restored'))).toBe(false)
})

it('stay as they are if there are any, so that no former password or person comes back; all are signed out', async () => {
  await addOwner('Ada')
  const name = await backUp()
  const accounts = await signIn.accounts()
  const changed: string[] = []
  signIn.onChange(() => changed.push('changed'))
  const { id } = accounts.listPeople()[0]!
  await accounts.resetPassword(id, 'another long password')
  const token = await signInAs('Ada', 'another long password')
  expect(await signIn.resolveSession(token)).not.toBeNull()
  await restore(name)
  expect(await signIn.resolveSession(token)).toBeNull()
  await expect(signInAs('Ada')).rejects.toThrow()
  expect(changed).not.toEqual([])
})

it('take the place of damaged ones, also when the app was killed before it took them', async () => {
  await addOwner('Ada')
  const name = await backUp()
  signIn.close()
  writeFileSync(join(dataDir, 'auth.db'), 'x'.repeat(9000))
  openDatabase({ file, clock: systemClock, keepsBallast: false, replaceWith: { backup: name } }).close()
  signIn = open()
  expect(await signIn.hasOwner()).toBe(true)
  expect(readdirSync(dataDir).some((kept) => kept.startsWith('auth.db.damaged-'))).toBe(true)
})

it('do not come back from a backup whose tables are not ours', async () => {
  await addOwner('Ada')
  const name = await backUp()
  const copy = join(dataDir, 'backups', accountsOfBackup(name))
  const untouched = readFileSync(copy)
  for (const [what, sql] of Object.entries({
    'a trigger': "CREATE TRIGGER spare AFTER INSERT ON session BEGIN UPDATE user SET role = 'owner'; END",
    'a view': 'CREATE VIEW spare AS SELECT token FROM session',
    'another table': 'DROP TABLE guess; CREATE TABLE guess (attemptId TEXT, key TEXT, at INTEGER)',
    'a newer version': 'PRAGMA user_version = 99',
    'an impossible version': 'PRAGMA user_version = -1',
  })) {
    signIn.close()
    for (const lost of readdirSync(dataDir)) if (lost.startsWith('auth.db')) rmSync(join(dataDir, lost))
    writeFileSync(copy, untouched)
    const crafted = new Sqlite(copy)
    crafted.exec(sql)
    crafted.close()
    signIn = open()
    await restore(name)
    expect(await signIn.hasOwner(), what).toBe(false)
  }
  await addOwner('Bea')
})
