import { chmodSync, statSync } from 'node:fs'
import type { Message } from '../../src-runner/contract/messages.ts'
import { messageOf } from '../log/log.ts'
import { listOwnFiles } from '../reset/own-files.ts'
import { networkShareProblem } from './network-share.ts'
import { StartError } from './start-error.ts'
import { makeFolder } from './write-atomic.ts'

/**
 * Creates the folder if needed, for the owner only: it will hold keys and private text. Mends the modes of a folder and of
 * Deckhand's files in it that a copy or a restored backup left open to other accounts. Returns why the folder may lose data; null:
 * it is sound.
 */
export function prepareDataDir(dir: string): Message | null {
  try {
    makeFolder(dir)
    if (process.platform === 'win32') return null
    if ((statSync(dir).mode & 0o077) !== 0) chmodSync(dir, 0o700)
    for (const file of listOwnFiles(dir, { keepsBackups: true })) {
      const found = statSync(file, { throwIfNoEntry: false })
      if (found?.isFile() === true && (found.mode & 0o077) !== 0) chmodSync(file, 0o600)
    }
    return networkShareProblem(dir)
  } catch (error) {
    throw new StartError(2, { code: 'start_data_dir', params: { folder: dir, why: messageOf(error) } }, { cause: error })
  }
}
