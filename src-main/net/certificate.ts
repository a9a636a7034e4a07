import { createPublicKey, createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { TlsPair } from '../../src-runner/contract/encryption.ts'
import type { MainLog } from '../log/main-log.ts'
import { writeAtomic } from '../settings/write-atomic.ts'
import type { Vault } from '../vault/vault.ts'

export type Certificate = TlsPair & {
  /** SHA-256, as browsers show it: pairs of hexadecimal digits with colons. */
  fingerprint: string
  /** Epoch ms. */
  validUntil: number
  /** The file was damaged or belonged to another key, so this one was made in its place. */
  replacesDamaged: boolean
}

export type Certificates = {
  /**
   * The present one; made if there is none, if it ends soon, or if it is damaged. Rejects with a VaultError, or if it cannot be
   * written.
   */
  current(): Promise<Certificate>
  /** Another one with another key. Rejects like `current`. */
  replace(): Promise<Certificate>
  /** Whether it has to be replaced by `current`. */
  isDue(certificate: { validUntil: number }): boolean
}

export type CertificatesDeps = {
  file: string
  vault: Pick<Vault, 'get' | 'set'>
  /** Host names and IP addresses, as they are now. */
  names: () => string[]
  log: Pick<MainLog, 'warn' | 'hide'>
  now?: () => number
}

const KEY_NAME = 'https_key'
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 24 * 60 * 60 * 1000
/** Browsers refuse certificates that are valid for more than 398 days. */
const VALID_DAYS = 397
/** The clocks of other devices may be behind. */
const BACKDATED_DAYS = 1
const RENEWED_DAYS_BEFORE = 30

/** The certificate that Deckhand makes for itself. Its key is in the vault, the rest in a file. */
export function createCertificates({ file, vault, names, log, now = Date.now }: CertificatesDeps): Certificates {
  const isDue = ({ validUntil }: { validUntil: number }) => now() > validUntil - RENEWED_DAYS_BEFORE * DAY_MS

  async function make(key: string, replacesDamaged = false): Promise<Certificate> {
    const certificate = await createCertificate(key, names(), now())
    await writeAtomic(file, certificate)
    return describe(certificate, key, replacesDamaged)
  }

  async function current(): Promise<Certificate> {
    const key = await vault.get(KEY_NAME)
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (key === null) return replace(text !== null)
    log.hide(key)
    if (text === null) return make(key)
    const found = read(text, key)
    if (found === null) {
      log.warn({ file }, 'the certificate was damaged; another one was made')
      return make(key, true)
    }
    // A certificate of the future was made while the clock was wrong.
    return isDue(found) || new X509Certificate(text).validFromDate.getTime() > now() ? make(key) : found
  }

  async function replace(replacesDamaged = false): Promise<Certificate> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
    log.hide(key)
    await vault.set(KEY_NAME, key)
    return make(key, replacesDamaged)
  }

  return { current, replace: () => replace(), isDue }
}

/** null: this is no certificate, or not of this key. */
function read(certificate: string, key: string): Certificate | null {
  try {
    const isOfKey = new X509Certificate(certificate).checkPrivateKey(privateKeyOf(key))
    return isOfKey ? describe(certificate, key, false) : null
  } catch {
    return null
  }
}

function describe(certificate: string, key: string, replacesDamaged: boolean): Certificate {
  const { fingerprint256, validToDate } = new X509Certificate(certificate)
  return { certificate, key, fingerprint: fingerprint256, validUntil: validToDate.getTime(), replacesDamaged }
}

function privateKeyOf(key: string) {
  return createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' })
}

/** Signs a certificate for `names` with its own key. Returns PEM. */
async function createCertificate(key: string, names: string[], now: number): Promise<string> {
  // The library sets up its classes through Reflect metadata, of which it reads nothing that its decorators need.
  const nothing = () => undefined
  if (!('getMetadata' in Reflect)) Object.assign(Reflect, { getMetadata: nothing, getOwnMetadata: nothing, defineMetadata: nothing })
  const x509 = await import('@peculiar/x509')
  const der = (format: 'pkcs8' | 'spki') =>
    format === 'pkcs8' ? Buffer.from(key, 'base64') : createPublicKey(privateKeyOf(key)).export({ format: 'der', type: 'spki' })
  const imported = (format: 'pkcs8' | 'spki', usage: 'sign' | 'verify') =>
    crypto.subtle.importKey(format, der(format), ALGORITHM, true, [usage])
  const serial = randomBytes(16)
  // Positive, and without leading zeros.
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial.toString('hex'),
    name: [{ CN: ['Deckhand'] }],
    notBefore: new Date(now - BACKDATED_DAYS * DAY_MS),
    notAfter: new Date(now + (VALID_DAYS - BACKDATED_DAYS) * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys: { privateKey: await imported('pkcs8', 'sign'), publicKey: await imported('spki', 'verify') },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
    ],
  })
  return `${certificate.toString('pem')}\n`
}
