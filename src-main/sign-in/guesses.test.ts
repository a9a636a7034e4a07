import { expect, it } from 'vitest'
import { addressGroup } from './guesses.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff:1:2:3', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', 'unknown'],
])('groups the address %s as %s', (address, group) => expect(addressGroup(address)).toBe(group))
