import { describe, expect, it } from 'vitest'
import { createPeerCheck, type Connection, type PeerDeps } from './peer.ts'

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const row = (ends: string, uid: number, inode = 4711) =>
  `   7: ${ends} 01 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`
const V4 = '0100007F:C350 0100007F:0BB9'
const MAPPED = '0000000000000000FFFF00000100007F:C350 0000000000000000FFFF00000100007F:0BB9'
const V6 = '00000000000000000000000001000000:C350 00000000000000000000000001000000:0BB9'
const BACK = '0100007F:0BB9 0100007F:C350'
const connection = (remoteAddress = '127.0.0.1', localAddress = remoteAddress): Connection => ({
  remoteAddress,
  localAddress,
  remotePort: 50_000,
  localPort: 3001,
})

function check(tables: Partial<Record<'tcp' | 'tcp6', string>>, peer = connection(), deps: Partial<PeerDeps> = {}): Promise<boolean> {
  return createPeerCheck({
    ownUid: 1000,
    isLittleEndian: true,
    async readTable(name) {
      const table = tables[name]
      if (table === undefined) throw new Error('EACCES')
      return HEAD + table
    },
    ...deps,
  })(peer)
}

describe('the account at the other end of a connection', () => {
  it('passes if it is our own or root', async () => {
    expect(await check({ tcp: row(BACK, 7) + row(V4, 1000), tcp6: '' })).toBe(true)
    expect(await check({ tcp: row(V4, 0), tcp6: '' })).toBe(true)
  })

  it('is refused if it is another one, is not listed, or has closed its socket', async () => {
    expect(await check({ tcp: row(BACK, 1000) + row(V4, 1001), tcp6: '' })).toBe(false)
    expect(await check({ tcp: row(BACK, 1000), tcp6: '' })).toBe(false)
    // A closed socket is listed as one of root.
    expect(await check({ tcp: row(V4, 0, 0), tcp6: '' })).toBe(false)
    expect(await check({ tcp: row(V4, 1000, 0), tcp6: '' })).toBe(false)
  })

  it('is found for IPv6, and for IPv4 over a socket of IPv6', async () => {
    expect(await check({ tcp: '', tcp6: row(V6, 1000) }, connection('::1'))).toBe(true)
    expect(await check({ tcp: '', tcp6: row(V6, 1001) }, connection('::1'))).toBe(false)
    expect(await check({ tcp: '', tcp6: row(MAPPED, 1000) })).toBe(true)
    expect(await check({ tcp: row(V4, 1000), tcp6: '' }, connection('::ffff:127.0.0.1'))).toBe(true)
    expect(await check({ tcp: '', tcp6: row(MAPPED, 1001) }, connection('::ffff:127.0.0.1'))).toBe(false)
  })

  it('is found on a machine with the other byte order', async () => {
    expect(await check({ tcp: row('7F000001:C350 7F000001:0BB9', 1001), tcp6: '' }, connection(), { isLittleEndian: false })).toBe(false)
    expect(await check({ tcp: row('7F000001:C350 7F000001:0BB9', 1000), tcp6: '' }, connection(), { isLittleEndian: false })).toBe(true)
  })

  it('is never on another machine', async () => {
    for (const address of ['192.168.1.20', '10.0.0.1', 'fe80::1', '::ffff:192.168.1.20', undefined])
      for (const ownUid of [1000, null]) expect(await check({ tcp: '', tcp6: '' }, connection(address ?? ''), { ownUid })).toBe(false)
  })

  it('is not asked for where the system does not tell', async () => {
    expect(await check({}, connection(), { ownUid: null })).toBe(true)
    expect(await check({})).toBe(true)
  })

  it('is looked up once for a connection', async () => {
    let reads = 0
    const readTable = async () => HEAD + row(V4, 1000 + reads++)
    const isOwn = createPeerCheck({ ownUid: 1000, isLittleEndian: true, readTable })
    const one = connection()
    expect([await isOwn(one), await isOwn(one), await isOwn(connection())]).toEqual([true, true, false])
  })

  it('is looked up together for connections that come during a read, in a list that is newer than all of them', async () => {
    const reads: ((table: string) => void)[] = []
    const readTable = () => new Promise<string>((resolve) => reads.push(resolve))
    const isOwn = createPeerCheck({ ownUid: 1000, isLittleEndian: true, readTable })
    const early = isOwn(connection())
    await expect.poll(() => reads).toHaveLength(1)
    const late = [isOwn(connection()), isOwn(connection())]
    reads[0]!(HEAD + row(V4, 1000))
    expect(await early).toBe(true)
    await expect.poll(() => reads).toHaveLength(2)
    reads[1]!(HEAD + row(V4, 1001))
    expect(await Promise.all(late)).toEqual([false, false])
    expect(reads).toHaveLength(2)
  })
})
