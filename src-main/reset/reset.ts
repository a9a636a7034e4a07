import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../log/log.ts'
import type { Environment } from '../settings/environment.ts'
import { StartError } from '../settings/start-error.ts'
import { writeAtomic } from '../settings/write-atomic.ts'
import { eraseVaultKeys } from '../vault/open-vault.ts'
import { releaseCodeFolders } from './code-folders.ts'
import { isResetPending, listOwnFiles, requestOf } from './own-files.ts'

const Request = z.object({ version: z.literal(1), keepsBackups: z.boolean() })

/** A runner that lost its host ends within seconds. */
const WAIT_FOR_RUNNER_MS = 15_000

/** From here on, the next start deletes everything. On disk when this resolves. */
export async function requestReset(dataDir: string, { keepsBackups }: { keepsBackups: boolean }): Promise<void> {
  await writeAtomic(requestOf(dataDir), `${JSON.stringify({ version: 1, keepsBackups })}\n`)
}

type ResetDeps = Pick<Environment, 'dataDir'> & {
  waitMs?: number
  /** Called between all steps. Tests stop there. */
  onStep?: () => void
  eraseKeys?: (dataDir: string) => Promise<void>
}

/** The same at once. Throws a StartError, and requests nothing, if another Deckhand uses the folder. */
export async function resetNow(deps: ResetDeps, options: { keepsBackups: boolean }): Promise<void> {
  const release = await lockData(deps.dataDir, 0)
  try {
    await requestReset(deps.dataDir, options)
  } finally {
    release()
  }
  await finishReset(deps)
}

/**
 * Deletes what Deckhand made in its data folder and its keys in the keychain, if that was requested, before anything opens it. Every
 * step may be repeated, and the request goes last, so the next start finishes what was interrupted. Throws a StartError, and
 * deletes nothing, while another Deckhand uses the folder.
 */
export async function finishReset({ dataDir, waitMs = WAIT_FOR_RUNNER_MS, onStep = () => {}, eraseKeys }: ResetDeps): Promise<void> {
  if (!isResetPending(dataDir)) return
  const { keepsBackups } = readRequest(dataDir)
  const release = await lockData(dataDir, waitMs)
  try {
    // Without its file the key opens nothing, so a keychain that is locked does not hold the reset up.
    await (eraseKeys ?? eraseVaultKeys)(dataDir).catch((error: unknown) =>
      process.stderr.write(`deckhand: the key in the keychain could not be deleted: ${messageOf(error)}\n`),
    )
    releaseCodeFolders(dataDir)
    for (const path of listOwnFiles(dataDir, { keepsBackups })) {
      onStep()
      if (!isLock(path)) rmSync(path, { recursive: true, force: true, maxRetries: 5 })
    }
    onStep()
    syncFolder(dataDir)
  } catch (error) {
    throw new StartError(1, { code: 'reset_incomplete', params: { why: messageOf(error) } }, { cause: error })
  } finally {
    release()
  }
  for (const path of listOwnFiles(dataDir, { keepsBackups }).filter(isLock)) rmSync(path, { force: true })
  onStep()
  rmSync(requestOf(dataDir), { force: true })
  syncFolder(dataDir)
}

/** Deleted after its release, because Windows deletes no open file. */
const isLock = (path: string) => /deckhand\.db\.lock/.test(path)

function readRequest(dataDir: string): z.output<typeof Request> {
  try {
    return Request.parse(JSON.parse(readFileSync(requestOf(dataDir), 'utf8')))
  } catch (error) {
    const file = requestOf(dataDir)
    throw new StartError(1, { code: 'reset_unreadable', params: { file, why: messageOf(error) } }, { cause: error })
  }
}

async function lockData(dataDir: string, waitMs: number): Promise<() => void> {
  // A native library, which no other start needs.
  const { takeDataLock } = await import('./data-lock.ts')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  for (const until = performance.now() + waitMs; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const release = takeDataLock(join(dataDir, 'deckhand.db.lock'))
    if (release !== null) return release
    if (performance.now() >= until) throw new StartError(1, { code: 'reset_in_use', params: { folder: dataDir } })
  }
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
