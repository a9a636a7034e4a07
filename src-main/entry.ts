import { homedir } from 'node:os'
import { join } from 'node:path'
import { app } from 'electron'
import { isTestBuild, refuseUnsafeArguments } from './security/arguments.ts'
import { dataDirPath } from './settings/data-dir-path.ts'

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
app.setPath('userData', join(dataDir, 'window'))
// Electron becomes ready only after this module was evaluated, which includes loading the app, and not its start.
if (app.requestSingleInstanceLock()) await import('./main.ts')
else app.exit(0)
