import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { canonicalAddress, kindOfAddress, NEAR_KINDS, OPENABLE_KINDS, parseRange, type AddressKind } from './address-kind.ts'
import { hostOf, isLocalName, portOf } from './web-address.ts'

export type GuardRules = {
  /** What the person opened: `nas.local`, `192.168.1.5:8080`, or a range like `198.18.0.0/15`. */
  opened: readonly string[]
  /** Deckhand's own ports. They stay closed on this machine's addresses, even if `opened` names them. */
  closedPorts: ReadonlySet<number>
  /** This machine's addresses. Some of them may be public. */
  ownAddresses: readonly string[]
}

export type AddressGuard = {
  /** This machine or its network. */
  isNear(address: string): boolean
  /** Why the address must not be connected to, as a sentence that names no inner address; null: it may be. */
  refusalOf(address: string): string | null
  /** The host name alone is enough to refuse. */
  nameRefusal: string | null
}

/** Decides which addresses may be connected to for the host and port of a URL. */
export function createAddressGuard(url: URL, { opened, closedPorts, ownAddresses }: GuardRules): AddressGuard {
  const host = hostOf(url)
  const port = portOf(url)
  const own = new Set(ownAddresses.map(canonicalAddress))
  const ranges = opened.map(parseRange).filter((range) => range !== null)
  const isOpenedByName = opened.some((entry) => parseRange(entry) === null && isNamed(entry, host, port))
  const kindOf = (address: string) => (own.has(canonicalAddress(address)) ? 'own' : kindOfAddress(address))
  return {
    nameRefusal:
      isIP(host) === 0 && isLocalName(host) && !isOpenedByName ? `${host} is a name of this machine or its network. ${NOT_OPENED}` : null,
    isNear: (address) => NEAR_KINDS.has(kindOf(address)),
    refusalOf(address) {
      const kind = kindOf(address)
      if (kind === 'public') return null
      const isOwnPort = (kind === 'own' || kind === 'loopback') && closedPorts.has(port)
      const isOpened = isOpenedByName || ranges.some((holds) => holds(address))
      return OPENABLE_KINDS.has(kind) && isOpened && !isOwnPort ? null : describeRefusal(host, kind)
    },
  }
}

export function addressesOfThisMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
}

/** Whether an entry of `opened` can be used: a host, a host with a port, or a range of addresses. */
export function isOpening(entry: string): boolean {
  const text = entry.trim()
  if (parseRange(text) !== null) return true
  if (!/^[^/\\?#@\s]+$/.test(text) || !URL.canParse(`http://${text}`)) return false
  return new URL(`http://${text}`).hostname !== ''
}

/** Whether the person opened the host of this address, by its name or, if it is a number, by a range. */
export function isOpenedHost(url: URL, opened: readonly string[]): boolean {
  const host = hostOf(url)
  return opened.some((entry) => parseRange(entry)?.(host) ?? isNamed(entry, host, portOf(url)))
}

function isNamed(entry: string, host: string, port: number): boolean {
  const text = entry.trim()
  if (!URL.canParse(`http://${text}`)) return false
  if (hostOf(new URL(`http://${text}`)).replace(/\.+$/, '') !== host) return false
  // From the text, because the URL drops `:80`.
  const named = /:(\d+)$/.exec(text.replace(/^\[.*\]/, ''))
  return named === null || Number(named[1]) === port
}

const NOT_OPENED = 'Tools do not open those unless the person has opened this host for them.'

const LEADS_TO: Partial<Record<AddressKind, string>> = {
  own: 'to this machine itself',
  loopback: 'to this machine itself',
  private: 'to a private address',
  shared: 'to a private address (of a provider)',
  benchmark:
    'into 198.18.0.0/15, where no server is. A proxy that answers with made-up addresses ("fake IP", as Clash, Surge and sing-box do) uses it: ' +
    'the person who runs one can open 198.18.0.0/15 for tools',
}

function describeRefusal(host: string, kind: AddressKind): string {
  const where = LEADS_TO[kind] ?? 'to an address that is not on the internet'
  return `${host} leads ${where}. ${OPENABLE_KINDS.has(kind) ? NOT_OPENED : 'Tools never open those.'}`
}
