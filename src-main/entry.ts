import { enableCompileCache, flushCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { app } from 'electron'
import { isResetPending } from './reset/own-files.ts'
import { createUtilityRunner } from './runner/utility-runner.ts'
import { isTestBuild, refuseUnsafeArguments } from './security/arguments.ts'
import { codeCacheOf, dataDirPath } from './settings/data-dir-path.ts'
import { isLockedHere, lockIn, removeForeignLock } from './settings/single-instance.ts'
import { registerAppScheme } from './window/register-app-scheme.ts'

/**
 * What Electron loads first. A start beside a running Deckhand hands over and ends here, before it has read the rest of the app:
 * somebody who clicks an icon ten times does not wait for ten apps.
 */
if (app.isPackaged && !isTestBuild(join(app.getAppPath(), 'package.json'))) {
  try {
    refuseUnsafeArguments(process.argv)
  } catch (error) {
    process.stderr.write(`deckhand: ${(error as Error).message}\n`)
    process.exit(2)
  }
}
const { env, platform } = process
// Before any use of Electron: its lock and the page's storage are in this folder.
const dataDir = dataDirPath(env['DECKHAND_DATA_DIR']?.trim() || undefined, { env, platform, home: homedir(), cwd: process.cwd() })
const windowDir = join(dataDir, 'window')
app.setPath('userData', windowDir)
removeForeignLock(windowDir)
if (app.requestSingleInstanceLock()) begin()
else if (isLockedHere(windowDir)) app.exit(0)
else void import('./main.ts').then(({ refuseLocked }) => refuseLocked(lockIn(windowDir)))

/** Chromium becomes ready, the runner's process reads its code, and this one reads the app, all at the same time. */
function begin(): void {
  registerAppScheme()
  // macOS passes links here. The one that started the app comes before the app has been read.
  const links: string[] = []
  const keep = (_event: unknown, link: string) => void links.push(link)
  app.on('open-url', keep)
  const runner = createUtilityRunner({ entry: join(app.getAppPath(), 'out/main/runner.js'), codeCache: codeCacheOf(dataDir) })
  // A reset deletes the cache.
  if (!isResetPending(dataDir)) {
    enableCompileCache(codeCacheOf(dataDir))
    void app.whenReady().then(runner.prepare)
  }
  import('./main.ts').then(
    ({ main }) => {
      app.off('open-url', keep)
      void main({ spawn: runner.spawn, links }).then(flushCompileCache)
    },
    (error: unknown) => {
      process.stderr.write(`deckhand: ${(error as Error).message}\n`)
      app.exit(1)
    },
  )
}
