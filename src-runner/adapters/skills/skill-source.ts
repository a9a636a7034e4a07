import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { ArchiveRefused, refuseTooLarge, type PackedFile } from '../../platform/archives/archive-entries.ts'
import { readPortablePath, refuseTwins } from '../../platform/archives/portable-path.ts'
import { readTar } from '../../platform/archives/tar.ts'
import { readZip } from '../../platform/archives/zip.ts'
import type { GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import { isInside } from '../../platform/protected-places/protected-places.ts'
import { SKILL_LIMITS } from '../../contract/skills.ts'
import { createMessage } from '../../lib/messages.ts'
import { isLeftOut, readSkillFolder } from '../../domain/skills/read-skill-folder.ts'
import { packSkill, SkillRefused, type SkillPackage } from '../../domain/skills/skill-package.ts'
import { SKILL_FILE } from '../../domain/skills/skill-head.ts'

export type SourceDeps = {
  fetch: GuardedFetch
  /** Closed: Deckhand's own folder is no source. */
  dataDir: string
}

/** `commit`: which one a repository's archive was made of, if it says so. */
export type FetchedSkill = { skill: SkillPackage; commit: string | null }

/** Files that were found, before one skill among them is chosen. */
type Found = { files: PackedFile[]; commit: string | null }

/**
 * Reads one skill from where its author or the person keeps it, into memory. Runs nothing, and writes nothing. Throws SkillRefused,
 * ArchiveRefused, GuardedFetchError or an error of the file system.
 */
export async function fetchSkill(source: string, deps: SourceDeps, signal: AbortSignal): Promise<FetchedSkill> {
  const [, place, fragment] = /^([^#]*)(?:#(.*))?$/s.exec(source.trim())!
  const folder = fragment === undefined || fragment === '' ? null : readPortablePath(fragment.replace(/^\/+|\/+$/g, ''))
  const found = isAbsolute(place!) ? await readLocal(place!, folder, deps) : await download(place!, folder, deps, signal)
  const files = chooseSkill(found.files)
  return { skill: packSkill(files), commit: found.commit }
}

async function readLocal(place: string, folder: string | null, { dataDir }: SourceDeps): Promise<Found> {
  const real = await realpath(place)
  if (isInside(await realpath(dataDir), real)) throw new SkillRefused(createMessage('skill_source_closed'))
  const seen = await stat(real)
  if (seen.isFile()) {
    if (seen.size > SKILL_LIMITS.packedBytes) refuseTooLarge(SKILL_LIMITS.packedBytes)
    return unpack(await readFile(real), pickIn(folder))
  }
  if (!seen.isDirectory()) throw new SkillRefused(createMessage('skill_source_unknown'))
  const inside = folder === null ? real : `${real}/${folder}`
  if (folder !== null && (await realpath(inside)) !== inside) throw new SkillRefused(createMessage('skill_source_unknown'))
  // A folder of many skills may be large: only the one that is named is read.
  if (!(await lstat(inside)).isDirectory()) throw new SkillRefused(createMessage('skill_source_unknown'))
  return { files: await readSkillFolder(inside, { strict: false }), commit: null }
}

async function download(place: string, fragment: string | null, { fetch }: SourceDeps, signal: AbortSignal): Promise<Found> {
  const { url, folder, isRepository } = readAddress(place)
  const inside = folder ?? fragment
  const { status, body, isCut } = await fetch(url, {
    signal,
    maxBytes: SKILL_LIMITS.packedBytes,
    follows: (to) => to.protocol === 'https:',
  })
  if (status !== 200) throw new SkillRefused(createMessage('skill_source_status', { host: url.host, status }))
  if (isCut) refuseTooLarge(SKILL_LIMITS.packedBytes)
  return unpack(body, pickIn(inside, { isRepository }))
}

/**
 * The address of the archive. Repositories at GitHub and GitLab are read as the archives that these hosts make, so neither git nor
 * anything in the repository runs.
 */
function readAddress(place: string): { url: URL; folder: string | null; isRepository: boolean } {
  const text = place.replace(/^git\+/, '')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new SkillRefused(createMessage('skill_source_unknown'))
  const parts = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodePart)
  const isArchive = /\.(zip|tar|tgz|tar\.gz)$/i.test(url.pathname)
  if (isArchive || !['github.com', 'www.github.com', 'gitlab.com'].includes(url.host)) {
    if (/\.git$/i.test(url.pathname)) throw new SkillRefused(createMessage('skill_source_git'))
    return { url, folder: null, isRepository: false }
  }
  return url.host === 'gitlab.com' ? ofGitLab(parts) : ofGitHub(parts)
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new SkillRefused(createMessage('skill_source_unknown'))
  }
}

function ofGitHub([owner, repository, kind, ref, ...folder]: string[]) {
  const isTree = kind === 'tree' || kind === 'blob'
  if (owner === undefined || repository === undefined || (kind !== undefined && (!isTree || ref === undefined)))
    throw new SkillRefused(createMessage('skill_source_unknown'))
  const name = repository.replace(/\.git$/i, '')
  return { url: addressOf('https://github.com', [owner, name, 'archive', `${ref ?? 'HEAD'}.zip`]), ...placeIn(folder) }
}

/** The project may be in groups; `-` ends its path. */
function ofGitLab(parts: string[]) {
  const dash = parts.indexOf('-')
  const project = dash < 0 ? parts : parts.slice(0, dash)
  const [kind, ref, ...folder] = dash < 0 ? [] : parts.slice(dash + 1)
  if (project.length < 2 || (kind !== undefined && ((kind !== 'tree' && kind !== 'blob') || ref === undefined)))
    throw new SkillRefused(createMessage('skill_source_unknown'))
  const path = [...project.slice(0, -1), project.at(-1)!.replace(/\.git$/i, '')]
  const archive = ['-', 'archive', ref ?? 'HEAD', `${path.at(-1)!}.zip`]
  return { url: addressOf('https://gitlab.com', [...path, ...archive]), ...placeIn(folder) }
}

function addressOf(origin: string, parts: string[]): URL {
  return new URL(`${origin}/${parts.map((part) => encodeURIComponent(part)).join('/')}`)
}

/** The address of the file itself names its folder. */
function placeIn(folder: string[]): { folder: string | null; isRepository: true } {
  const inside = folder.at(-1)?.toLowerCase() === SKILL_FILE.toLowerCase() ? folder.slice(0, -1) : folder
  return { folder: inside.length === 0 ? null : readPortablePath(inside.join('/')), isRepository: true }
}

type Pick = (path: string) => string | null

/** Leaves out what is outside the folder. The archive of a repository has everything in one folder. */
function pickIn(folder: string | null, { isRepository = false } = {}): Pick {
  return (path) => {
    if (isLeftOut(path)) return null
    const inRoot = path.includes('/') ? path.slice(path.indexOf('/') + 1) : null
    const places = isRepository ? [inRoot] : [path, inRoot]
    if (folder === null) return places[0] ?? null
    const place = places.find((one) => one?.startsWith(`${folder}/`))
    return place == null ? null : place.slice(folder.length + 1)
  }
}

async function unpack(archive: Buffer, pick: Pick): Promise<Found> {
  const head = archive.subarray(0, 4).toString('hex')
  const isTar = head.startsWith('1f8b') || archive.toString('latin1', 257, 262) === 'ustar'
  if (!isTar && head !== '504b0304') throw new SkillRefused(createMessage('skill_source_no_archive'))
  const found = isTar ? { files: await readTar(archive, SKILL_LIMITS, pick), comment: '' } : await readZip(archive, SKILL_LIMITS, pick)
  refuseTwins(found.files.map(({ path }) => path))
  return { files: found.files, commit: /^[0-9a-f]{40}$/.test(found.comment) ? found.comment : null }
}

const MAX_NAMED = 30

/** The skill at the top, or the only one further down. */
function chooseSkill(files: PackedFile[]): PackedFile[] {
  const heads = files.filter(({ path }) => path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`)).map(({ path }) => path)
  if (heads.includes(SKILL_FILE)) return files
  if (heads.length === 0) throw new SkillRefused(createMessage('skill_file_missing'))
  const folders = heads.map((path) => path.slice(0, -SKILL_FILE.length)).sort()
  const [folder] = folders
  if (folders.length > 1) {
    const named = folders.slice(0, MAX_NAMED).map((one) => one.slice(0, -1))
    throw new SkillRefused(createMessage('skill_several', { count: folders.length, folders: named.join(', ') }))
  }
  return files.filter(({ path }) => path.startsWith(folder!)).map(({ path, bytes }) => ({ path: path.slice(folder!.length), bytes }))
}

/** Whether it is about the source, and not about this program. */
export function isRefusal(thrown: unknown): thrown is SkillRefused | ArchiveRefused {
  return thrown instanceof SkillRefused || thrown instanceof ArchiveRefused
}
