import type { Message } from '../contract/messages.ts'
import { createMessage, englishText, quote } from '../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import type { HealthCheck } from '../contract/doctor.ts'
import type { PublicAddress } from '../contract/public-address.ts'
import { createMemoryVault } from '../lib/vault.ts'
import { openDomainRig, type DomainRig } from '../testing/domain-rig.ts'
import { examine, type HealthCheckDeps, type FoundPrograms } from './health-checks.ts'

const network = { works: true, reason: null, advice: null }
const SANDBOX: SandboxState = { kind: 'bubblewrap', works: true, reason: null, advice: null, network, checkedAt: 0, setup: null }
const PROGRAMS: FoundPrograms = { names: ['git', 'gh'], used: ['/home/ada/bin'], leftOut: [], isOn: true }
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const contains = (text: string) => expect.stringContaining(text) as string

describe('the health checks', () => {
  let rig: DomainRig
  beforeEach(() => {
    rig = openDomainRig()
  })
  afterEach(() => rig.close())

  /** A check with its texts in English. */
  async function check(name: HealthCheck['name'], found: Partial<HealthCheckDeps> = {}) {
    const checks = await examine({
      db: rig.db,
      clock: rig.clock,
      dataDir: rig.folder,
      vault: createMemoryVault(),
      safeMode: false,
      hasTrash: true,
      findSandbox: async () => SANDBOX,
      findPrograms: async () => PROGRAMS,
      models: { listModels: async () => ({ models: [], problems: [] }) },
      nextDueAt: () => null,
      publicAddress: () => null,
      readBackups: () => ({ backups: [], lastProblem: null }),
      ...found,
    })
    const { state, finding, fix } = checks.find((one) => one.name === name)!
    return { state, finding: englishText(finding), fix: fix && englishText(fix) }
  }
  const address = (url: string | null, state: PublicAddress['check']['state'], problem: Message | null = null): PublicAddress => ({
    url,
    source: 'setting',
    localUrl: '',
    ingressPort: null,
    programs: [],
    tunnel: null,
    check: { state, checkedAt: null, problem },
  })

  it.each([
    ['nothing is due', null, 'ok', 'There is no active schedule.'],
    ['the next run is ahead', MINUTE, 'ok', 'Schedules run on time.'],
    ['a run became due a minute ago', -MINUTE, 'ok', 'Schedules run on time.'],
    ['a run was overlooked', -7 * MINUTE, 'problem', 'A run is overdue by 7 minutes.'],
  ])('checks the schedules when %s', async (_, inMs, state, finding) => {
    const nextDueAt = () => (inMs === null ? null : rig.clock.now() + inMs)
    expect(await check('schedules', { nextDueAt })).toMatchObject({ state, finding })
  })

  it.each([
    ['there is none yet', [], null, 'ok', 'There is no backup yet'],
    ['one is of this hour', [HOUR / 2], null, 'ok', 'The last backup is less than a day old'],
    ['the newest is two days old', [2.9 * DAY, 5 * DAY], null, 'ok', 'The last backup is 2 days old'],
    ['the newest is three days old', [3 * DAY], null, 'warning', 'The last backup is 3 days old'],
    ['the only recent one is from the future', [-DAY, 9 * DAY], null, 'warning', 'The last backup is 9 days old'],
    ['the last one failed', [HOUR], createMessage('backup_failed', { why: 'no room' }), 'problem', 'no room'],
  ] as const)('checks the backups when %s', async (_, agesMs, lastProblem, state, finding) => {
    const backups = agesMs.map((ms) => ({ name: 'deckhand-20261123T023000Z.db', at: rig.clock.now() - ms, bytes: 1 }))
    const found = await check('backups', { readBackups: () => ({ backups, lastProblem }) })
    expect(found).toMatchObject({ state, finding: contains(finding) })
    expect(found.fix !== null).toBe(state !== 'ok')
  })

  it.each([
    ['there is none', address(null, 'unknown'), 'ok', 'No public address is set. Services on the internet cannot reach webhooks.'],
    ['it is reachable', address('https://a.example', 'reachable'), 'ok', 'Webhooks can be reached at https://a.example.'],
    ['it was never checked', address('https://a.example', 'unknown'), 'warning', 'https://a.example has not been checked yet.'],
    ['it is not reachable', address('https://a.example', 'unreachable', quote('No request arrived.')), 'problem', 'No request arrived.'],
  ])('checks the public address when %s', async (_, publicAddress, state, finding) => {
    expect(await check('public_address', { publicAddress: () => publicAddress })).toMatchObject({ state, finding })
  })

  it.each([
    ['there is one', SANDBOX, 'ok', 'bubblewrap', null],
    [
      'it has no network',
      { ...SANDBOX, network: { works: false, reason: quote('No Python.'), advice: quote('Install it.') } },
      'warning',
      'no network access. No Python.',
      'Install it.',
    ],
    [
      'there is none',
      { ...SANDBOX, kind: 'none' as const, works: false, reason: quote('No bwrap.'), advice: quote('Get it.') },
      'warning',
      'every program needs your approval. No bwrap.',
      'Get it.',
    ],
  ])('checks the sandbox when %s', async (_, sandbox, state, finding, fix) => {
    expect(await check('sandbox', { findSandbox: async () => sandbox })).toEqual({ state, finding: contains(finding), fix })
  })

  it.each<[string, Partial<FoundPrograms>, string, string, string | null]>([
    ['there are some', {}, 'ok', 'Agents can run git and gh, among others. Programs from your home folder run without your logins', null],
    ['only those of the system are shared', { isOn: false }, 'ok', 'Programs in your home folder are not available', null],
    [
      'a folder is left out',
      { leftOut: [{ folder: '/home/ada/work/bin', why: 'agents_write' }] },
      'ok',
      'Left out: /home/ada/work/bin (agents can write there).',
      null,
    ],
    [
      'folders are left out for the same reason',
      { leftOut: ['/opt/a', '/opt/b', '/work'].map((folder) => ({ folder, why: folder === '/work' ? 'secrets' : 'elsewhere' })) },
      'ok',
      'Left out: /opt/a and /opt/b (neither the system’s nor in your home folder) and /work (contains keys or settings).',
      null,
    ],
    ['there are none', { names: [], used: [] }, 'ok', 'None of the well-known programs is installed.', null],
  ])('checks the programs when %s', async (_, change, state, finding, fix) => {
    const result = await check('programs', { findPrograms: async () => ({ ...PROGRAMS, ...change }) })
    expect(result).toEqual({ state, finding: contains(finding), fix: fix === null ? null : contains(fix) })
  })

  it('checks whether deleted files go to the trash', async () => {
    expect((await check('trash')).state).toBe('ok')
    expect(await check('trash', { hasTrash: false })).toMatchObject({ state: 'warning', fix: contains('from the job') })
  })

  it('reports a check that throws as failed and completes the others', async () => {
    const broken = { findSandbox: () => Promise.reject(new Error('The program is gone.')), dataDir: '/no/such/folder' }
    expect(await check('sandbox', broken)).toMatchObject({ state: 'problem', finding: 'The program is gone.' })
    expect(await check('disk', broken)).toMatchObject({ state: 'problem', finding: contains('/no/such/folder') })
    expect((await check('keychain', broken)).state).toBe('ok')
    rig.db.connection.close()
    expect((await check('database')).state).toBe('problem')
    expect((await check('trash')).state).toBe('ok')
  })
})
