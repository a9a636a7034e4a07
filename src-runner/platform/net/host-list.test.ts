import { describe, expect, it } from 'vitest'
import { isHostCovered, mayCarrySecret, readHost } from './host-list.ts'

describe('the hosts of a credential', () => {
  const HOSTS = ['api.example.com', 'own.example:8443', '*.shop.example', '10.0.0.1']
  it.each([
    ['https://api.example.com/x', true],
    ['https://API.Example.com:443/', true],
    ['https://own.example:8443/', true],
    ['https://ada.shop.example/', true],
    ['https://10.0.0.1/', true],
    ['https://api.example.com:8443/', false],
    ['https://own.example/', false],
    ['https://api.example.com.evil.example/', false],
    ['https://evil.example/api.example.com', false],
    ['https://xapi.example.com/', false],
    ['https://example.com/', false],
    ['https://shop.example/', false],
    ['https://a.b.shop.example/', false],
    ['https://ada.shop.example:444/', false],
    ['https://evil.example\\@api.example.com/', false],
    ['https://api.example.com@evil.example/', false],
  ])('%s: %s', (address, expected) => expect(isHostCovered(new URL(address), HOSTS)).toBe(expected))

  it('are reached in the clear only if the person opened them', () => {
    expect(mayCarrySecret(new URL('https://api.example.com/'), [])).toBe(true)
    expect(mayCarrySecret(new URL('http://api.example.com/'), ['10.0.0.0/8', 'nas.local:5000'])).toBe(false)
    expect(mayCarrySecret(new URL('http://nas.local:5000/'), ['nas.local:5000'])).toBe(true)
    expect(mayCarrySecret(new URL('http://nas.local/'), ['nas.local:5000'])).toBe(false)
    expect(mayCarrySecret(new URL('http://10.1.2.3/'), ['10.0.0.0/8'])).toBe(true)
  })

  it.each([
    [' API.Example.com. ', 'api.example.com'],
    ['https://api.example.com/v1/', 'api.example.com'],
    ['api.example.com:443', 'api.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['nas.local:5000', 'nas.local:5000'],
  ])('are read from %s', (given, host) => expect(readHost(given, ['nas.local'])).toEqual({ host }))

  it.each([
    ['*.example.com', 'credential_host_wildcard'],
    ['*', 'credential_host_wildcard'],
    ['localhost', 'credential_host_not_opened'],
    ['com', 'credential_host_not_opened'],
    ['127.0.0.1:3001', 'credential_host_not_opened'],
    ['2130706433', 'credential_host_not_opened'],
    ['[::1]', 'credential_host_not_opened'],
    ['169.254.169.254', 'credential_host_not_opened'],
    ['other.local', 'credential_host_not_opened'],
  ])('are not read from %s', (given, code) => expect(readHost(given, ['nas.local'])).toMatchObject({ problem: { code } }))

  it.each(['', 'a b', 'user:pass@api.example.com', 'https://api.example.com/?q', 'ftp://api.example.com'])(
    'are not read from "%s", which the error does not repeat',
    (given) => expect(readHost(given, [])).toEqual({ problem: { code: 'credential_host_unreadable', params: {} } }),
  )
})
