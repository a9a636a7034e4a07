import { randomBytes } from 'node:crypto'
import { lstat, readdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { foldName } from './path-patterns.ts'
import { digestOfFile, findProtected, identityOf, type FoundPlace, type FoundPlaces } from './find-protected.ts'
import { runsNothingNew } from './pending-rebase.ts'
import { isInside } from './places-by-path.ts'
import { withPlainFolder } from './plain-folder.ts'
import { hasPlainConfig, hasPlainHooks, isPlainRepository } from './plain-repository.ts'

/** What appeared in a protected place, and its new, harmless name; null: it could not be renamed. */
export type SetAside = { path: string; to: string | null }

/**
 * Renames what has appeared since `before` and would run by itself. It is not deleted: it may have been moved there, or the
 * person may have made it. A new repository that runs nothing stays. `until`: later changes are ignored. `hasRun`: false if no
 * program of ours can have made it; then it stays, noted in `others`, until something in it changes. `sparesRebase`: git may be
 * working on one inside.
 */
export async function setAsideWhatAppeared(
  before: FoundPlaces,
  {
    until = Infinity,
    hasRun = () => true,
    others = new Map(),
    sparesRebase = false,
  }: { until?: number; hasRun?: () => boolean; others?: Map<string, string>; sparesRebase?: boolean } = {},
): Promise<SetAside[]> {
  const { places } = await findProtected(before.folder, Infinity, before)
  const done: SetAside[] = []
  const settled = new Set<string>()
  const isOthers = await noteOthers(
    [...places.values()].filter(({ path, is, identity }) => is !== 'secret' && before.places.get(path)?.identity !== identity),
    { hasRun, others },
  )
  for (const place of places.values()) {
    if (place.is === 'secret' || before.places.get(place.path)?.identity === place.identity || isOthers(place)) continue
    if (place.is === 'rebase' && (sparesRebase || runsNothingNew(place, before.places.get(place.path)))) continue
    if (until !== Infinity && (await changedAt(place.path)) > until) continue
    if (place.is === 'part of a repository' && settled.has(dirname(place.path))) continue
    if (place.is === 'unreadable') {
      done.push({ path: place.path, to: null })
      continue
    }
    if (place.is === 'repository') settled.add(place.path)
    // Whatever was in a renamed repository is harmless too.
    if ((await isHarmless(place)) || done.some(({ path }) => isInside(path, place.path))) continue
    done.push(await setAside(place))
  }
  for (const place of await sharedThatChanged(before, until))
    if (!done.some(({ path }) => isInside(path, place.path))) done.push(await setAside(place))
  return done
}

const MAX_MARKED = 2_000

/** Returns whether a place was made by somebody else. */
async function noteOthers(
  appeared: readonly FoundPlace[],
  { hasRun, others }: { hasRun: () => boolean; others: Map<string, string> },
): Promise<(place: FoundPlace) => boolean> {
  const marks = new Map<string, string>()
  for (const place of appeared) {
    const mark = await markOf(place)
    if (mark !== null) marks.set(place.path, mark)
  }
  // Only now: it must not have run while the marks were read either.
  if (marks.size > 0 && !hasRun()) for (const [path, mark] of marks) others.set(path, mark)
  return ({ path }) => marks.has(path) && others.get(path) === marks.get(path)
}

/**
 * Changes with everything in it, since programs cannot set the ctime. A repository is marked by its parts, which are places of their own.
 * null: there is too much in it, or a link, whose target a program may change.
 */
async function markOf({ path, is, identity }: FoundPlace): Promise<string | null> {
  if (is === 'repository' || is === 'unreadable') return identity
  const paths = [path]
  let mark = ''
  for (const one of paths) {
    const stats = await lstat(one, { bigint: true }).catch(() => null)
    const isPlain = stats?.isFile() === true || stats?.isDirectory() === true
    if (!isPlain) return null
    mark += `${one} ${identityOf(stats)} ${stats.ctimeNs} ${stats.size}\n`
    const names = stats.isDirectory() ? await readdir(one).catch((): string[] => []) : []
    if (paths.length + names.length > MAX_MARKED) return null
    paths.push(...names.map((name) => join(one, name)))
  }
  return mark
}

/** Nobody can take back what was written under another name, so these are treated as new. */
async function sharedThatChanged({ shared, places }: FoundPlaces, until: number): Promise<FoundPlace[]> {
  const changed: FoundPlace[] = []
  for (const [path, digest] of Object.entries(shared)) {
    const stats = await lstat(path, { bigint: true }).catch(() => null)
    if (!stats?.isFile() || (await digestOfFile(path)) === digest || (await changedAt(path)) > until) continue
    const place: FoundPlace = { path, is: places.get(path)?.is ?? 'code', kind: 'file', identity: identityOf(stats) }
    if (!(await isHarmless(place))) changed.push(place)
  }
  return changed
}

/** Programs cannot set the ctime. */
async function changedAt(path: string): Promise<number> {
  return lstat(path).then(({ ctimeMs }) => ctimeMs, () => 0) // prettier-ignore
}

async function isHarmless({ path, is }: FoundPlace): Promise<boolean> {
  if (is === 'repository') return isPlainRepository(path)
  if (is !== 'part of a repository') return false
  if (basename(path) === 'config') return hasPlainConfig(path)
  return basename(path) === 'hooks' && hasPlainHooks(path)
}

async function setAside({ path, is, identity }: FoundPlace): Promise<SetAside> {
  const mark = `set-aside-${randomBytes(4).toString('hex')}`
  const to = `${basename(path).replace(/^\.+/, '')}.${mark}`
  try {
    // Without HEAD it is no repository, whatever its name.
    const withoutHead = is === 'repository' ? renameIn(path, 'HEAD', `HEAD.${mark}`, null) : Promise.resolve()
    if (is === 'repository' && foldName(basename(path)) !== '.git') {
      await withoutHead
      return { path: join(path, 'HEAD'), to: join(path, `HEAD.${mark}`) }
    }
    await withoutHead.catch(() => {})
    await renameIn(dirname(path), basename(path), to, identity)
    return { path, to: join(dirname(path), to) }
  } catch {
    return { path, to: null }
  }
}

/** `identity`: of what must be there; null: anything. */
function renameIn(folder: string, from: string, to: string, identity: string | null): Promise<void> {
  return withPlainFolder(folder, async (path) => {
    const found = identityOf(await lstat(join(path, from), { bigint: true }))
    if (identity !== null && !identity.startsWith(found)) throw new Error(`${from} was replaced`)
    await rename(join(path, from), join(path, to))
  })
}
