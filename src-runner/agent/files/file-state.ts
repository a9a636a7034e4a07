import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import type { FileSpot } from './file-spot.ts'
import { readHead, sniff, SNIFF_BYTES } from './text-of-file.ts'

/** Larger files are neither kept nor compared by content. */
export const KEPT_BYTES = 50 * 1024 * 1024

/** `mark` identifies the content: `sha256:…`, or for a file too large to read, `large:` with its size and mtime. */
export type FileState = { mark: string; size: number; mode: number }
/** `bytes` null: too large to be kept. */
export type FoundFile = { stats: BigIntStats; state: FileState; bytes: Buffer | null; binary: boolean }

/** null: nothing is there. Throws PathRefused if it is not a plain file. */
export async function findFile(spot: FileSpot): Promise<FoundFile | null> {
  const opened = await spot.open()
  if (opened === null) return null
  try {
    const { handle, stats } = opened
    if (stats.size > KEPT_BYTES) return { stats, state: stateOfLarge(stats), bytes: null, binary: isBinary(await readHead(handle)) }
    const bytes = await handle.readFile()
    return { stats, state: stateOf(bytes, modeOf(stats)), bytes, binary: isBinary(bytes) }
  } finally {
    await opened.handle.close()
  }
}

export function stateOf(bytes: Uint8Array, mode: number): FileState {
  return { mark: markOf(bytes), size: bytes.length, mode }
}

export function markOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function isBinary(bytes: Buffer): boolean {
  return 'binary' in sniff(bytes.subarray(0, SNIFF_BYTES))
}

function stateOfLarge(stats: BigIntStats): FileState {
  return { mark: `large:${stats.size}:${stats.mtimeNs}`, size: Number(stats.size), mode: modeOf(stats) }
}

function modeOf(stats: BigIntStats): number {
  return Number(stats.mode & 0o7777n)
}
