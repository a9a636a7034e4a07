import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { temporaryFolder } from './leftovers.ts'

/** `writer` is for the child process: call `closeWriter` once it has started. */
export type OutputPipe = { reader: Readable; writer: number; closeWriter(): void }

/**
 * Node's "pipe" to a child is a socket, which cannot be opened by name: `echo failed > /dev/stderr` would fail in a script.
 * This is a named pipe whose name is removed before the command starts. null: not on Windows.
 */
export async function createOutputPipe(): Promise<OutputPipe | null> {
  if (process.platform === 'win32') return null
  const folder = await temporaryFolder('output')
  try {
    const path = join(folder, 'pipe')
    await promisify(execFile)('mkfifo', ['-m', '600', path], { env: { PATH: '/usr/bin:/bin' } })
    // The event loop can wait for a socket object. It owns and closes the descriptor.
    const reader = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false })
    const writer = openSync(path, constants.O_WRONLY)
    return { reader, writer, closeWriter: () => closeSync(writer) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
