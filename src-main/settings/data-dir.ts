import { chmodSync, statSync } from 'node:fs'
import { messageOf } from '../log/log.ts'
import { StartError } from './start-error.ts'
import { makeFolder } from './write-atomic.ts'

/** Creates the folder if needed, for the owner only: it will hold keys and private text. */
export function prepareDataDir(dir: string): void {
  try {
    makeFolder(dir)
    if (process.platform !== 'win32' && (statSync(dir).mode & 0o077) !== 0) chmodSync(dir, 0o700)
  } catch (error) {
    throw new StartError(2, { code: 'start_data_dir', params: { folder: dir, why: messageOf(error) } }, { cause: error })
  }
}
