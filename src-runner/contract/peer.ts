/**
 * In `local-trust`, other accounts of this machine must not get in: they reach loopback like we do. On Linux the kernel lists
 * the account of every local socket, so both servers look up who is at the other end of a connection. Other systems have no
 * such list that a program may read.
 */
export type Connection = {
  remoteAddress?: string | undefined
  remotePort?: number | undefined
  localAddress?: string | undefined
  localPort?: number | undefined
}

export type PeerDeps = {
  /** null: this system does not say, so every local peer passes. */
  ownUid: number | null
  isLittleEndian: boolean
  /** `/proc/net/tcp` or `/proc/net/tcp6`. Rejects if it cannot be read. */
  readTable: (name: TableName) => Promise<string>
}

type TableName = 'tcp' | 'tcp6'

const ROOT = 0

/**
 * Whether the peer of a connection is on this machine, and of our own account or root. Looked up once for a connection, whose
 * peer stays the same. The kernel lists every socket of the machine, which takes 1 to 50 ms, so nothing waits for that but the
 * connections that it is for, and those that come meanwhile share the next list.
 */
export function createPeerCheck(deps: PeerDeps): (connection: Connection) => Promise<boolean> {
  const known = new WeakMap<Connection, Promise<boolean>>()
  const sharing = { ...deps, readTable: shareReads(deps.readTable) }
  return (connection) => {
    let found = known.get(connection)
    if (found === undefined) known.set(connection, (found = isOwnPeer(connection, sharing)))
    return found
  }
}

/** One read at a time, which begins after each call that gets its result: an older list may show a former owner of the port. */
function shareReads(read: PeerDeps['readTable']): PeerDeps['readTable'] {
  const next = new Map<TableName, Promise<string>>()
  let last: Promise<unknown> = Promise.resolve()
  return (name) => {
    let shared = next.get(name)
    if (shared === undefined) {
      shared = last.then(() => {
        next.delete(name)
        return read(name)
      })
      next.set(name, shared)
      last = shared.catch(() => undefined)
    }
    return shared
  }
}

async function isOwnPeer(connection: Connection, { ownUid, isLittleEndian, readTable }: PeerDeps): Promise<boolean> {
  const { remoteAddress, remotePort, localAddress, localPort } = connection
  if (remoteAddress === undefined || localAddress === undefined) return false
  const peer = toV4(remoteAddress)
  if (!peer.startsWith('127.') && peer !== '::1') return false
  if (ownUid === null) return true
  const own = toV4(localAddress)
  const ends = [
    [peer, remotePort],
    [own, localPort],
  ] as const
  const isV4 = peer.includes('.')
  for (const table of isV4 ? (['tcp', 'tcp6'] as const) : (['tcp6'] as const)) {
    const key = ends.map(([address, port]) => `${hexOf(address, table, isLittleEndian)}:${hex(port ?? 0, 4)}`).join(' ')
    let text: string
    try {
      text = await readTable(table)
    } catch {
      // Some systems keep the list from programs. Without it Linux is like the others.
      if (table === 'tcp') return true
      continue
    }
    const at = text.indexOf(` ${key} `)
    if (at === -1) continue
    // After the addresses: state, queues, timer, retransmits, uid, timeout, inode.
    const fields = text.slice(at + key.length + 2, text.indexOf('\n', at)).split(/ +/)
    const [uid, inode] = [Number(fields[4]), fields[6]]
    // A socket that its program has closed has no inode, and root as its account whoever it was.
    return inode !== '0' && (uid === ownUid || uid === ROOT)
  }
  return false
}

/** An IPv4 client of a server that listens on `::` looks like `::ffff:127.0.0.1`. */
function toV4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** As the tables have it: words of 32 bits in the machine's byte order. */
function hexOf(address: string, table: 'tcp' | 'tcp6', isLittleEndian: boolean): string {
  const word = (bytes: number[]) => (isLittleEndian ? bytes.toReversed() : bytes).map((byte) => hex(byte, 2)).join('')
  const zero = '00000000'
  if (!address.includes('.')) return zero.repeat(3) + word([0, 0, 0, 1])
  const v4 = word(address.split('.').map(Number))
  return table === 'tcp' ? v4 : zero.repeat(2) + word([0, 0, 0xff, 0xff]) + v4
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}
