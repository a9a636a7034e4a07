import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import { silentLog } from '../log/log.ts'
import { troubleOf, type Keychain } from './keychain-key.ts'
import { openVault } from './open-vault.ts'
import type { Vault } from './vault.ts'
import { createWorkerSecret } from './worker-secret.ts'

const log = { ...silentLog, hide: () => undefined }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-vault-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A keychain in memory that stops at Windows' limit and can be made to fail as the real ones do. */
function memoryKeychain() {
  const entries = new Map<string, string>()
  let answer: () => Promise<void> = async () => undefined
  const keychain: Keychain = {
    async getPassword(service, account) {
      await answer()
      return entries.get(`${service}/${account}`) ?? null
    },
    async deletePassword(service, account) {
      await answer()
      return entries.delete(`${service}/${account}`)
    },
    async setPassword(service, account, password) {
      await answer()
      if (Buffer.byteLength(password, 'utf16le') > 2560) throw new Error('The stub received bad data.')
      entries.set(`${service}/${account}`, password)
    },
  }
  return { entries, keychain, answerWith: (next: () => Promise<void>) => (answer = next) }
}

const shared = memoryKeychain()
const SUITES: [string, () => Vault, string][] = [
  ['file', () => openVault('file', folder), 'vault-file.json'],
  ['keychain', () => openVault('keychain', folder, { loadKeychain: async () => shared.keychain }), 'vault-keychain.json'],
]

describe.each(SUITES)('the %s vault', (_kind, open, fileName) => {
  it('keeps secrets across starts', async () => {
    const vault = open()
    expect(await vault.get('provider:a')).toBeNull()
    await vault.set('provider:a', 'first')
    await vault.set('provider:a', 'second')
    await vault.set('provider:b', 'ключ 🔑\n"\\')
    const later = open()
    expect(await later.get('provider:a')).toBe('second')
    expect(await later.get('provider:b')).toBe('ключ 🔑\n"\\')
    expect(later.state()).toEqual({ kind: later.kind, state: 'ok', message: null })
  })

  it('deletes only the given secret', async () => {
    const vault = open()
    await vault.set('a', '1')
    await vault.set('b', '2')
    await vault.delete('a')
    await vault.delete('never-there')
    expect(await open().get('a')).toBeNull()
    expect(await open().get('b')).toBe('2')
  })

  it('stores values longer than any keychain allows', async () => {
    const long = 'x'.repeat(200_000)
    await open().set('oauth', long)
    expect(await open().get('oauth')).toBe(long)
  })

  it('handles names like those of object properties', async () => {
    const vault = open()
    expect(await vault.get('constructor')).toBeNull()
    await vault.set('constructor', 'mine')
    expect(await open().get('constructor')).toBe('mine')
  })

  it('loses none of many concurrent changes', async () => {
    const vault = open()
    await Promise.all(Array.from({ length: 25 }, (_, i) => vault.set(`k${i}`, `v${i}`)))
    const later = open()
    expect(await Promise.all(Array.from({ length: 25 }, (_, i) => later.get(`k${i}`)))).toEqual(
      Array.from({ length: 25 }, (_, i) => `v${i}`),
    )
  })

  it('writes no plain secret to disk, and only its owner can read its files', async () => {
    await open().set('provider:a', 'canary-canary-canary')
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), 'utf8')
      expect(text).not.toContain('canary')
      expect(text).not.toContain(Buffer.from('canary-canary-canary').toString('base64').slice(0, 20))
      if (process.platform !== 'win32') expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    }
  })

  it.each(['iv', 'tag', 'data'])('detects a change in its %s, reports it and overwrites nothing', async (part) => {
    const vault = open()
    await vault.set('a', 'value')
    const file = join(folder, fileName)
    const sealed = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    const bytes = Buffer.from(sealed[part]!, 'base64')
    bytes[0]! ^= 1
    const changed = JSON.stringify({ ...sealed, [part]: bytes.toString('base64') })
    writeFileSync(file, changed)
    const later = open()
    await expect(later.get('a')).rejects.toMatchObject({ trouble: 'damaged' })
    await expect(later.set('a', 'new')).rejects.toMatchObject({ trouble: 'damaged' })
    expect(later.state()).toMatchObject({ state: 'damaged', message: { code: 'vault_damaged', params: { file } } })
    expect(readFileSync(file, 'utf8')).toBe(changed)
  })

  it('keeps a damaged file', async () => {
    writeFileSync(join(folder, fileName), '{"version":1,')
    await expect(open().set('a', 'b')).rejects.toMatchObject({ trouble: 'damaged' })
    expect(readFileSync(join(folder, fileName), 'utf8')).toBe('{"version":1,')
  })
})

describe('a missing key', () => {
  it('leaves the sealed file alone', async () => {
    const own = memoryKeychain()
    const open = () => openVault('keychain', folder, { loadKeychain: async () => own.keychain })
    await open().set('a', 'value')
    const kept = new Map(own.entries)
    own.entries.clear()
    const vault = open()
    await expect(vault.get('a')).rejects.toMatchObject({ trouble: 'damaged' })
    await expect(vault.set('a', 'b')).rejects.toMatchObject({ trouble: 'damaged' })
    expect(own.entries.size).toBe(0)
    for (const [name, value] of kept) own.entries.set(name, value)
    expect(await vault.recheck()).toMatchObject({ state: 'ok' })
    expect(await vault.get('a')).toBe('value')
  })

  it('of the file vault becomes private again if others can read it', async () => {
    if (process.platform === 'win32') return
    await openVault('file', folder).set('a', 'b')
    chmodSync(join(folder, 'vault-file.key'), 0o644)
    expect(await openVault('file', folder).get('a')).toBe('b')
    expect(statSync(join(folder, 'vault-file.key')).mode & 0o777).toBe(0o600)
  })
})

describe('a failing keychain', () => {
  it('that is locked and finds nothing is reported as locked, and the vault is left alone', async () => {
    const own = memoryKeychain()
    let isLocked = false
    const keychain: Keychain = {
      ...own.keychain,
      getPassword: async (...entry) => (isLocked ? null : own.keychain.getPassword(...entry)),
      setPassword: (...entry) =>
        isLocked ? Promise.reject(new Error('Cannot create an item in a locked collection')) : own.keychain.setPassword(...entry),
    }
    const open = () => openVault('keychain', folder, { platform: 'linux', loadKeychain: async () => keychain })
    await open().set('a', 'value')
    isLocked = true
    const vault = open()
    await expect(vault.get('a')).rejects.toMatchObject({ trouble: 'locked' })
    await expect(vault.set('a', 'b')).rejects.toMatchObject({ trouble: 'locked' })
    isLocked = false
    expect(await vault.recheck()).toMatchObject({ state: 'ok' })
    expect(await vault.get('a')).toBe('value')
    expect(own.entries.size).toBe(1)
  })

  it.each([
    ['Cannot autolaunch D-Bus without X11 $DISPLAY', 'absent'],
    ['Unknown or unsupported transport “disabled” for address “disabled:”', 'absent'],
    ['Could not connect: No such file or directory', 'absent'],
    ['The name org.freedesktop.secrets was not provided by any .service files', 'absent'],
    ['libsecret-1.so.0: cannot open shared object file: No such file or directory', 'absent'],
    ['Object does not exist at path “/org/freedesktop/secrets/collection/login”', 'locked'],
    ['Cannot create an item in a locked collection', 'locked'],
    ['User interaction is not allowed.', 'locked'],
    ['User canceled the operation.', 'denied'],
    ['The user name or passphrase you entered is not correct.', 'denied'],
    ['Prompt was dismissed', 'denied'],
    ['Timeout was reached: timed out', 'timeout'],
  ])('%s means %s', (message, expected) => {
    expect(troubleOf(message)).toBe(expected)
  })

  it('is given up after the time limit, and used again once it has answered', async () => {
    const own = memoryKeychain()
    let release = () => undefined as void
    let calls = 0
    own.answerWith(() => {
      calls++
      return new Promise<void>((resolve) => (release = resolve))
    })
    const vault = openVault('keychain', folder, { loadKeychain: async () => own.keychain, timeLimitMs: 20 })
    await expect(vault.get('a')).rejects.toMatchObject({ trouble: 'timeout' })
    await expect(vault.get('a')).rejects.toMatchObject({ trouble: 'timeout' })
    expect(calls).toBe(1)
    expect(vault.isHanging()).toBe(true)
    expect(vault.state().message).toEqual({ code: 'keychain_timeout', params: {} })
    release()
    own.answerWith(async () => undefined)
    await expect.poll(() => vault.recheck()).toMatchObject({ state: 'ok' })
    await vault.set('a', 'b')
    expect(await vault.get('a')).toBe('b')
    expect(vault.isHanging()).toBe(false)
  })

  it('is never replaced by a file', async () => {
    const vault = openVault('keychain', folder, {
      loadKeychain: async () => {
        throw new Error('libsecret-1.so.0: cannot open shared object file')
      },
    })
    await expect(vault.set('a', 'b')).rejects.toMatchObject({ trouble: 'absent', detail: { code: 'keychain_absent' } })
    expect(readdirSync(folder)).toEqual([])
  })

  it('stops local-auth, and gives local-trust a secret for this run', async () => {
    const open = () => openVault('keychain', folder, { loadKeychain: () => Promise.reject(new Error('no library')) })
    const local = { vault: open(), given: null, log }
    const read = (mode: AuthMode) => createWorkerSecret({ ...local, authMode: () => mode }).read()
    expect(await read('local-trust')).not.toBe(await read('local-trust'))
    await expect(read('local-auth')).rejects.toMatchObject({ trouble: 'absent' })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('WORKER_SECRET', () => {
  it('is created once and kept', async () => {
    const read = () => createWorkerSecret({ vault: openVault('file', folder), given: null, authMode: () => 'local-trust', log }).read()
    const secret = await read()
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(await read()).toBe(secret)
  })

  it('is not stored if it is given', async () => {
    const given = 'given-from-outside-0123456789abcdef'
    const secret = createWorkerSecret({ vault: openVault('file', folder), given, authMode: () => 'local-auth', log })
    expect(await secret.read()).toBe(given)
    expect(readdirSync(folder)).toEqual([])
  })
})

/** The real library with a separate Secret Service. The person's keyring is not used. */
describe('the system keychain', () => {
  it('keeps the key of the vault across processes', async (test) => {
    const missing =
      process.platform === 'linux' ? await missingProgram(['dbus-run-session', 'gnome-keyring-daemon']) : 'this test needs Linux'
    if (missing) return test.skip(`no Secret Service can be started here: ${missing}`)
    const script = `
      import { openVault } from ${JSON.stringify(new URL('./open-vault.ts', import.meta.url).href)}
      const vault = openVault('keychain', process.env.VAULT_FOLDER)
      if (process.env.STEP === 'write') await vault.set('provider:a', 'from the first process')
      console.log(JSON.stringify({ value: await vault.get('provider:a').catch(() => null), state: vault.state() }))
      process.exit(0)`
    writeFileSync(join(folder, 'step.mjs'), script)
    const session = `
      export XDG_DATA_HOME="${folder}/data" XDG_CACHE_HOME="${folder}/cache" XDG_RUNTIME_DIR="${folder}/run"
      mkdir -p -m 700 "$XDG_DATA_HOME" "$XDG_CACHE_HOME" "$XDG_RUNTIME_DIR"
      printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
      STEP=write "$NODE" "${folder}/step.mjs" && STEP=read "$NODE" "${folder}/step.mjs"`
    const { stdout, stderr } = await run('dbus-run-session', ['--', 'sh', '-c', session], {
      ...process.env,
      NODE: process.execPath,
      VAULT_FOLDER: folder,
      DISPLAY: '',
    })
    const results = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { value: string | null; state: { state: string; message: unknown } })
    expect(results, stderr).toEqual(
      [1, 2].map(() => ({ value: 'from the first process', state: { kind: 'keychain', state: 'ok', message: null } })),
    )
  })

  it('is reported as absent if it is missing, with advice', async (test) => {
    if (process.platform !== 'linux') return test.skip('the expected message is that of Linux')
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', `unix:path=${folder}/no-bus`)
    const vault = openVault('keychain', folder)
    await expect(vault.get('a')).rejects.toMatchObject({ trouble: 'absent', detail: { code: 'keychain_absent' } })
    vi.unstubAllEnvs()
  })
})

function run(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve({ stdout, stderr }),
    )
  })
}

async function missingProgram(programs: string[]): Promise<string | null> {
  for (const program of programs) {
    const found = await run('sh', ['-c', `command -v ${program}`], process.env).then(
      () => true,
      () => false,
    )
    if (!found) return `${program} is not installed`
  }
  return null
}
