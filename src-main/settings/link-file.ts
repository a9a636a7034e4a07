import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/**
 * What the command line needs from a running Deckhand: the dashboard's address, and the key that signs links and commands. Whoever can read
 * this file can read the database beside it.
 */
const LinkFile = z.object({ url: z.url(), key: z.string().min(32) })
type LinkFile = z.infer<typeof LinkFile>

const fileOf = (dataDir: string) => join(dataDir, 'browser-link.json')

export function writeLinkFile(dataDir: string, content: LinkFile): void {
  // A new file, so that an old one's permissions do not stay.
  removeLinkFile(dataDir)
  writeFileSync(fileOf(dataDir), JSON.stringify(content), { mode: 0o600, flag: 'wx' })
}

export function removeLinkFile(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true })
}

/** null: Deckhand is not running on this data folder. */
export function readLinkFile(dataDir: string): LinkFile | null {
  try {
    return LinkFile.parse(JSON.parse(readFileSync(fileOf(dataDir), 'utf8')))
  } catch {
    return null
  }
}
