// Whether Chromium's own sandbox works for whoever runs this.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './run.mjs'

/** A program that belongs to Electron and lends its rights to the sandbox, where its owner is root. */
export const sandboxHelper = join(root, 'node_modules/electron/dist/chrome-sandbox')

/** Chromium refuses to sandbox for root. For others it needs user namespaces, or else its helper with the set-user bit. */
export function hasChromiumSandbox() {
  if (process.platform !== 'linux') return true
  if (process.getuid() === 0) return false
  // Tried instead of read from settings: containers, chroots and security modules each have their own way to say no.
  const attempt = spawnSync('unshare', ['--user', '--map-root-user', '--net', 'true'], { stdio: 'ignore' })
  return attempt.status === 0 || attempt.error !== undefined || helperIsPrivileged()
}

function helperIsPrivileged() {
  const helper = statSync(sandboxHelper, { throwIfNoEntry: false })
  return helper?.uid === 0 && (helper.mode & 0o4000) !== 0
}
