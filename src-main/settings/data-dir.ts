import { chmodSync, statSync } from 'node:fs'
import { messageOf } from '../log/log.ts'
import { listOwnFiles } from '../reset/own-files.ts'
import { StartError } from './start-error.ts'
import { makeFolder } from './write-atomic.ts'

/**
 * Creates the folder if needed, for the owner only: it will hold keys and private text. Mends the modes of a folder and of
 * Deckhand's files in it that a copy or a restored backup left open to other accounts.
 */
export function prepareDataDir(dir: string): void {
  try {
    makeFolder(dir)
    if (process.platform === 'win32') return
    if ((statSync(dir).mode & 0o077) !== 0) chmodSync(dir, 0o700)
    for (const file of listOwnFiles(dir, { keepsBackups: true })) {
      const found = statSync(file, { throwIfNoEntry: false })
      if (found?.isFile() === true && (found.mode & 0o077) !== 0) chmodSync(file, 0o600)
    }
  } catch (error) {
    throw new StartError(2, { code: 'start_data_dir', params: { folder: dir, why: messageOf(error) } }, { cause: error })
  }
}
