import { expect, it } from 'vitest'
import { canonicalAddress, kindOfAddress, parseRange } from './address-kind.ts'

it.each([
  ['8.8.8.8', 'public'],
  ['93.184.216.34', 'public'],
  ['172.15.255.255', 'public'],
  ['172.32.0.1', 'public'],
  ['100.63.255.255', 'public'],
  ['100.128.0.1', 'public'],
  ['198.17.255.255', 'public'],
  ['198.20.0.1', 'public'],
  ['2606:4700::1111', 'public'],
  ['2a00:1450:4001:829::200e', 'public'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.0.1', 'private'],
  ['100.64.0.1', 'shared'],
  ['100.127.255.255', 'shared'],
  ['169.254.1.1', 'link_local'],
  ['169.254.169.254', 'metadata'],
  ['169.254.170.2', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['192.0.0.192', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['fd00:0ec2:0:0:0:0:0:0254', 'metadata'],
  ['198.18.0.1', 'benchmark'],
  ['198.19.255.255', 'benchmark'],
  ['2001:2::1', 'benchmark'],
  ['192.0.2.1', 'reserved'],
  ['198.51.100.1', 'reserved'],
  ['203.0.113.1', 'reserved'],
  ['192.88.99.1', 'reserved'],
  ['240.0.0.1', 'reserved'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['255.255.255.255', 'multicast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['fe80::1', 'link_local'],
  ['fe80::1%eth0', 'link_local'],
  ['febf::1', 'link_local'],
  ['fec0::1', 'private'],
  ['fc00::1', 'private'],
  ['fdff::1', 'private'],
  ['ff02::1', 'multicast'],
  ['::ffff:127.0.0.1', 'embedded'],
  ['::ffff:8.8.8.8', 'embedded'],
  ['::ffff:0:127.0.0.1', 'embedded'],
  ['64:ff9b::7f00:1', 'embedded'],
  ['64:ff9b:1::7f00:1', 'embedded'],
  ['2002:7f00:1::', 'embedded'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'embedded'],
  ['::127.0.0.1', 'embedded'],
  ['::2', 'reserved'],
  ['100::1', 'reserved'],
  ['2001:db8::1', 'reserved'],
  ['3fff::1', 'reserved'],
  ['5f00::1', 'reserved'],
  ['4000::1', 'reserved'],
  ['0177.0.0.1', 'reserved'],
  ['0x7f000001', 'reserved'],
  ['2130706433', 'reserved'],
  ['127.1', 'reserved'],
  ['example.com', 'reserved'],
  ['', 'reserved'],
])('classifies %s as %s', (address, kind) => expect(kindOfAddress(address)).toBe(kind))

it('gives each address one spelling', () => {
  expect(canonicalAddress('2A01:04F8:0:0:0:0:0:7')).toBe('2a01:4f8::7')
  expect(canonicalAddress('127.1')).toBeNull()
})

it('parses ranges', () => {
  const holds = parseRange('198.18.0.0/15')!
  expect(['198.18.0.1', '198.19.255.255', '198.20.0.0', '::ffff:198.18.0.1', 'x'].map(holds)).toEqual([true, true, false, false, false])
  for (const text of ['198.18.0.0', 'nas.local', '1.2.3.4/33', '']) expect(parseRange(text)).toBeNull()
})
