import { readdir, readlink, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

type Link = { link: string; target: string }

/** People link start-up files and keys in these to another folder. */
const LINKING_FOLDERS = ['', '.config', '.cargo', '.local/bin', '.local/share', '.m2', 'bin']
/** A search needs them for every file. */
const LINKS_CACHED_MS = 1_000
let knownLinks: { home: string; at: number; links: Promise<Link[]> } | null = null

export function linksOfHome(): Promise<Link[]> {
  const [home, at] = [homedir(), performance.now()]
  if (knownLinks?.home !== home || at - knownLinks.at > LINKS_CACHED_MS) {
    const links = Promise.all(LINKING_FOLDERS.map((folder) => linksIn(join(home, folder)))).then((found) => found.flat())
    knownLinks = { home, at, links }
  }
  return knownLinks.links
}

/** Also dangling links. */
export async function linksIn(folder: string): Promise<Link[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name))
  const targetOf = (link: string) => realpath(link).catch(async () => resolve(dirname(link), await readlink(link).catch(() => '.')))
  return Promise.all(links.map(async (link) => ({ link, target: await targetOf(link) })))
}
