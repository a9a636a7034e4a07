import { createServer } from 'node:net'
import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { localName, namesOf, suggestPort, urlOf } from './address.ts'

describe('the address of a server', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:3000'],
    ['localhost', 'http://localhost:3000'],
    ['::1', 'http://[::1]:3000'],
    ['0.0.0.0', 'http://127.0.0.1:3000'],
    ['::', 'http://[::1]:3000'],
    ['192.168.1.7', 'http://192.168.1.7:3000'],
  ])('on %s is %s', (host, expected) => {
    expect(urlOf(host, 3000)).toBe(expected)
  })
})

describe('the names of a server', () => {
  it('are the configured host', () => {
    expect(namesOf('Deck.local')).toEqual(['deck.local'])
    expect(namesOf('fe80::1')).toEqual(['[fe80::1]'])
  })

  it('are all addresses of this machine if it listens on all of them', () => {
    const at = (address: string, internal = false) => ({ address, internal }) as NetworkInterfaceInfo
    const names = namesOf('0.0.0.0', () => ({
      lo: [at('127.0.0.1', true), at('::1', true)],
      eth0: [at('192.168.1.7'), at('2001:DB8::7'), at('fe80::1')],
    }))
    expect(names).toEqual(['192.168.1.7', '[2001:db8::7]', localName()])
  })
})

describe('a suggested port', () => {
  it('is free and not the taken one', async () => {
    const holder = createServer()
    const taken = await new Promise<number>((resolve) =>
      holder.listen(0, '127.0.0.1', () => resolve((holder.address() as { port: number }).port)),
    )
    // The next one it would offer is taken as well.
    const next = await suggestPort('127.0.0.1', taken)
    const second = createServer()
    await new Promise<void>((resolve) => second.listen(next, '127.0.0.1', () => resolve()))
    const offered = await suggestPort('127.0.0.1', taken)
    expect([taken, next]).not.toContain(offered)
    expect((offered - taken) % 2).toBe(0)
    holder.close()
    second.close()
  })

  it('stays in range after the last port', async () => {
    const offered = await suggestPort('127.0.0.1', 65_535)
    expect(offered).toBeGreaterThanOrEqual(1024)
    expect(offered).toBeLessThanOrEqual(65_535)
  })
})
