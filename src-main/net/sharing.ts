import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import type { TlsPair } from '../../src-runner/contract/encryption.ts'
import type { Message } from '../../src-runner/contract/messages.ts'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import type { Sharing } from '../contract/desktop-api.ts'
import { createListeners } from '../listeners.ts'
import { messageOf, type Log } from '../log/log.ts'
import { problemOf } from '../message-error.ts'
import type { Environment } from '../settings/environment.ts'
import type { MachineSettingsStore } from '../settings/machine-settings.ts'
import { localName, type ReadInterfaces } from './address.ts'
import type { Certificate, Certificates } from './certificate.ts'

/** All IPv4 addresses. Those of IPv6 mostly lead to the whole internet; DASHBOARD_HOST=:: is for people who want that. */
const EVERYWHERE = '0.0.0.0'
const LOOK_EVERY_MS = 5_000
const RENEW_EVERY_MS = 60 * 60_000

export type NetworkSharing = {
  /** How requests are judged at this moment. */
  authMode(): AuthMode
  dashboardHost(): string
  runnerHost(): string
  /** What connections from the network are encrypted with; null: they are not. */
  tls(): TlsPair | null
  state(dashboardPort: number | null): Sharing
  /** Resolves when the new state is saved and in effect. */
  change(isOn: boolean): Promise<'done' | 'needs_owner' | 'fixed'>
  /** The same for encryption. Switching it signs everybody out. Rejects, and changes nothing, if there can be no certificate. */
  encrypt(isOn: boolean): Promise<void>
  /** Makes another certificate with another key. Rejects like `encrypt`. */
  replaceCertificate(): Promise<void>
  /** Finds out at the start whether somebody could sign in at all, and encrypted if that is wanted. Never rejects. */
  prepare(): Promise<void>
  /** Shares after all if `prepare` could not, such as because the keychain was locked. */
  resume(): Promise<void>
  /** Calls `listener` when the addresses of this machine have changed, while it is or may be shared. */
  onChange(listener: () => void): () => void
}

export type NetworkSharingDeps = {
  environment: Environment
  settings: MachineSettingsStore
  hasOwner: () => Promise<boolean>
  /** Signs everybody out. */
  endSessions: () => Promise<void>
  certificates: Certificates
  /** Listens on the present hosts and tells the runner. Resolves with what went wrong, or null. */
  apply: () => Promise<Message | null>
  log: Log
  /** Calls `act` again and again, but does not keep the process alive for it. */
  every?: (ms: number, act: () => void) => void
  interfaces?: ReadInterfaces
}

/**
 * "Share on this network". While it is on, everybody signs in, on this machine too; and only if there is an owner account do
 * the servers leave loopback. The order keeps both true at every moment: sign-in first and the network second, and back. If the
 * network is to be encrypted and there is no certificate, they do not leave loopback either.
 */
export function createSharing({
  environment,
  settings,
  hasOwner,
  endSessions,
  certificates,
  apply,
  log,
  every = (ms, act) => void setInterval(act, ms).unref(),
  interfaces = networkInterfaces,
}: NetworkSharingDeps): NetworkSharing {
  const { sharingFixedBy: fixedBy } = environment
  let needsSignIn = fixedBy === null && settings.current().shareOnNetwork
  let isOpen = false
  let problem: Message | null = null
  let certificate: Certificate | null = null
  let last: Promise<unknown> = Promise.resolve()
  const listeners = createListeners()

  async function set(isOn: boolean): Promise<'done' | 'needs_owner' | 'fixed'> {
    if (fixedBy !== null) return 'fixed'
    if (isOn && !(await hasOwner())) return 'needs_owner'
    if (isOn) certificate = await wantedCertificate()
    await settings.change({ shareOnNetwork: isOn })
    if (isOn) needsSignIn = true
    isOpen = isOn
    problem = await apply()
    if (!isOn) {
      needsSignIn = false
      problem = (await apply()) ?? problem
    }
    log.info({ isOn, problem }, 'sharing on the network was changed')
    listeners.tell()
    return 'done'
  }

  /** Not in turn: a change waits for the server, whose start waits for this. So sharing may be turned off meanwhile. */
  async function prepare(): Promise<void> {
    if (!needsSignIn) return
    isOpen = false
    try {
      if (!(await hasOwner())) return
      certificate = await wantedCertificate()
      isOpen = settings.current().shareOnNetwork
    } catch (error) {
      problem = problemOf(error)
      log.error({ error: messageOf(error) }, 'the accounts or the certificate cannot be read, so Deckhand is not shared')
    }
  }

  async function resume(): Promise<void> {
    // At an ordinary start the vault opens while `prepare` runs.
    if (!needsSignIn || isOpen || problem === null) return
    await prepare()
    if (isOpen) problem = await apply()
    listeners.tell()
  }

  function wantedCertificate(): Promise<Certificate | null> {
    return settings.current().encryptSharing ? certificates.current() : Promise.resolve(null)
  }

  async function use(next: Certificate | null): Promise<void> {
    certificate = next
    if (isOpen) problem = await apply()
    log.info({ isEncrypted: next !== null, fingerprint: next?.fingerprint, problem }, 'the encryption for the network was changed')
    listeners.tell()
  }

  async function renew(): Promise<void> {
    if (!isOpen || certificate === null || !certificates.isDue(certificate)) return
    try {
      await use(await certificates.current())
    } catch (error) {
      log.error({ error: messageOf(error) }, 'the certificate could not be renewed')
    }
  }

  /** One change at a time. */
  function inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = last.then(change)
    last = result.catch(() => undefined)
    return result
  }

  let seen = addresses().join()
  every(LOOK_EVERY_MS, () => {
    const now = isOpen || fixedBy !== null ? addresses().join() : seen
    if (now !== seen) listeners.tell()
    seen = now
  })
  every(RENEW_EVERY_MS, () => void inTurn(renew))

  return {
    authMode: () => (needsSignIn ? 'local-auth' : environment.authMode),
    dashboardHost: () => (isShared() ? EVERYWHERE : environment.dashboardHost),
    runnerHost: () => (isShared() ? EVERYWHERE : environment.runnerHost),
    tls: () => (isShared() && certificate !== null ? { certificate: certificate.certificate, key: certificate.key } : null),
    state(port) {
      const scheme = certificate === null ? 'http' : 'https'
      const urls = isShared() && port !== null ? [...addresses(), localName()].map((name) => `${scheme}://${name}:${port}`) : []
      return {
        isOn: isShared(),
        fixedBy,
        urls,
        problem,
        isEncrypted: settings.current().encryptSharing,
        certificate: certificate && shownOf(certificate),
      }
    },
    change: (isOn) => inTurn(() => set(isOn)),
    encrypt: (isOn) =>
      inTurn(async () => {
        const wasOn = settings.current().encryptSharing
        const next = isOn ? await certificates.current() : null
        // What identifies a device was secret so far, and everybody in the network can read it from now on.
        if (!isOn && wasOn) await endSessions()
        await settings.change({ encryptSharing: isOn })
        await use(next)
        // Somebody in the network may have read it until now.
        if (isOn && !wasOn) await endSessions()
      }),
    replaceCertificate: () => inTurn(async () => use(await certificates.replace())),
    prepare,
    resume: () => inTurn(resume),
    onChange: listeners.add,
  }

  /** Never without sign-in. */
  function isShared(): boolean {
    return isOpen && needsSignIn
  }

  function addresses(): string[] {
    return lanAddresses(interfaces())
  }
}

/** Without the key. */
function shownOf({ fingerprint, validUntil, replacesDamaged }: Certificate): Sharing['certificate'] {
  return { fingerprint, validUntil, replacesDamaged }
}

/** Interfaces of virtual machines, containers and tunnels, which a phone cannot reach. */
const VIRTUAL = /^(docker|br-|veth|virbr|vboxnet|vmnet|utun|tun|tap|wg|tailscale|zt|vEthernet)/i
const PRIVATE = /^(192\.168\.|10\.|172\.(1[6-9]|2\d|3[01])\.)/

/** The IPv4 addresses of this machine, those first that another device of the network most likely reaches. */
export function lanAddresses(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): string[] {
  const rank = (name: string, address: string) => (VIRTUAL.test(name) ? 2 : 0) + (PRIVATE.test(address) ? 0 : 1)
  return Object.entries(interfaces)
    .flatMap(([name, list]) => (list ?? []).map(({ address, family, internal }) => ({ name, address, family, internal })))
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    .toSorted((a, b) => rank(a.name, a.address) - rank(b.name, b.address))
    .map(({ address }) => address)
}
