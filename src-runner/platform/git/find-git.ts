import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { findTrustedProgram, plainEnvironment } from '../programs/trusted-program.ts'
import { GitFailed } from './git-failed.ts'

export type FindGitDeps = {
  listProgramFolders: () => Promise<readonly string[]>
  /** Where agents write. A Git there is never the person's. */
  closedFolders: () => readonly string[]
}

/** The first that can be kept from reading the person's settings (`GIT_CONFIG_GLOBAL`). */
const OLDEST = [2, 32] as const
/** On macOS this is a stand-in that opens a dialog if the real one is not installed. */
const STAND_IN = '/usr/bin/git'
const REAL_ON_MACOS = ['/Library/Developer/CommandLineTools/usr/bin/git', '/Applications/Xcode.app/Contents/Developer/usr/bin/git']
const VERSION_WITHIN_MS = 20_000

/** Finds the person's Git and checks its version, once for each file. The function throws GitFailed. */
export function createGitFinder({ listProgramFolders, closedFolders }: FindGitDeps): () => Promise<string> {
  const checked = new Map<string, Promise<void>>()
  return async () => {
    const found = findTrustedProgram(['git'], { folders: await listProgramFolders(), closed: closedFolders() })
    const file = process.platform === 'darwin' && found === STAND_IN ? REAL_ON_MACOS.find((path) => existsSync(path)) : found
    if (file == null) throw new GitFailed('missing', 'Git is not installed')
    let checking = checked.get(file)
    if (checking === undefined) {
      checking = checkVersion(file)
      checked.set(file, checking)
      // It may have been updated since.
      checking.catch(() => checked.delete(file))
    }
    await checking
    return file
  }
}

async function checkVersion(file: string): Promise<void> {
  const { stdout } = await promisify(execFile)(file, ['version'], { env: plainEnvironment([]), timeout: VERSION_WITHIN_MS }).catch(
    (thrown: Error) => Promise.reject(new GitFailed('failed', `Git does not start: ${thrown.message}`)),
  )
  const [, major, minor] = /^git version (\d+)\.(\d+)/.exec(stdout) ?? []
  if (major === undefined || Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]))
    throw new GitFailed('outdated', `Git ${OLDEST.join('.')} or newer is needed`)
}
