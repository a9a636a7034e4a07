import type { Message } from '../contract/messages.ts'
import { quote } from '../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import type { HealthCheck } from '../contract/doctor.ts'
import type { PublicAddress } from '../contract/public-address.ts'
import { createMemoryVault } from '../lib/vault.ts'
import { openRecordsRig, type RecordsRig } from '../testing/records-rig.ts'
import { examine, type HealthCheckDeps, type FoundPrograms } from './health-checks.ts'

const network = { works: true, reason: null, advice: null }
const SANDBOX: SandboxState = { kind: 'bubblewrap', works: true, reason: null, advice: null, network, checkedAt: 0, setup: null }
const PROGRAMS: FoundPrograms = { names: ['git', 'gh'], used: ['/home/ada/bin'], leftOut: [], isOn: true, unasked: null }
const MINUTE = 60_000

describe('the doctor', () => {
  let rig: RecordsRig
  beforeEach(() => {
    rig = openRecordsRig()
  })
  afterEach(() => rig.close())

  async function look(name: HealthCheck['name'], found: Partial<HealthCheckDeps> = {}): Promise<HealthCheck> {
    const checks = await examine({
      ...{ db: rig.db, clock: rig.clock, dataDir: rig.folder, vault: createMemoryVault(), safeMode: false, hasTrash: true },
      findSandbox: async () => SANDBOX,
      findPrograms: async () => PROGRAMS,
      models: { listModels: async () => ({ models: [], problems: [] }) },
      nextDueAt: () => null,
      publicAddress: () => null,
      ...found,
    })
    return checks.find((check) => check.name === name)!
  }
  const address = (url: string | null, state: PublicAddress['check']['state'], problem: Message | null = null): PublicAddress => ({
    ...{ url, source: 'setting', localUrl: '', ingressPort: null, programs: [], tunnel: null },
    check: { state, checkedAt: null, problem },
  })

  it.each([
    ['nothing is due', null, 'ok', 'Nothing is due'],
    ['the next run is ahead', MINUTE, 'ok', 'at its time'],
    ['a run is being looked at', -MINUTE, 'ok', 'at its time'],
    ['a run was overlooked', -7 * MINUTE, 'problem', 'due for 7 minutes'],
  ])('knows of the clock that %s', async (_, inMs, state, found) => {
    const nextDueAt = () => (inMs === null ? null : rig.clock.now() + inMs)
    expect(await look('schedules', { nextDueAt })).toMatchObject({ state, found: expect.stringContaining(found) as string })
  })

  it.each([
    ['there is none', address(null, 'unknown'), 'ok', 'Only this machine'],
    ['it is reached', address('https://a.example', 'reachable'), 'ok', 'https://a.example'],
    ['nobody has looked', address('https://a.example', 'unknown'), 'warning', 'not been checked'],
    ['it is not reached', address('https://a.example', 'unreachable', quote('Nothing came in.')), 'problem', 'Nothing came in.'],
  ])('knows of the public address that %s', async (_, publicAddress, state, found) => {
    expect(await look('public_address', { publicAddress: () => publicAddress })).toMatchObject({
      state,
      found: expect.stringContaining(found) as string,
    })
  })

  it.each([
    ['there is one', SANDBOX, 'ok', 'bubblewrap', ''],
    [
      'it has no network',
      { ...SANDBOX, network: { works: false, reason: quote('no python'), advice: quote('Install it.') } },
      'warning',
      'no python',
      'Install it.',
    ],
    [
      'there is none',
      { ...SANDBOX, kind: 'none' as const, works: false, reason: quote('no bwrap'), advice: quote('Get it.') },
      'warning',
      'no bwrap',
      'Get it.',
    ],
  ])('knows of the sandbox that %s', async (_, sandbox, state, found, fix) => {
    expect(await look('sandbox', { findSandbox: async () => sandbox })).toMatchObject({
      state,
      found: expect.stringContaining(found) as string,
      fix,
    })
  })

  it.each<[string, Partial<FoundPrograms>, string, string, string]>([
    ['are there', {}, 'ok', 'git, gh and others. Of yours, from /home/ada/bin: without your logins', ''],
    ['are the system’s alone', { isOn: false }, 'ok', 'in your home are not shown', ''],
    [
      'were left out in part',
      { leftOut: [{ folder: '/home/ada/work/bin', why: 'agents_write' }] },
      'ok',
      'Left out: /home/ada/work/bin (agents write there).',
      '',
    ],
    ['could not be asked for', { unasked: { shell: 'zsh' } }, 'warning', 'Your shell (zsh) did not say', 'Open a terminal'],
    ['are none', { names: [], used: [] }, 'ok', 'None of the well-known programs', ''],
  ])("knows of the person's programs that they %s", async (_, change, state, found, fix) => {
    const check = await look('programs', { findPrograms: async () => ({ ...PROGRAMS, ...change }) })
    expect(check).toMatchObject({ state, found: expect.stringContaining(found) as string, fix: expect.stringContaining(fix) as string })
  })

  it('knows whether what is deleted can be found again', async () => {
    expect((await look('trash')).state).toBe('ok')
    expect(await look('trash', { hasTrash: false })).toMatchObject({ state: 'warning', fix: expect.stringContaining('job') as string })
  })

  it('says of what breaks while it is looked at that it is broken, and goes on with the rest', async () => {
    const broken = { findSandbox: () => Promise.reject(new Error('The program is gone.')), dataDir: '/no/such/folder' }
    expect(await look('sandbox', broken)).toMatchObject({ state: 'problem', found: 'The program is gone.' })
    expect(await look('disk', broken)).toMatchObject({ state: 'problem', found: expect.stringContaining('/no/such/folder') as string })
    expect((await look('keychain', broken)).state).toBe('ok')
    rig.db.connection.close()
    expect((await look('database')).state).toBe('problem')
    expect((await look('trash')).state).toBe('ok')
  })
})
