import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { ROUTE_TABLE } from '../../src-runner/contract/route-table.ts'
import type { Host } from '../host.ts'
import type { Supervisor } from '../runner/supervisor.ts'
import { installKind, packagedFeed, type UpdateFeed } from './feed.ts'
import { openUpdateRecord, type UpdateRecord } from './update-record.ts'
import { createUpdater } from './updater.ts'
import { createUpdates, type Updates } from './updates.ts'

export type AppUpdatesDeps = {
  host: Host
  version: string
  isPackaged: boolean
  /** The folder that holds package.json. */
  appPath: string
  resources: string
  appImage: string | null
  /** A local server, in window tests; null: none. */
  testFeed: UpdateFeed | null
  hasUnsavedChanges: () => Promise<boolean>
  quit: () => void
  quitWith: (install: () => boolean) => Promise<void>
}

/** Updates of the app that runs. Nothing of electron-updater is loaded before the first check. */
export function createAppUpdates(deps: AppUpdatesDeps): Updates & { record: UpdateRecord } {
  const { host, version, resources, appImage } = deps
  const { settings, supervisor, log } = host
  const { dataDir } = host.environment
  const record = openUpdateRecord(join(dataDir, 'updates.json'), log)
  const feed = deps.testFeed ?? (deps.isPackaged ? packagedFeed(join(deps.appPath, 'package.json')) : null)
  const kind = installKind(process.platform, resources, appImage)
  const cacheDir = join(dataDir, 'cache')
  const source = feed && createUpdater({ feed, kind, version, cacheDir, resources, appImage, quit: deps.quit, log })
  const updates = createUpdates({
    source,
    reason: deps.isPackaged ? 'no_source' : 'development',
    record,
    settings: settings.current,
    onSettings: (listener) => settings.onChange(listener),
    hasFailed: () => supervisor.state().state === 'failed',
    runningJobs: () => supervisor.running().jobs.length,
    onRunning: (listener) => supervisor.onRunning(listener),
    hasUnsavedChanges: deps.hasUnsavedChanges,
    backUp: (limitMs) => backUp(supervisor, limitMs),
    quitWith: deps.quitWith,
    clock: {
      now: Date.now,
      monotonic: () => performance.now(),
      random: Math.random,
      after: (ms, run) => void setTimeout(run, ms).unref(),
    },
    log,
  })
  return { ...updates, record }
}

/** Failures of the runner that only another version mends. That one copies the data before it changes it. */
const MENDED_BY_UPDATE: readonly string[] = ['database_newer', 'crash_loop']

/** Rejects if there is no backup, unless no runner of this version could make one. */
export async function backUp(supervisor: Pick<Supervisor, 'state' | 'endpoint'>, limitMs: number): Promise<void> {
  const state = supervisor.state()
  if (state.state === 'failed' && MENDED_BY_UPDATE.includes(state.code)) return
  const runner = supervisor.endpoint()
  if (runner === null) throw new Error('the runner is not running')
  const answer = await fetch(new URL(ROUTE_TABLE.makeBackup.path, runner.url), {
    method: ROUTE_TABLE.makeBackup.method,
    headers: { authorization: `Bearer ${runner.secret}` },
    signal: AbortSignal.timeout(limitMs),
  })
  if (!answer.ok) throw new Error(`the runner made no backup: ${answer.status} ${(await answer.text()).slice(0, 300)}`)
}
