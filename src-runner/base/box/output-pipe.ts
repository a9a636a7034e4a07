import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { temporaryFolder } from './leftovers.ts'

/** A real pipe. The writing end is for the child process alone: `closeWriter` as soon as that has started. */
export type OutputPipe = { reader: Readable; writer: number; closeWriter(): void }

/**
 * What Node calls a pipe to a child is a pair of sockets, and a socket cannot be opened again by name: in a script,
 * `echo failed > /dev/stderr` would end with an error. So the output goes through a named pipe whose name is gone
 * before anything starts. null: this system has none.
 */
export async function createOutputPipe(): Promise<OutputPipe | null> {
  if (process.platform === 'win32') return null
  const folder = await temporaryFolder('output')
  try {
    const path = join(folder, 'pipe')
    await promisify(execFile)('mkfifo', ['-m', '600', path], { env: { PATH: '/usr/bin:/bin' } })
    // A socket object, since that is what the event loop can wait for; it owns the descriptor and closes it.
    const reader = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false })
    const writer = openSync(path, constants.O_WRONLY)
    return { reader, writer, closeWriter: () => closeSync(writer) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
