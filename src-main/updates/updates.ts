import type { MachineSettings } from '../contract/desktop-api.ts'
import type { UpdateAction, UpdateOffer, UpdateProblem, UpdateState } from '../contract/updates.ts'
import { createListeners } from '../listeners.ts'
import { messageOf, type Log } from '../log/log.ts'
import type { UpdateRecord } from './update-record.ts'
import { UpdateError, type UpdateSource } from './update-source.ts'

const DAY_MS = 24 * 60 * 60_000
/** How often to look whether a check is due. Short, because timers stand still while the machine sleeps. */
const TICK_MS = 10 * 60_000
/** The first check waits until the start is over; both waits differ between machines, so that they do not come at once. */
const FIRST_CHECK_MS = { least: 20_000, jitter: 40_000 }
const DAILY_JITTER_MS = 2 * 60 * 60_000
/** A download that was cut starts again after these pauses. */
const DOWNLOAD_PAUSES_MS = [5_000, 60_000]
/** A large database on a slow disk takes minutes. */
const BACKUP_LIMIT_MS = 10 * 60_000
/** Nobody waits longer for an app that quits, such as for a folder on a share that hangs. */
const QUIT_BACKUP_LIMIT_MS = 30_000
const RETRYABLE: readonly UpdateProblem[] = ['offline', 'server', 'timeout']

export type UpdateSettings = Pick<MachineSettings, 'updateChannel' | 'updateMode' | 'updateOnQuit'>

export type UpdatesDeps = {
  /** null: this app cannot be updated. */
  source: UpdateSource | null
  /** Why there is no source. */
  reason: 'development' | 'no_source'
  record: UpdateRecord
  settings: () => UpdateSettings
  onSettings: (listener: () => void) => void
  /** Whether the runner cannot start, or keeps crashing. */
  hasFailed: () => boolean
  /** How many jobs are running now. */
  runningJobs: () => number
  onRunning: (listener: () => void) => void
  /** Whether the page has changes that quitting would lose. */
  hasUnsavedChanges: () => Promise<boolean>
  /** Makes a backup of the data and checks it. Rejects if there is none within `limitMs`. */
  backUp: (limitMs: number) => Promise<void>
  /** Stops everything, calls the function, and quits. */
  quitWith: (install: () => boolean) => Promise<void>
  clock: UpdateClock
  log: Log
}

export type UpdateClock = {
  /** Epoch ms. */
  now(): number
  /** Ms that no change of the clock touches. */
  monotonic(): number
  /** 0 to 1. */
  random(): number
  after(ms: number, run: () => void): void
}

export type Updates = {
  state(): UpdateState
  onState(listener: () => void): () => void
  /** Looks for updates from now on. `didInstallFail`: the version that was installed last is not the one that runs. */
  start(didInstallFail: boolean): void
  /** Does what the person asks for. Never rejects: the state shows how it went. */
  act(action: UpdateAction): Promise<void>
  /** The person quits. Resolves with what to call when everything has stopped; null: nothing. */
  prepareQuit(): Promise<(() => boolean) | null>
}

/** Finds, downloads and installs new versions: never in the middle of a job, and never without a backup before it. */
export function createUpdates(deps: UpdatesDeps): Updates {
  const { source, record, settings, clock, log } = deps
  const listeners = createListeners()
  let state: UpdateState = source === null ? { state: 'off', reason: deps.reason } : { state: 'idle', checkedAt: null }
  const times = createCheckTimes(clock)

  function become(next: UpdateState): void {
    state = next
    listeners.tell()
  }

  function fail(error: unknown, offer: UpdateOffer | null): void {
    const code = error instanceof UpdateError ? error.code : 'internal'
    log.warn({ code, version: offer?.version, error: messageOf(error) }, 'the update failed')
    become({ state: 'failed', code, offer })
  }

  async function check(): Promise<void> {
    if (source === null || !['idle', 'available', 'failed', 'downloaded'].includes(state.state)) return
    const before = state
    const { updateChannel } = settings()
    times.checked()
    become({ state: 'checking' })
    try {
      const found = await source.check(updateChannel)
      if (found === null) return become({ state: 'idle', checkedAt: clock.now() })
      const offer = { ...found, crashed: record.hasCrashed(found.version) }
      log.info({ version: offer.version, kind: offer.kind }, 'a new version is there')
      // What was downloaded before stays ready, unless it is outdated by now.
      if (before.state === 'downloaded' && before.offer.version === offer.version) return become(before)
      become({ state: 'available', offer })
    } catch (error) {
      if (before.state === 'downloaded') return become(before)
      return fail(error, null)
    }
    if (settings().updateMode === 'automatic') await downloadByItself()
  }

  async function downloadByItself(): Promise<void> {
    if (state.state === 'available' && state.offer.kind === 'app' && !state.offer.crashed) await download()
  }

  async function download(): Promise<void> {
    if (source === null) return
    const offer = state.state === 'available' || state.state === 'failed' ? state.offer : null
    // After a failed check there is nothing to download yet.
    if (offer === null) return state.state === 'failed' ? check() : undefined
    if (offer.kind !== 'app') return
    for (let attempt = 0; ; attempt++) {
      become({ state: 'downloading', offer, percent: 0 })
      try {
        await source.download((percent) => {
          if (state.state === 'downloading' && percent !== state.percent) become({ state: 'downloading', offer, percent })
        })
        return become({ state: 'downloaded', offer })
      } catch (error) {
        const pause = DOWNLOAD_PAUSES_MS[attempt]
        if (pause === undefined || !(error instanceof UpdateError && RETRYABLE.includes(error.code))) return fail(error, offer)
        log.info({ attempt, error: error.message }, 'the download of an update starts again')
        await new Promise<void>((resolve) => clock.after(pause, resolve))
      }
    }
  }

  /** `isAsked`: the person asks for it now, and so knows that the window closes. */
  async function install({ isAsked }: { isAsked: boolean }): Promise<void> {
    if (state.state !== 'downloaded' && state.state !== 'waiting') return
    const { offer } = state
    if (deps.runningJobs() > 0) return become({ state: 'waiting', offer })
    become({ state: 'installing', offer })
    if (!(await makeBackup(offer, BACKUP_LIMIT_MS))) return
    if (!isAsked && (await deps.hasUnsavedChanges())) return become({ state: 'downloaded', offer })
    // A job may have started meanwhile.
    if (deps.runningJobs() > 0) return become({ state: 'waiting', offer })
    await record.setInstalling(offer.version)
    log.info({ version: offer.version }, 'the update is being installed')
    await deps.quitWith(() => source!.install({ restart: true }))
  }

  async function makeBackup(offer: UpdateOffer, limitMs: number): Promise<boolean> {
    try {
      await deps.backUp(limitMs)
      return true
    } catch (error) {
      fail(new UpdateError('backup_failed', messageOf(error), { cause: error }), offer)
      return false
    }
  }

  function tick(): void {
    clock.after(TICK_MS, tick)
    if (settings().updateMode !== 'off' && times.isDue()) void check()
  }

  return {
    state: () => state,
    onState: listeners.add,
    start(didInstallFail) {
      if (source === null) return
      if (didInstallFail) become({ state: 'failed', code: 'not_installed', offer: null })
      clock.after(FIRST_CHECK_MS.least + clock.random() * FIRST_CHECK_MS.jitter, tick)
      deps.onRunning(() => {
        if (state.state === 'waiting' && deps.runningJobs() === 0) void install({ isAsked: false })
      })
      let { updateChannel } = settings()
      deps.onSettings(() => {
        const changed = settings()
        // What was found in the other channel is not offered any more.
        if (changed.updateChannel !== updateChannel && state.state !== 'downloaded') void check()
        else if (changed.updateMode === 'automatic') void downloadByItself()
        updateChannel = changed.updateChannel
      })
    },
    async act(action) {
      if (action === 'check') await check()
      else if (action === 'download') await download()
      else if (action === 'install') await install({ isAsked: true })
      else if (state.state === 'waiting') become({ state: 'downloaded', offer: state.offer })
    },
    async prepareQuit() {
      // Somebody who quits soon after a start did not see it crash, unless they quit because it did.
      if (!deps.hasFailed()) record.markStarted()
      if (source === null || state.state !== 'downloaded' || !settings().updateOnQuit) return null
      const { offer } = state
      if (offer.crashed || !(await makeBackup(offer, QUIT_BACKUP_LIMIT_MS))) return null
      await record.setInstalling(offer.version)
      return () => source.install({ restart: false })
    },
  }
}

/** When to check again: a day after the last check, by either clock, because a wrong one must not stop updates. */
function createCheckTimes(clock: UpdateClock) {
  let last: { wall: number; monotonic: number; pause: number } | null = null
  return {
    checked(): void {
      last = { wall: clock.now(), monotonic: clock.monotonic(), pause: DAY_MS + clock.random() * DAILY_JITTER_MS }
    },
    isDue(): boolean {
      if (last === null) return true
      return clock.monotonic() - last.monotonic >= last.pause || Math.abs(clock.now() - last.wall) >= last.pause
    },
  }
}
