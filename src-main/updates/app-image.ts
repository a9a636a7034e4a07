import { spawn } from 'node:child_process'
import { accessSync, chmodSync, closeSync, constants, copyFileSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'

/** Whether the person who runs this AppImage may replace it. */
export function canReplace(appImage: string): boolean {
  if (!isAbsolute(appImage)) return false
  try {
    accessSync(appImage, constants.W_OK)
    accessSync(dirname(appImage), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Puts a downloaded AppImage in the place of the present one, under the same name. electron-updater deletes the old file
 * before it moves the new one; if the disk is full then, neither is left. Here the old one stays until the new one is whole.
 */
export function replaceAppImage(downloaded: string, appImage: string): void {
  const beside = `${appImage}.new`
  try {
    copyFileSync(downloaded, beside)
    chmodSync(beside, 0o755)
    const file = openSync(beside, 'r+')
    fsyncSync(file)
    closeSync(file)
    renameSync(beside, appImage)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}

/** Starts it on its own, so that it outlives this process. */
export function startAppImage(appImage: string): void {
  const { APPIMAGE: _1, APPDIR: _2, ARGV0: _3, OWD: _4, ...env } = process.env
  const started = spawn(appImage, [], { detached: true, stdio: 'ignore', env })
  // Such as a file that was moved meanwhile. Without a listener, the event would end this process too early.
  started.on('error', (error) => process.stderr.write(`deckhand: ${appImage} cannot be started: ${error.message}\n`))
  started.unref()
}
