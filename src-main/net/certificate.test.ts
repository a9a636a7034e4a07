import { createPublicKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../log/log.ts'
import { createCertificates, type Certificates } from './certificate.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const START = Date.UTC(2026, 10, 23)

let folder: string
let file: string
let now: number
let kept: Map<string, string>
let hidden: string[]
let warned: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-certificate-'))
  file = join(folder, 'certificate.pem')
  now = START
  kept = new Map()
  hidden = []
  warned = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** As after a start. */
function open(): Certificates {
  return createCertificates({
    file,
    vault: { get: async (name) => kept.get(name) ?? null, set: async (name, value) => void kept.set(name, value) },
    names: () => ['mira.local', 'mira', '192.168.1.20', 'fd00::2'],
    log: { ...silentLog, hide: (secret) => void hidden.push(secret), warn: (_fields, message) => void warned.push(message) },
    now: () => now,
  })
}

const publicKeyOf = (pem: string) =>
  createPublicKey(new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'pem' })

describe('the certificate for the network', () => {
  it('is made once, names this machine, and is valid for at most 397 days', async () => {
    const made = await open().current()
    const read = new X509Certificate(readFileSync(file))
    expect(read.subjectAltName).toBe('DNS:mira.local, DNS:mira, IP Address:192.168.1.20, IP Address:FD00:0:0:0:0:0:0:2')
    expect(read.validFromDate.getTime()).toBeLessThan(START)
    expect(read.validToDate.getTime() - read.validFromDate.getTime()).toBe(397 * DAY_MS)
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect([read.ca, read.verify(read.publicKey), read.publicKey.asymmetricKeyDetails]).toEqual([false, true, { namedCurve: 'prime256v1' }])
    expect(made.fingerprint).toBe(read.fingerprint256)
    expect(await open().current()).toEqual(made)
    expect([hidden.includes(made.key), readFileSync(file, 'utf8').includes('PRIVATE')]).toEqual([true, false])
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is renewed with the same key before it ends, after it ended, and after the clock was wrong', async () => {
    const first = await open().current()
    const renewed = [first.fingerprint]
    for (const days of [365, 365 + 400, 365 + 400 - 200]) {
      now = START + days * DAY_MS
      expect(open().isDue(first)).toBe(days > 367)
      const next = await open().current()
      expect(publicKeyOf(next.certificate)).toBe(publicKeyOf(first.certificate))
      expect([next.validUntil > now + 366 * DAY_MS, next.replacesDamaged]).toEqual([days !== 365, false])
      renewed.push(next.fingerprint)
    }
    expect(renewed[1]).toBe(renewed[0])
    expect(new Set(renewed).size).toBe(3)
  })

  it('is made in place of a damaged one, and says so', async () => {
    const first = await open().current()
    const other = await createOther()
    for (const damage of ['', 'not a certificate', first.certificate.slice(0, 200), other]) {
      writeFileSync(file, damage)
      const next = await open().current()
      expect([next.replacesDamaged, publicKeyOf(next.certificate)]).toEqual([true, publicKeyOf(first.certificate)])
      expect(await open().current()).toEqual({ ...next, replacesDamaged: false })
    }
    expect(warned).toEqual(Array(4).fill('the certificate was damaged; another one was made'))
  })

  it('gets another key on request, and when its key is gone', async () => {
    const first = await open().current()
    const replaced = await open().replace()
    expect([replaced.key === first.key, replaced.replacesDamaged]).toEqual([false, false])
    expect(await open().current()).toEqual(replaced)
    kept.clear()
    const next = await open().current()
    expect([next.key === replaced.key, next.replacesDamaged]).toEqual([false, true])
  })

  it('is not made without the vault', async () => {
    const broken = createCertificates({
      file,
      vault: { get: () => Promise.reject(new Error('locked')), set: async () => {} },
      names: () => ['mira.local'],
      log: { ...silentLog, hide: () => {} },
    })
    await expect(broken.current()).rejects.toThrow('locked')
    expect(() => statSync(file)).toThrow('ENOENT')
  })
})

/** A certificate of another key. */
async function createOther(): Promise<string> {
  const elsewhere = createCertificates({
    file: join(folder, 'other.pem'),
    vault: { get: async () => null, set: async () => {} },
    names: () => ['mira.local'],
    log: { ...silentLog, hide: () => {} },
    now: () => START,
  })
  return (await elsewhere.current()).certificate
}
