import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { InstallKind, UpdateProblem } from '../contract/updates.ts'
import { silentLog } from '../log/log.ts'
import { backUp } from './app-updates.ts'
import { plainNotes } from './release-notes.ts'
import { openUpdateRecord } from './update-record.ts'
import { UpdateError } from './update-source.ts'
import { createUpdates, type UpdateSettings } from './updates.ts'

const HOUR_MS = 60 * 60_000

type Options = { kind?: InstallKind; settings?: Partial<UpdateSettings>; hasSource?: boolean }

/** The state machine with everything around it under the test's control: time, server, jobs and backups. */
function open({ kind = 'app', settings: given = {}, hasSource = true }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-updates-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const record = openUpdateRecord(join(folder, 'updates.json'), silentLog)
  const settings: UpdateSettings = { updateChannel: 'stable', updateMode: 'automatic', updateOnQuit: false, ...given }
  const world = {
    offered: '1.3.0' as string | null,
    checks: [] as string[],
    downloads: 0,
    checkFails: null as UpdateProblem | null,
    downloadFails: [] as UpdateProblem[],
    backups: 0,
    backupLimits: [] as number[],
    backupFails: false,
    jobs: 0,
    installed: [] as boolean[],
    duringBackup: () => {},
    hasUnsavedChanges: false,
    hasFailed: false,
  }
  const timers: { at: number; run: () => void }[] = []
  const time = { wall: 1_800_000_000_000, monotonic: 0 }
  let onSettings = () => {}
  let onRunning = () => {}
  const states: string[] = []
  const updates = createUpdates({
    source: hasSource
      ? {
          async check(channel) {
            world.checks.push(channel)
            if (world.checkFails) throw new UpdateError(world.checkFails, 'as planned')
            if (world.offered === null) return null
            return { version: world.offered, notes: 'New.', bytes: 10, kind, file: 'Deckhand', page: null }
          },
          async download(onProgress) {
            world.downloads++
            onProgress(50)
            const fault = world.downloadFails.shift()
            if (fault) throw new UpdateError(fault, 'as planned')
          },
          install({ restart }) {
            world.installed.push(restart)
            return false
          },
        }
      : null,
    reason: 'no_source',
    record,
    settings: () => settings,
    onSettings: (listener) => (onSettings = listener),
    hasFailed: () => world.hasFailed,
    runningJobs: () => world.jobs,
    onRunning: (listener) => (onRunning = listener),
    hasUnsavedChanges: async () => world.hasUnsavedChanges,
    async backUp(limitMs) {
      world.backups++
      world.backupLimits.push(limitMs)
      world.duringBackup()
      if (world.backupFails) throw new Error('the disk is full')
    },
    quitWith: async (install) => void install(),
    clock: {
      now: () => time.wall,
      monotonic: () => time.monotonic,
      random: () => 0.5,
      after: (ms, run) => void timers.push({ at: time.monotonic + ms, run }),
    },
    log: silentLog,
  })
  updates.onState(() => states.push(updates.state().state))
  const settle = async () => {
    for (let turn = 0; turn < 30; turn++) await Promise.resolve()
  }
  return {
    updates,
    record,
    world,
    states,
    settle,
    async change(change: Partial<UpdateSettings>) {
      Object.assign(settings, change)
      onSettings()
      await settle()
    },
    jobsAre(count: number) {
      world.jobs = count
      onRunning()
    },
    /** Lets time pass; the clock of the machine may go another way. */
    async pass(ms: number, wall = ms) {
      const until = time.monotonic + ms
      time.wall += wall
      for (;;) {
        const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        timers.splice(timers.indexOf(next), 1)
        time.monotonic = Math.max(time.monotonic, next.at)
        next.run()
        await settle()
      }
      time.monotonic = until
    },
  }
}

describe('updates', () => {
  it('are looked for soon after the start and then once a day', async () => {
    const { updates, world, pass } = open()
    world.offered = null
    updates.start(false)
    expect(world.checks).toEqual([])
    await pass(HOUR_MS)
    expect(world.checks).toHaveLength(1)
    expect(updates.state()).toMatchObject({ state: 'idle', checkedAt: expect.any(Number) })
    await pass(23 * HOUR_MS)
    expect(world.checks).toHaveLength(1)
    await pass(3 * HOUR_MS)
    expect(world.checks).toHaveLength(2)
    await pass(7 * 24 * HOUR_MS)
    expect(world.checks.length).toBeGreaterThanOrEqual(8)
    expect(world.checks.length).toBeLessThanOrEqual(9)
  })

  it('are also looked for when the clock is wrong by years, and after a long sleep', async () => {
    const { updates, world, pass } = open()
    world.offered = null
    updates.start(false)
    await pass(HOUR_MS)
    // The clock falls back; the time that really passes still counts.
    await pass(HOUR_MS, -10 * 365 * 24 * HOUR_MS)
    expect(world.checks).toHaveLength(2)
    await pass(27 * HOUR_MS, 0)
    expect(world.checks).toHaveLength(3)
    // Asleep, only the clock on the wall goes on.
    await pass(HOUR_MS, 48 * HOUR_MS)
    expect(world.checks).toHaveLength(4)
  })

  it('download by themselves and then wait for the person', async () => {
    const { updates, world, states, pass } = open()
    updates.start(false)
    await pass(HOUR_MS)
    expect(states).toEqual(['checking', 'available', 'downloading', 'downloading', 'downloaded'])
    await pass(30 * HOUR_MS)
    expect(updates.state()).toMatchObject({ state: 'downloaded', offer: { version: '1.3.0', notes: 'New.' } })
    expect(world).toMatchObject({ downloads: 1, installed: [], backups: 0 })
  })

  it.each([
    [{ updateMode: 'ask' } as const, 'app' as const, 1, 'available'],
    [{ updateMode: 'off' } as const, 'app' as const, 0, 'idle'],
    [{}, 'deb' as const, 1, 'available'],
    [{}, 'app_image' as const, 1, 'available'],
  ])('do only what the setting and the kind of app allow: %j, %s', async (settings, kind, checks, state) => {
    const { updates, world, pass } = open({ settings, kind })
    updates.start(false)
    await pass(HOUR_MS)
    expect({ checks: world.checks.length, downloads: world.downloads, state: updates.state().state }).toEqual({
      checks,
      downloads: 0,
      state,
    })
    // No button downloads what a person has to install.
    await updates.act('check')
    await updates.act('download')
    expect(updates.state().state).toBe(kind === 'app' ? 'downloaded' : 'available')
  })

  it('are off in an app that knows no server', async () => {
    const { updates, world, pass } = open({ hasSource: false })
    updates.start(false)
    await pass(HOUR_MS)
    for (const action of ['check', 'download', 'install', 'later'] as const) await updates.act(action)
    expect(updates.state()).toEqual({ state: 'off', reason: 'no_source' })
    expect(world.checks).toEqual([])
    expect(await updates.prepareQuit()).toBeNull()
  })

  it('back the data up, then install and start again', async () => {
    const { updates, world, states } = open()
    await updates.act('check')
    await updates.act('install')
    expect(world).toMatchObject({ backups: 1, installed: [true] })
    expect(states.at(-1)).toBe('installing')
  })

  it('never install in the middle of a job: they wait, and a person may change their mind', async () => {
    const { updates, world, jobsAre } = open()
    updates.start(false)
    await updates.act('check')
    jobsAre(2)
    await updates.act('install')
    expect(updates.state().state).toBe('waiting')
    jobsAre(1)
    expect(world).toMatchObject({ backups: 0, installed: [] })
    await updates.act('later')
    jobsAre(0)
    expect(updates.state().state).toBe('downloaded')
    expect(world.installed).toEqual([])

    jobsAre(1)
    await updates.act('install')
    jobsAre(0)
    await expect.poll(() => world.installed).toEqual([true])
  })

  it('wait again for a job that started during the backup', async () => {
    const { updates, world, jobsAre } = open()
    updates.start(false)
    await updates.act('check')
    world.duringBackup = () => void (world.jobs = 1)
    await updates.act('install')
    expect(updates.state().state).toBe('waiting')
    expect(world.installed).toEqual([])
    world.duringBackup = () => {}
    jobsAre(0)
    await expect.poll(() => world.installed).toEqual([true])
  })

  it('that waited for a job leave unsaved changes alone, and wait for the person', async () => {
    const { updates, world, jobsAre } = open()
    updates.start(false)
    await updates.act('check')
    jobsAre(1)
    await updates.act('install')
    world.hasUnsavedChanges = true
    jobsAre(0)
    await expect.poll(() => updates.state().state).toBe('downloaded')
    expect(world.installed).toEqual([])
    await updates.act('install')
    expect(world.installed).toEqual([true])
  })

  it('are not installed without a backup', async () => {
    const { updates, world } = open({ settings: { updateOnQuit: true } })
    await updates.act('check')
    world.backupFails = true
    expect(await updates.prepareQuit()).toBeNull()
    await updates.act('download')
    await updates.act('install')
    expect(updates.state()).toMatchObject({ state: 'failed', code: 'backup_failed', offer: { version: '1.3.0' } })
    expect(world.installed).toEqual([])
    world.backupFails = false
    await updates.act('download')
    await updates.act('install')
    expect(world.installed).toEqual([true])
  })

  it('install on quit only if the person allowed it, without starting again', async () => {
    const { updates, world, change } = open()
    await updates.act('check')
    expect(await updates.prepareQuit()).toBeNull()
    await change({ updateOnQuit: true })
    const install = await updates.prepareQuit()
    expect(world.installed).toEqual([])
    install!()
    expect(world).toMatchObject({ backups: 1, installed: [false] })
  })

  it('let nobody who quits wait long for a backup', async () => {
    const { updates, world } = open({ settings: { updateOnQuit: true } })
    await updates.act('check')
    await updates.prepareQuit()
    await updates.act('install')
    const [quitting, asked] = world.backupLimits as [number, number]
    expect(quitting).toBeLessThanOrEqual(30_000)
    expect(asked).toBeGreaterThan(quitting)
  })

  it('start a cut download again, three times at most', async () => {
    const { updates, world, pass } = open()
    updates.start(false)
    world.downloadFails = ['offline', 'timeout']
    await pass(HOUR_MS)
    expect(updates.state().state).toBe('downloaded')
    expect(world.downloads).toBe(3)

    const unlucky = open()
    unlucky.updates.start(false)
    unlucky.world.downloadFails = ['offline', 'server', 'timeout', 'offline']
    await unlucky.pass(HOUR_MS)
    expect(unlucky.updates.state()).toMatchObject({ state: 'failed', code: 'timeout' })
    expect(unlucky.world.downloads).toBe(3)
  })

  it.each(['signature', 'digest', 'disk_full', 'too_large', 'refused_address'] as const)(
    'do not repeat what cannot help: %s',
    async (code) => {
      const { updates, world } = open()
      world.downloadFails = [code]
      await updates.act('check')
      expect(updates.state()).toMatchObject({ state: 'failed', code })
      expect(world.downloads).toBe(1)
      // A person may try again.
      await updates.act('download')
      expect(updates.state().state).toBe('downloaded')
    },
  )

  it('say why a check failed, and check again the next day', async () => {
    const { updates, world, pass } = open()
    updates.start(false)
    world.checkFails = 'offline'
    await pass(HOUR_MS)
    expect(updates.state()).toEqual({ state: 'failed', code: 'offline', offer: null })
    world.checkFails = null
    await pass(27 * HOUR_MS)
    expect(updates.state().state).toBe('downloaded')
  })

  it('keep what is ready when a later check fails, and replace it by what is newer', async () => {
    const { updates, world } = open()
    await updates.act('check')
    world.checkFails = 'offline'
    await updates.act('check')
    expect(updates.state()).toMatchObject({ state: 'downloaded', offer: { version: '1.3.0' } })
    world.checkFails = null
    world.offered = '1.3.1'
    await updates.act('check')
    expect(updates.state()).toMatchObject({ state: 'downloaded', offer: { version: '1.3.1' } })
  })

  it('look in the other channel as soon as it is chosen', async () => {
    const { updates, world, change } = open({ settings: { updateMode: 'ask' } })
    updates.start(false)
    await change({ updateChannel: 'beta' })
    expect(world.checks).toEqual(['beta'])
    await change({ updateMode: 'automatic' })
    expect(updates.state().state).toBe('downloaded')
  })

  it('say when the version that was installed is not the one that runs', () => {
    const { updates } = open()
    updates.start(true)
    expect(updates.state()).toEqual({ state: 'failed', code: 'not_installed', offer: null })
  })
})

describe('a version that crashed at start twice', () => {
  it('is not downloaded by itself any more, only by a person', async () => {
    const { updates, record, world, pass } = open()
    record.begin('1.3.0')
    record.begin('1.3.0')
    record.begin('1.2.0')
    updates.start(false)
    await pass(HOUR_MS)
    expect(updates.state()).toMatchObject({ state: 'available', offer: { version: '1.3.0', crashed: true } })
    expect(world.downloads).toBe(0)
    await updates.act('download')
    expect(updates.state().state).toBe('downloaded')
    expect(await updates.prepareQuit()).toBeNull()
  })

  it('is one that never worked: a start that succeeded forgets those before', () => {
    const { record } = open()
    record.begin('1.3.0')
    record.begin('1.3.0')
    record.markStarted()
    record.begin('1.3.0')
    record.begin('1.2.0')
    expect(record.hasCrashed('1.3.0')).toBe(false)
  })

  it('is also one whose runner failed until the person quit', async () => {
    const { updates, record, world } = open()
    world.hasFailed = true
    for (const version of ['1.3.0', '1.3.0', '1.2.0']) {
      record.begin(version)
      await updates.prepareQuit()
    }
    expect(record.hasCrashed('1.3.0')).toBe(true)
  })

  it('is not one that worked, or that nobody saw fail', async () => {
    const { updates, record } = open()
    for (const version of ['1.3.0', '1.3.0', '1.2.0']) {
      record.begin(version)
      await updates.prepareQuit()
    }
    expect(record.hasCrashed('1.3.0')).toBe(false)
  })

  it('is remembered over restarts, and forgotten when it works after all', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-updates-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'updates.json')
    const start = async (version: string) => {
      const record = openUpdateRecord(file, silentLog)
      record.begin(version)
      // Written one after the other: the last write is done when this is.
      await record.setInstalling('1.3.0')
      return record
    }
    await start('1.3.0')
    await start('1.3.0')
    expect((await start('1.2.0')).hasCrashed('1.3.0')).toBe(true)
    expect(openUpdateRecord(file, silentLog).begin('1.2.0')).toBe(true)
    expect((await start('1.3.0')).hasCrashed('1.3.0')).toBe(true)
    const works = await start('1.3.0')
    works.markStarted()
    expect(works.hasCrashed('1.3.0')).toBe(false)
    writeFileSync(file, '{"start":')
    expect(openUpdateRecord(file, silentLog).begin('1.3.0')).toBe(false)
  })
})

describe('the backup before an update', () => {
  const failed = (code: string) =>
    backUp({ state: () => ({ state: 'failed', code, message: { code: 'quoted', params: { words: '' } } }), endpoint: () => null }, 1000)

  it.each(['database_newer', 'crash_loop'])('is left out if only another version can use the data: %s', async (code) => {
    await expect(failed(code)).resolves.toBeUndefined()
  })

  it.each(['database_locked', 'disk_full', 'database_damaged'])('is needed otherwise: %s', async (code) => {
    await expect(failed(code)).rejects.toThrow('the runner is not running')
  })
})

it.each([
  ['**Bold** <script>alert(1)</script>stays text', '**Bold** alert(1)stays text'],
  ['a\u0000b\u202ec\u200bd', 'abcd'],
  [undefined, ''],
  [{ note: 'x' }, ''],
  ['x'.repeat(30_000), `${'x'.repeat(5_000)}…`],
])('shows release notes as plain text: %j', (notes, text) => expect(plainNotes(notes)).toBe(text))
