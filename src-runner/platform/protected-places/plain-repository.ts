import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readSmallFile } from './small-file.ts'

const MAX_CONFIG_BYTES = 64 * 1024
const NAME = String.raw`[\w./ @+-]*`
const VALUE = String.raw`[\w./:@~+*?=&%-]+`

/** What `git init`, `git clone` and `git config user.name` write. Any other setting may start a program. */
const SECTIONS: [header: RegExp, line: RegExp][] = [
  [/^\[core\]$/i, /^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks) = (true|false|\d)$/i],
  [/^\[extensions\]$/i, /^(objectformat|refstorage) = \w+$/i],
  [/^\[user\]$/i, new RegExp(`^(name|email) = [\\p{L}\\p{N} ._@+-]+$`, 'iu')],
  [/^\[init\]$/i, new RegExp(`^defaultbranch = ${VALUE}$`, 'i')],
  [new RegExp(`^\\[(remote|submodule) "${NAME}"\\]$`, 'i'), new RegExp(`^(url|fetch|active|branch) = (?!-)(?!.*::)${VALUE}$`, 'i')],
  [new RegExp(`^\\[branch "${NAME}"\\]$`, 'i'), /^(remote|merge|rebase) = [\w./-]+$/i],
]

/** Whether git would run nothing from this repository. */
export async function isPlainRepository(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => null)
  if (names === null || names.some((name) => ['config.worktree', 'commondir', 'gitdir'].includes(name.toLowerCase()))) return false
  return (await hasPlainConfig(join(folder, 'config'))) && (await hasPlainHooks(join(folder, 'hooks')))
}

/** Stricter than git's own parser. */
export async function hasPlainConfig(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null)
  if (stats === null) return true
  if (!stats.isFile() || stats.size > MAX_CONFIG_BYTES) return false
  const text = await readSmallFile(path, MAX_CONFIG_BYTES)
  if (text === '' && stats.size > 0) return false
  let section: RegExp | undefined
  for (const line of text.split('\n').map((one) => one.replace(/^[ \t]+/, ''))) {
    if (line === '') continue
    const next = SECTIONS.find(([header]) => header.test(line))
    if (next !== undefined) section = next[1]
    else if (section?.test(line) !== true) return false
  }
  return true
}

/** Only git's samples, which it never runs. */
export async function hasPlainHooks(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null)
  if (stats === null) return true
  if (!stats.isDirectory()) return false
  const entries = await readdir(path, { withFileTypes: true }).catch(() => null)
  return entries?.every((entry) => entry.isFile() && entry.name.endsWith('.sample')) ?? false
}
