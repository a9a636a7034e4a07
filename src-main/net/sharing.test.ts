import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { lanAddresses } from './sharing.ts'

const at = (address: string, more: Partial<NetworkInterfaceInfo> = {}) =>
  ({ address, family: address.includes(':') ? 'IPv6' : 'IPv4', internal: false, ...more }) as NetworkInterfaceInfo

describe('the addresses for other devices', () => {
  it('begin with the one that a phone most likely reaches, and leave out the others', () => {
    const found = lanAddresses({
      lo: [at('127.0.0.1', { internal: true })],
      docker0: [at('172.17.0.1')],
      wwan0: [at('100.72.1.2')],
      wlan0: [at('192.168.1.20'), at('2001:db8::1'), at('fe80::1')],
      eth0: [at('169.254.7.7')],
    })
    expect(found).toEqual(['192.168.1.20', '100.72.1.2', '172.17.0.1'])
  })
})
