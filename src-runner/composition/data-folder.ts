import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { RUNNER_FOLDERS } from '../contract/data-folder.ts'
import { createMessage } from '../lib/messages.ts'
import { DatabaseRefused } from '../platform/db/database-errors.ts'

/** Creates the data folder. Only the person may read it, even if it was open to others. Throws DatabaseRefused. */
export function prepareDataFolder(dataDir: string): void {
  for (const folder of [dataDir, ...RUNNER_FOLDERS.map((name) => join(dataDir, name))]) {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) continue
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      // A file in place of one of our folders is somebody else's, or a mistake.
      throw new DatabaseRefused('data_dir_unusable', createMessage('start_folder_is_file', { folder }))
    }
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (process.platform !== 'win32') chmodSync(dataDir, 0o700)
}
