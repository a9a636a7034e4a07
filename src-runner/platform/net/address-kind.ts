import ipaddr from 'ipaddr.js'

/** Only `public` is the internet. Everything else is this machine, its network, or not a real address. */
export type AddressKind =
  | 'public'
  | 'own'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link_local'
  | 'metadata'
  | 'benchmark'
  | 'multicast'
  | 'unspecified'
  | 'embedded'
  | 'reserved'

/**
 * Kinds that a person may open by name or range. The rest stays closed, such as a cloud machine's credentials and IPv4 addresses
 * inside IPv6.
 */
export const OPENABLE_KINDS: ReadonlySet<AddressKind> = new Set(['own', 'loopback', 'private', 'shared', 'benchmark'])

/** This machine and its network. Not `benchmark`: some VPNs give all hosts of the internet such an address. */
export const NEAR_KINDS: ReadonlySet<AddressKind> = new Set(['own', 'loopback', 'private', 'shared'])

/** Clouds serve a machine's credentials here. The first two look public or like an ordinary private address. */
const METADATA = new Set(['168.63.129.16', 'fd00:ec2::254', '169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192'])

const BENCHMARK_V4 = ipaddr.IPv4.parseCIDR('198.18.0.0/15')
/** All IPv6 addresses assigned to the internet so far. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')

const KINDS: Record<string, AddressKind> = {
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  carrierGradeNat: 'shared',
  linkLocal: 'link_local',
  multicast: 'multicast',
  broadcast: 'multicast',
  unspecified: 'unspecified',
  benchmarking: 'benchmark',
  ipv4Mapped: 'embedded',
  rfc6145: 'embedded',
  rfc6052: 'embedded',
  '6to4': 'embedded',
  teredo: 'embedded',
}

/** Takes an address from a resolver or a socket. One that cannot be parsed is `reserved`, so it is not opened. */
export function kindOfAddress(text: string): AddressKind {
  const address = parseAddress(text)
  if (address === null) return 'reserved'
  if (METADATA.has(address.toString())) return 'metadata'
  const range = address.range()
  if (address instanceof ipaddr.IPv4) {
    if (range === 'unicast') return 'public'
    if (address.match(BENCHMARK_V4)) return 'benchmark'
  } else if (range === 'unicast') {
    return address.match(GLOBAL_V6) ? 'public' : 'reserved'
  }
  return KINDS[range] ?? 'reserved'
}

/** One spelling for each address, so that two can be compared; null: not an address. */
export function canonicalAddress(text: string): string | null {
  return parseAddress(text)?.toString() ?? null
}

/** A test for addresses in a range like `198.18.0.0/15`; null: not a range. */
export function parseRange(text: string): ((address: string) => boolean) | null {
  if (!ipaddr.isValidCIDR(text)) return null
  const range = ipaddr.parseCIDR(text)
  return (candidate) => {
    const address = parseAddress(candidate)
    return address !== null && address.kind() === range[0].kind() && address.match(range)
  }
}

/** ipaddr.js also reads octal, hexadecimal and short forms, which no honest resolver returns. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const bare = text.replace(/%.*$/, '')
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare)
  return bare.includes(':') && ipaddr.IPv6.isValid(bare) ? ipaddr.IPv6.parse(bare) : null
}
