import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Person } from '../contract/auth-api.ts'
import { QUICK_HASHING } from '../testing/quick-hashing.ts'
import { openAccounts, type Accounts } from './accounts.ts'
import { SLOW_HASHING, type Client, type PasswordHashing } from './auth-sessions.ts'
import * as tables from './auth-tables.ts'

const PASSWORD = 'correct horse battery'
const MINUTE = 60_000
/** Enough for each address and each name to come ten times after the limit was reached. */
const GUESSES = Number(process.env['GUESSES'] ?? 640)
let dataDir: string
let accounts: Accounts
let checks: number
let hashing: PasswordHashing
let clock: number
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'deckhand-accounts-'))
  checks = 0
  hashing = QUICK_HASHING
  clock = Date.now()
  accounts = await open()
})
afterEach(() => {
  accounts.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Counts what the product hashes and compares. */
const passwords: PasswordHashing = {
  hash: (password) => (checks++, hashing.hash(password)),
  verify: (given) => (checks++, hashing.verify(given)),
}
const open = () => openAccounts({ dataDir, secret: 'a-secret-of-this-test-0123456789abcdef', now: () => clock, passwords })
async function restart() {
  accounts.close()
  accounts = await open()
}
const from = (address: string, cookie?: string, userAgent = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'): Client => ({
  address,
  userAgent,
  cookie,
})
const cookieOf = (cookies: string[]) => cookies.map((cookie) => cookie.split(';')[0]!).join('; ')
async function signIn(name: string, password = PASSWORD, client = from('192.0.2.1')) {
  const answer = await accounts.signIn(name, password, client)
  if ('refused' in answer) throw new Error(answer.refused)
  return { ...answer, cookie: cookieOf(answer.cookies) }
}
async function invited(name: string, role: 'owner' | 'member' = 'member') {
  const { link } = accounts.invite(role, null)
  const answer = await accounts.signUp(link, { name, password: PASSWORD }, from('192.0.2.1'))
  if ('refused' in answer) throw new Error(answer.refused)
  return { ...answer, cookie: cookieOf(answer.cookies) }
}

describe('accounts', () => {
  it('start with one owner, who signs in by name in any case, after a restart too', async () => {
    hashing = SLOW_HASHING
    expect(accounts.hasOwner()).toBe(false)
    const owner = await accounts.createOwner({ name: 'Jörg  Meier', password: PASSWORD })
    expect(owner).toMatchObject({ name: 'Jörg  Meier', role: 'owner' })
    expect(await accounts.createOwner({ name: 'Second', password: PASSWORD })).toEqual({ refused: 'owner_exists' })
    await restart()
    const { person, cookies, cookie, token } = await signIn(' JÖRG meier ')
    expect(person).toEqual(owner)
    expect(cookies).toHaveLength(1)
    expect(cookies[0]).toMatch(/^deckhand\.session_token=.+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(await accounts.sessionOf(cookie)).toMatchObject({ person: owner })
    expect(await accounts.resolveSession(token)).toEqual({ userId: person.id })
    expect(decodeURIComponent(cookie.split('=')[1]!)).toBe(token)
    // The first part is what auth.db holds.
    for (const wrong of ['', 'x', token.slice(1), `${token}x`, token.split('.')[0]!, `${token}; deckhand.session_token=${token}`])
      expect(await accounts.resolveSession(wrong)).toBeNull()
  })

  it('come from one-time links: a setup link while there is no owner, then invitations of three days', async () => {
    const setup = accounts.createSetupToken()!
    expect(accounts.checkLink(setup)).toEqual({ role: 'owner', invitedBy: null, isSetup: true })
    const join = (link: string, name: string) => accounts.signUp(link, { name, password: PASSWORD }, from('192.0.2.1'))
    // Two at once: the link makes one account.
    const both = await Promise.all([join(setup, 'anna'), join(setup, 'mallory')])
    expect(both.filter((answer) => 'refused' in answer)).toEqual([{ refused: 'link_not_valid' }])
    expect(accounts.createSetupToken()).toBeNull()
    const [owner] = accounts.listPeople()
    clock += MINUTE
    const { link, invitation } = accounts.invite('member', owner!)
    expect(invitation).toMatchObject({ role: 'member', invitedBy: owner!.name, expiresAt: clock + 3 * 24 * 60 * MINUTE })
    expect(await join(link, owner!.name.toUpperCase())).toEqual({ refused: 'name_taken' })
    expect(await join(link, 'ben')).toMatchObject({ person: { name: 'ben', role: 'member' } })
    expect(await join(link, 'carl')).toEqual({ refused: 'link_not_valid' })
    const withdrawn = accounts.invite('member', owner!)
    expect(accounts.withdrawInvitation(withdrawn.invitation.id)).toBe(true)
    const late = accounts.invite('member', owner!)
    clock += 3 * 24 * 60 * MINUTE
    expect(accounts.listInvitations()).toEqual([])
    for (const dead of [withdrawn.link, late.link, 'x'.repeat(43)]) expect(await join(dead, 'carl')).toEqual({ refused: 'link_not_valid' })
    expect(accounts.listPeople().map(({ name }) => name)).toEqual([owner!.name, 'ben'])
  })

  it('take their invitations along when they are no owners any more, or when their password is reset', async () => {
    const anna = (await accounts.createOwner({ name: 'anna', password: PASSWORD })) as Person
    const { person: ben } = await invited('ben', 'owner')
    const annas = accounts.invite('owner', anna)
    const bens = [accounts.invite('owner', ben)]
    accounts.changeRole(ben.id, 'member')
    accounts.changeRole(ben.id, 'owner')
    bens.push(accounts.invite('owner', ben))
    await accounts.resetPassword(ben.id, 'another good password')
    for (const { link } of bens) expect(accounts.checkLink(link)).toBeNull()
    expect(accounts.listInvitations()).toEqual([annas.invitation])
  })

  it('always keep one owner', async () => {
    const anna = (await accounts.createOwner({ name: 'anna', password: PASSWORD })) as { id: string }
    expect(accounts.changeRole(anna.id, 'member')).toEqual({ refused: 'last_owner' })
    expect(accounts.removePerson(anna.id)).toEqual({ refused: 'last_owner' })
    const { person: ben } = await invited('ben', 'owner')
    expect(accounts.changeRole(anna.id, 'member')).toMatchObject({ role: 'member' })
    expect(accounts.removePerson(ben.id)).toEqual({ refused: 'last_owner' })
    expect(accounts.removePerson(anna.id)).toBeNull()
    expect(accounts.removePerson(anna.id)).toEqual({ refused: 'person_not_found' })
  })
})

describe('sessions', () => {
  it('get a new id at each sign-in, and end on the server at sign-out', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    const first = await signIn('anna')
    const second = await signIn('anna', PASSWORD, from('192.0.2.1', first.cookie))
    expect(second.cookie).not.toBe(first.cookie)
    expect(await accounts.sessionOf(first.cookie)).toBeNull()
    const { cookies } = await accounts.signOut(from('192.0.2.1', second.cookie))
    expect(cookies[0]).toContain('Max-Age=0')
    expect(await accounts.sessionOf(second.cookie)).toBeNull()
    expect(await accounts.resolveSession(second.token)).toBeNull()
  })

  it('are not made from a cookie that somebody chose or changed', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    const { cookie, token } = await signIn('anna')
    for (const forged of [
      `deckhand.session_token=${token.split('.')[0]!}`,
      `${cookie}x`,
      cookie.replace(/.$/, ''),
      `deckhand.session_token=${token.split('.')[0]!}.AAAA`,
    ])
      expect(await accounts.sessionOf(forged)).toBeNull()
  })

  it('are listed as devices, and a password change ends all others', async () => {
    hashing = SLOW_HASHING
    const anna = (await accounts.createOwner({ name: 'anna', password: PASSWORD })) as { id: string; name: string }
    const { person: ben, cookie: bens } = await invited('ben')
    const phone = await signIn(
      'anna',
      PASSWORD,
      from('::ffff:192.0.2.7', undefined, 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18.0 Safari/604.1'),
    )
    const laptop = await signIn('anna')
    const phoneId = (await accounts.sessionOf(phone.cookie))!.deviceId
    const devices = accounts.listDevices({ personId: anna.id, thisDevice: phoneId })
    expect(devices).toHaveLength(2)
    expect(devices.find(({ isThis }) => isThis)).toMatchObject({
      browser: 'Safari',
      system: 'iPhone',
      address: '192.0.2.7',
      personName: 'anna',
    })
    expect(accounts.listDevices({ personId: null, thisDevice: null })).toHaveLength(3)

    let changes = 0
    accounts.onChange(() => changes++)
    const change = { currentPassword: 'not the password', newPassword: 'another good password' }
    const who = (await accounts.sessionOf(phone.cookie))!.person
    expect(await accounts.changePassword(change, who, from('192.0.2.7', phone.cookie))).toEqual({ refused: 'wrong_password' })
    const changed = await accounts.changePassword({ ...change, currentPassword: PASSWORD }, who, from('192.0.2.7', phone.cookie))
    expect(await accounts.sessionOf(cookieOf((changed as { cookies: string[] }).cookies))).toMatchObject({ person: { name: 'anna' } })
    expect(await accounts.sessionOf(laptop.cookie)).toBeNull()
    expect(changes).toBe(1)
    await expect(signIn('anna')).rejects.toThrow('sign_in_failed')

    const bensId = (await accounts.sessionOf(bens))!.deviceId
    expect(accounts.signOutDevice(bensId, anna.id)).toBe(false)
    expect(accounts.signOutDevice(bensId, ben.id)).toBe(true)
    expect(await accounts.sessionOf(bens)).toBeNull()
  })

  it('end after thirty days without use, and leave nothing behind', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    const { token } = await signIn('anna')
    clock += 31 * 24 * 60 * MINUTE
    expect(await accounts.resolveSession(token)).toBeNull()
    expect(accounts.listDevices({ personId: null, thisDevice: null })).toEqual([])
    // The library has a clock of its own, which is behind this one, so the new session counts as ended too.
    await signIn('anna')
    const sqlite = new Sqlite(join(dataDir, 'auth.db'), { readonly: true })
    expect(sqlite.prepare('SELECT token FROM session').all()).not.toContainEqual({ token: token.split('.')[0] })
    sqlite.close()
  })

  it('do not begin with a password that was replaced while it was checked, neither by signing in nor by changing it', async () => {
    const anna = (await accounts.createOwner({ name: 'anna', password: PASSWORD })) as Person
    let resets = 0
    const slow: PasswordHashing = {
      hash: QUICK_HASHING.hash,
      async verify(given) {
        hashing = QUICK_HASHING
        const isRight = await QUICK_HASHING.verify(given)
        await accounts.resetPassword(anna.id, `password of reset ${++resets}`)
        return isRight
      },
    }
    const { cookie } = await signIn('anna')
    hashing = slow
    await expect(signIn('anna')).rejects.toThrow('sign_in_failed')
    hashing = slow
    const change = { currentPassword: 'password of reset 1', newPassword: 'a password of the thief' }
    expect(await accounts.changePassword(change, anna, from('192.0.2.1', cookie))).toEqual({ refused: 'wrong_password' })
    expect(accounts.listDevices({ personId: null, thisDevice: null })).toEqual([])
    await signIn('anna', 'password of reset 2')
  })

  it('end when the person is removed', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    const { person, cookie } = await invited('ben')
    expect(accounts.removePerson(person.id)).toBeNull()
    expect(await accounts.sessionOf(cookie)).toBeNull()
  })
})

describe('guessing', () => {
  it('is checked at most 20 times in 15 minutes, over addresses, accounts and a restart', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    await invited('ben')
    checks = 0
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1', '2001:db8:0:1::1', '::1']
    const names = ['anna', 'ben', 'nobody', 'root', 'Anna ']
    const guessSome = async (many: number) => {
      for (let i = 0; i < many; i++) {
        const answer = await accounts.signIn(names[i % 5]!, `guess number ${i}`, from(addresses[i % 6]!))
        expect(answer).toMatchObject({ refused: expect.stringMatching(/^(sign_in_failed|too_many_guesses)$/) })
      }
    }
    await guessSome(GUESSES / 2)
    await restart()
    clock += 10 * MINUTE
    await guessSome(GUESSES / 2)
    expect(checks).toBe(20)
    // The right password is not checked either, and nobody hears that it was right.
    expect(await accounts.signIn('anna', PASSWORD, from('192.0.2.9'))).toEqual({ refused: 'too_many_guesses', retryAfterMs: 5 * MINUTE })
    clock += 5 * MINUTE
    await signIn('anna')
  })

  it('counts ten for one address, however it is written, and ten for one account', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    checks = 0
    const last = ['::ffff:192.0.2.5', '::ffff:c000:205', '192.0.2.5']
    for (let i = 0; i < 30; i++) await accounts.signIn(`name ${i}`, 'a wrong password', from(last[i % 3]!))
    expect(checks).toBe(10)
    for (let i = 0; i < 30; i++) await accounts.signIn('anna', 'a wrong password', from(`2001:db8:${i}::1`))
    expect(checks).toBe(20)
  })

  it('counts before it checks, so that parallel guesses do not pass the limit', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    checks = 0
    await Promise.all(Array.from({ length: 60 }, (_, i) => accounts.signIn('anna', `guess ${i}`, from('192.0.2.1'))))
    expect(checks).toBe(10)
  })

  it('is not counted any more for an account that got another password, and its devices are signed out', async () => {
    await accounts.createOwner({ name: 'Anna', password: PASSWORD })
    const { cookie } = await signIn('anna')
    for (let i = 0; i < 10; i++) await accounts.signIn('anna', 'a wrong password', from(`192.0.2.${i}`))
    expect(await accounts.signIn('anna', PASSWORD, from('198.51.100.1'))).toMatchObject({ refused: 'too_many_guesses' })
    expect(await accounts.resetPassword('nobody', 'another good password')).toEqual({ refused: 'person_not_found' })
    const { id } = accounts.findPerson('ANNA')!
    expect(accounts.findAccount(id)).toMatchObject({ tokensSince: 0 })
    expect(await accounts.resetPassword(id, 'another good password')).toBeNull()
    expect(await accounts.sessionOf(cookie)).toBeNull()
    expect(accounts.findAccount(id)).toMatchObject({ person: { name: 'Anna' }, tokensSince: clock })
    expect(accounts.findAccount('nobody')).toBeNull()
    expect(await accounts.signIn('anna', PASSWORD, from('198.51.100.1'))).toMatchObject({ refused: 'sign_in_failed' })
    expect((await signIn('anna', 'another good password', from('198.51.100.1'))).person.name).toBe('Anna')
  })

  it('is not counted for the right password, and not for ever after the clock was ahead', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    for (let i = 0; i < 11; i++) await signIn('anna')
    clock += 365 * 24 * 60 * MINUTE
    for (let i = 0; i < 10; i++) await accounts.signIn('anna', 'a wrong password', from('192.0.2.1'))
    clock -= 365 * 24 * 60 * MINUTE
    expect(await accounts.signIn('anna', PASSWORD, from('192.0.2.1'))).toEqual({ refused: 'too_many_guesses', retryAfterMs: 15 * MINUTE })
    clock += 15 * MINUTE
    await signIn('anna')
  })

  it('learns nothing about which names exist', async () => {
    hashing = SLOW_HASHING
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    checks = 0
    const known = await accounts.signIn('anna', 'a wrong password', from('192.0.2.1'))
    const unknown = await accounts.signIn('nobody', 'a wrong password', from('192.0.2.1'))
    expect(known).toEqual(unknown)
    // The same costly function runs for both.
    expect(checks).toBe(2)
  })
})

describe('auth.db', () => {
  it('has the columns that its tables name', () => {
    const sqlite = new Sqlite(join(dataDir, 'auth.db'), { readonly: true })
    const columns = (rows: { name: string; notnull: number }[]) => rows.map(({ name, notnull }) => `${name} ${notnull}`).toSorted()
    for (const table of Object.values(tables) as SQLiteTable[]) {
      const { name, columns: declared } = getTableConfig(table)
      const found = sqlite.pragma(`table_info(${name})`) as { name: string; notnull: number }[]
      expect(columns(found), name).toEqual(columns(declared.map((column) => ({ name: column.name, notnull: Number(column.notNull) }))))
    }
    sqlite.close()
  })

  it('signs everybody out when asked to, on all devices', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    const [first, second] = [await signIn('anna'), await signIn('anna')]
    accounts.endAllSessions()
    for (const { cookie } of [first, second]) expect(await accounts.sessionOf(cookie)).toBeNull()
    expect((await signIn('anna')).person.name).toBe('anna')
  })

  it.skipIf(process.platform === 'win32')('is readable by its owner only', async () => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    for (const file of readdirSync(dataDir)) expect(statSync(join(dataDir, file)).mode & 0o077, file).toBe(0)
  })

  it('holds neither passwords nor links', async () => {
    hashing = SLOW_HASHING
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    const { link } = accounts.invite('member', null)
    // Typed into the wrong field.
    await accounts.signIn(PASSWORD, PASSWORD, from('192.0.2.1'))
    for (const file of readdirSync(dataDir)) {
      const bytes = readFileSync(join(dataDir, file), 'latin1')
      expect(bytes).not.toContain(PASSWORD)
      expect(bytes).not.toContain(link)
    }
  })

  it.each([
    ['text', () => Buffer.from('not a database '.repeat(500))],
    ['a database with a broken page', (whole: Buffer) => Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 0x5a)])],
    ['half of a database', (whole: Buffer) => whole.subarray(0, Math.floor(whole.length / 2))],
  ])('is kept aside if it is damaged: %s', async (_name, damage) => {
    await accounts.createOwner({ name: 'anna', password: PASSWORD })
    accounts.close()
    const file = join(dataDir, 'auth.db')
    const damaged = damage(readFileSync(file))
    writeFileSync(file, damaged)
    accounts = await open()
    expect(accounts.damagedFile).toBe(`${file}.damaged-${clock}`)
    expect(readFileSync(accounts.damagedFile!).equals(damaged)).toBe(true)
    expect(accounts.hasOwner()).toBe(false)
    await restart()
    expect(accounts.damagedFile).toBeNull()
  })

  it('is left alone if a newer Deckhand wrote it', async () => {
    accounts.close()
    const sqlite = new Sqlite(join(dataDir, 'auth.db'))
    sqlite.pragma('user_version = 99')
    sqlite.close()
    await expect(open()).rejects.toThrow('A newer version of Deckhand')
    rmSync(join(dataDir, 'auth.db'))
    accounts = await open()
  })
})
