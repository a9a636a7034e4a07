import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'

/** A file as bytes in memory. Its path is checked: relative, with `/`, and writable on every system. */
export type PackedFile = { path: string; bytes: Buffer }

/** Limits of all entries together. `files` are those that are read; `entries` are those that are left out, too. */
export type ArchiveLimits = { packedBytes: number; bytes: number; files: number; entries: number }

/** null leaves the entry out without unpacking it. */
export type PickEntry = (path: string) => string | null

type Damage = 'cut' | 'headers' | 'checksum' | 'encrypted' | 'method' | 'type' | 'several_disks'

/** Nothing was written. The message is for people. */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused'
  readonly detail: Message

  constructor(detail: Message) {
    super(detail.code)
    this.detail = detail
  }
}

export function refuseDamaged(what: Damage): never {
  throw new ArchiveRefused(createMessage('archive_damaged', { what }))
}

export function refuseTooMany(files: number): never {
  throw new ArchiveRefused(createMessage('archive_too_many_files', { files }))
}

export function refuseTooLarge(bytes: number): never {
  throw new ArchiveRefused(createMessage('archive_too_large', { bytes }))
}

export function refuseLink(path: string): never {
  throw new ArchiveRefused(createMessage('archive_has_link', { path }))
}

/** Counts what was taken, and refuses what is beyond the limits. */
export function createBudget({ bytes, files, entries }: ArchiveLimits) {
  let [bytesLeft, filesLeft, entriesLeft] = [bytes, files, entries]
  return {
    countEntry(): void {
      if (--entriesLeft < 0) refuseTooMany(entries)
    },
    /** Before it is unpacked, by the size that it claims. */
    take(size: number): void {
      if (--filesLeft < 0) refuseTooMany(files)
      bytesLeft -= size
      if (bytesLeft < 0) refuseTooLarge(bytes)
    },
  }
}
