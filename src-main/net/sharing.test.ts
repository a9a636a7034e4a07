import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../settings/environment.ts'
import { DEFAULT_MACHINE_SETTINGS, type MachineSettingsStore } from '../settings/machine-settings.ts'
import { silentLog } from '../log/log.ts'
import type { Certificate } from './certificate.ts'
import { createSharing, lanAddresses } from './sharing.ts'

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

describe('encryption of the network', () => {
  const environment = { sharingFixedBy: null, authMode: 'local-trust', dashboardHost: '127.0.0.1', runnerHost: '127.0.0.1' } as Environment
  const certificateUntil = (validUntil: number): Certificate => ({
    certificate: `until ${validUntil}`,
    key: 'a2V5',
    fingerprint: String(validUntil),
    validUntil,
    replacesDamaged: false,
  })

  function rig() {
    let settings = { ...DEFAULT_MACHINE_SETTINGS, shareOnNetwork: true, encryptSharing: true }
    const applied: (string | null)[] = []
    const timers: (() => void)[] = []
    const world = {
      now: 0,
      problem: null as string | null,
      accountsProblem: null as string | null,
      sessionsEnded: [] as boolean[],
      owner: Promise.resolve(true),
    }
    const sharing = createSharing({
      environment,
      settings: {
        current: () => settings,
        change: async (change) => (settings = { ...settings, ...change }),
      } as MachineSettingsStore,
      hasOwner: () => world.owner,
      async endSessions() {
        if (world.accountsProblem !== null) throw new Error(world.accountsProblem)
        world.sessionsEnded.push(sharing.tls() !== null)
      },
      certificates: {
        async current() {
          if (world.problem !== null) throw new Error(world.problem)
          return certificateUntil(world.now + 400)
        },
        replace: async () => certificateUntil(world.now + 401),
        isDue: ({ validUntil }) => world.now > validUntil - 30,
      },
      apply: async () => {
        applied.push(sharing.tls()?.certificate ?? null)
        return null
      },
      log: silentLog,
      every: (_ms, act) => void timers.push(act),
    })
    /** An hour passes. Resolves when what it started is done. */
    async function pass() {
      for (const act of timers) act()
      await sharing.change(true)
      applied.pop()
    }
    return { sharing, applied, world, pass }
  }

  it('is renewed while Deckhand runs, also past the end of the certificate', async () => {
    const { sharing, applied, world, pass } = rig()
    await sharing.prepare()
    await pass()
    expect([sharing.tls()!.certificate, applied]).toEqual(['until 400', []])
    world.now = 5000
    await pass()
    expect([sharing.tls()!.certificate, applied]).toEqual(['until 5400', ['until 5400']])
  })

  it('ends all sessions before it is turned off and after it is turned on, and stays on if it cannot', async () => {
    const { sharing, applied, world } = rig()
    await sharing.prepare()
    world.accountsProblem = 'The keychain is locked.'
    await expect(sharing.encrypt(false)).rejects.toThrow(world.accountsProblem)
    expect([sharing.tls()!.certificate, applied, sharing.state(3000).isEncrypted]).toEqual(['until 400', [], true])
    world.accountsProblem = null
    await sharing.encrypt(false)
    expect([world.sessionsEnded, applied]).toEqual([[true], [null]])
    await sharing.encrypt(false)
    expect(world.sessionsEnded).toEqual([true])
    await sharing.encrypt(true)
    await sharing.encrypt(true)
    // Each time while the network is encrypted, so that nobody can read what a new session begins with.
    expect(world.sessionsEnded).toEqual([true, true])
  })

  it('never falls back to no encryption', async () => {
    const { sharing, applied, world } = rig()
    world.problem = 'The keychain is locked.'
    await sharing.prepare()
    expect(sharing.state(3000)).toMatchObject({
      isOn: false,
      problem: { code: 'quoted', params: { words: world.problem } },
      urls: [],
      isEncrypted: true,
    })
    expect([sharing.dashboardHost(), sharing.runnerHost(), sharing.authMode()]).toEqual(['127.0.0.1', '127.0.0.1', 'local-auth'])
    await expect(sharing.change(true)).rejects.toThrow(world.problem)
    expect([sharing.dashboardHost(), applied]).toEqual(['127.0.0.1', []])
    world.problem = null
    await sharing.change(true)
    expect([sharing.dashboardHost(), applied]).toEqual(['0.0.0.0', ['until 400']])
    expect(sharing.state(3000).problem).toBeNull()
    world.problem = 'The keychain is locked.'
    await sharing.encrypt(false)
    await expect(sharing.encrypt(true)).rejects.toThrow(world.problem)
    expect(sharing.state(3000)).toMatchObject({ isOn: true, isEncrypted: false, certificate: null })
  })

  it('lets sharing begin after all when the accounts can be read', async () => {
    const { sharing, applied, world } = rig()
    world.owner = Promise.reject(new Error('The keychain is locked.'))
    await sharing.prepare()
    await expect(sharing.change(true)).rejects.toThrow('The keychain is locked.')
    expect(sharing.state(3000)).toMatchObject({ isOn: false, problem: { params: { words: 'The keychain is locked.' } } })
    expect([sharing.dashboardHost(), sharing.authMode(), applied]).toEqual(['127.0.0.1', 'local-auth', []])
    world.owner = Promise.resolve(true)
    let told = 0
    sharing.onChange(() => told++)
    await sharing.resume()
    expect([sharing.dashboardHost(), applied, told]).toEqual(['0.0.0.0', ['until 400'], 1])
    expect(sharing.state(3000)).toMatchObject({ isOn: true, problem: null })
    await sharing.resume()
    expect(applied).toHaveLength(1)
  })

  it('leaves sharing off that is turned off while the accounts are being read', async () => {
    const { sharing, world } = rig()
    const owner = Promise.withResolvers<boolean>()
    world.owner = owner.promise
    const preparing = sharing.prepare()
    await sharing.change(false)
    owner.resolve(true)
    await preparing
    expect([sharing.dashboardHost(), sharing.runnerHost(), sharing.tls(), sharing.authMode()]).toEqual([
      '127.0.0.1',
      '127.0.0.1',
      null,
      'local-trust',
    ])
  })
})
