import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Logs that are no longer written (`20261123-0901-01-runner.log`), and crash reports. */
const OLD_LOG = /^\d{8}-\d{4}-\d+-(main|runner)\.log$/
const CRASH = /^crash-[\dTZ-]+\.json$/
const CURRENT = /^(main|runner)\.log$/

export type LogFile = { path: string; bytes: number; writtenAt: number; isInUse: boolean }

/** Deckhand's own files in the folder of the logs, and nothing else that is there. */
export async function listLogFiles(folder: string): Promise<LogFile[]> {
  const own = [
    ...(await namesIn(folder)).filter((name) => OLD_LOG.test(name) || CURRENT.test(name)),
    ...(await namesIn(join(folder, 'crashes'))).filter((name) => CRASH.test(name)).map((name) => join('crashes', name)),
  ]
  const files = await Promise.all(
    own.map(async (name): Promise<LogFile[]> => {
      const path = join(folder, name)
      const found = await stat(path).catch(() => null)
      return found === null ? [] : [{ path, bytes: found.size, writtenAt: found.mtimeMs, isInUse: CURRENT.test(name) }]
    }),
  )
  return files.flat()
}

export async function deleteLogFiles(files: readonly LogFile[]): Promise<void> {
  for (const { path } of files) await rm(path, { force: true })
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}
