import { join } from 'node:path'
import type { AppUpdater, BaseUpdater } from 'electron-updater'
import { z } from 'zod'
import type { InstallKind, UpdateChannel } from '../contract/updates.ts'
import { messageOf, type Log } from '../log/log.ts'
import { replaceAppImage, startAppImage } from './app-image.ts'
import type { UpdateFeed } from './feed.ts'
import type { GuardedHttp, Limits } from './guarded-http.ts'
import { plainNotes } from './release-notes.ts'
import { UpdateError, type UpdateSource } from './update-source.ts'

const SILENCE_MS = 60_000
const METADATA_BYTES = 1024 * 1024
/** More than any installer of ours, less than would fill a disk. */
const FILE_BYTES = 1024 * 1024 * 1024

/** What a signed description may say, and the tag of its release. Names only: an address in it would lead elsewhere. */
const Description = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/),
  files: z
    .array(
      z.object({
        url: z.string().regex(/^[\w][\w.-]{0,199}$/),
        sha512: z.string().regex(/^[A-Za-z0-9+/]{86}==$/),
        size: z.number().int().min(1).max(FILE_BYTES),
      }),
    )
    .min(1)
    .max(50),
  releaseNotes: z.unknown().optional(),
  /** GitHub only: what the host calls the release. */
  tag: z
    .string()
    .regex(/^v?\d+\.\d+\.\d+(-[\w.]+)?$/)
    .optional(),
})

const EXTENSIONS: Record<InstallKind, RegExp> = {
  app: /\.(AppImage|exe|zip)$/,
  app_image: /\.AppImage$/,
  deb: /\.deb$/,
  rpm: /\.rpm$/,
  archive: /\.tar\.gz$/,
}

export type UpdaterDeps = {
  feed: UpdateFeed
  kind: InstallKind
  version: string
  /** Where downloads lie until they are installed. */
  cacheDir: string
  /** The folder of app-update.yml, which electron-builder writes. */
  resources: string
  /** The AppImage that runs; null: another kind of app. */
  appImage: string | null
  quit: () => void
  log: Log
  /** Tests leave Electron out, and shorten the wait. */
  send?: ConstructorParameters<typeof GuardedHttp>[1]
  silenceMs?: number
}

/** electron-updater behind the port of the state machine. It loads with the first check. */
export function createUpdater(deps: UpdaterDeps): UpdateSource {
  const { feed, kind, log } = deps
  const limits: Limits = {
    allows: feed.allows,
    key: feed.key,
    silenceMs: deps.silenceMs ?? SILENCE_MS,
    metadataBytes: METADATA_BYTES,
  }
  /** `downloaded`: where its file is. Only the updater that downloaded it can install it. */
  let found: { version: string; updater: AppUpdater; http: GuardedHttp; bytes: number; downloaded: string | null } | null = null

  async function open(channel: UpdateChannel): Promise<{ updater: AppUpdater; http: GuardedHttp }> {
    const { AppImageUpdater, MacUpdater, NsisUpdater } = await import('electron-updater')
    const { GuardedHttp: Http } = await import('./guarded-http.ts')
    const http = new Http(limits, deps.send)
    const Updater = process.platform === 'darwin' ? MacUpdater : process.platform === 'win32' ? NsisUpdater : AppImageUpdater
    const updater = new Updater(undefined, appOf(deps))
    Object.assign(updater, { httpExecutor: http })
    updater.logger = {
      info: (message?: unknown) => log.debug({}, String(message)),
      warn: (message?: unknown) => log.debug({}, String(message)),
      error: (message?: unknown) => log.debug({}, String(message)),
    }
    // Errors come as rejections too. Without a listener, the event would end the app.
    updater.on('error', () => undefined)
    // On Windows, the file of the build also says who signs the installers.
    if (process.platform !== 'win32')
      Object.assign(updater, { configOnDisk: { value: Promise.resolve({ updaterCacheDirName: 'updates' }) } })
    updater.setFeedURL(feed.provider)
    Object.assign(updater, {
      autoDownload: false,
      autoInstallOnAppQuit: false,
      // It also looks for updates for packages that it does not install.
      forceDevUpdateConfig: true,
      disableWebInstaller: true,
      // The whole file, checked as a whole: simpler than patching an old one.
      disableDifferentialDownload: true,
      allowPrerelease: channel === 'beta',
    })
    if (feed.provider.provider === 'generic') updater.channel = channel === 'beta' ? 'beta' : 'latest'
    // Setting the channel allows downgrades.
    updater.allowDowngrade = false
    return { updater, http }
  }

  return {
    async check(channel) {
      const { updater, http } = await open(channel)
      const result = await updater.checkForUpdates().catch((error: unknown) => {
        throw http.problem ?? problemOf(error)
      })
      // The description is what electron-updater asks for last.
      if (result !== null && !http.gaveSigned)
        throw new UpdateError('signature', 'the description of the release is at an address without a signature')
      if (result === null || !result.isUpdateAvailable) {
        found = null
        return null
      }
      const parsed = Description.safeParse(result.updateInfo)
      if (!parsed.success) throw new UpdateError('invalid', `the description of the release is invalid: ${parsed.error.message}`)
      const { version, files, releaseNotes } = parsed.data
      if (version.includes('-') && channel !== 'beta') throw new UpdateError('invalid', `the stable channel offers a beta (${version})`)
      const fitting = files.filter(({ url }) => EXTENSIONS[kind].test(url))
      const file = fitting.find(({ url }) => url.includes(process.arch)) ?? fitting[0]
      if (file === undefined) throw new UpdateError('invalid', `the release has no file for this system (${kind})`)
      // What is ready stays ready, also when a check fails, until there is another version.
      const isReady = found?.version === version && found.downloaded !== null
      if (!isReady) found = { version, updater, http, bytes: file.size, downloaded: null }
      return { version, notes: plainNotes(releaseNotes), bytes: file.size, kind, file: file.url, page: feed.pageOf(version) }
    },

    async download(onProgress) {
      if (found === null) throw new UpdateError('internal', 'nothing was found yet')
      const chosen = found
      const { updater, http, bytes } = chosen
      http.problem = null
      http.fileBytes = bytes
      const report = ({ percent }: { percent: number }) => onProgress(Math.floor(percent))
      updater.on('download-progress', report)
      try {
        chosen.downloaded = (await updater.downloadUpdate())[0] ?? null
      } catch (error) {
        throw http.problem ?? problemOf(error)
      } finally {
        updater.off('download-progress', report)
        http.fileBytes = 0
      }
    },

    install({ restart }) {
      if (found === null || found.downloaded === null) throw new UpdateError('internal', 'nothing was downloaded')
      const { updater, downloaded } = found
      if (deps.appImage !== null) {
        replaceAppImage(downloaded, deps.appImage)
        if (restart) startAppImage(deps.appImage)
        return false
      }
      if ('install' in updater) {
        if (!(updater as BaseUpdater).install(true, restart)) throw new UpdateError('not_installed', 'the installer could not be started')
        return false
      }
      updater.autoRunAppAfterInstall = restart
      updater.quitAndInstall()
      return true
    },
  }
}

/** What electron-updater asks of the app. In tests there is no Electron. */
function appOf({ version, cacheDir, resources, quit }: UpdaterDeps) {
  return {
    version,
    name: 'deckhand',
    isPackaged: true,
    appUpdateConfigPath: join(resources, 'app-update.yml'),
    userDataPath: cacheDir,
    baseCachePath: cacheDir,
    whenReady: () => Promise.resolve(),
    relaunch: () => undefined,
    quit,
    onQuit: () => undefined,
  }
}

const NO_CONNECTION = /^(ECONN\w+|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/

/** What an error of electron-updater, Chromium or the system means. */
export function problemOf(error: unknown): UpdateError {
  const message = messageOf(error)
  const given = (error as { code?: unknown } | null)?.code
  const code = typeof given === 'string' ? given : ''
  const as = (problem: UpdateError['code']) => new UpdateError(problem, message, { cause: error })
  if (error instanceof UpdateError) return error
  if (/ENOSPC|EDQUOT|FILE_NO_SPACE/.test(`${code} ${message}`)) return as('disk_full')
  if (/^(EACCES|EPERM|EROFS)$/.test(code)) return as('not_writable')
  if (code === 'ERR_CHECKSUM_MISMATCH') return as('digest')
  if (code === 'ERR_UPDATER_INVALID_SIGNATURE') return as('signature')
  if (/^ERR_UPDATER_(INVALID|NO_CHECKSUM|NO_FILES)/.test(code)) return as('invalid')
  if (/^(HTTP_ERROR_|ERR_UPDATER_)/.test(code) || /status \d{3}/.test(message)) return as('server')
  if (/timed out|ETIMEDOUT/.test(`${code} ${message}`)) return as('timeout')
  if (NO_CONNECTION.test(code) || /net::ERR|aborted|socket hang up/i.test(message)) return as('offline')
  return as('internal')
}
