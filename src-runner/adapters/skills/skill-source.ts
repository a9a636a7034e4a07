import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { ArchiveRefused, refuseTooLarge, type PackedFile } from '../../platform/archives/archive-entries.ts'
import { readPortablePath, refuseTwins } from '../../platform/archives/portable-path.ts'
import { readTar } from '../../platform/archives/tar.ts'
import { readZip } from '../../platform/archives/zip.ts'
import type { GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import { isInside } from '../../platform/protected-places/places-by-path.ts'
import { SKILL_LIMITS, type SkillUpload } from '../../contract/skills.ts'
import { createMessage } from '../../lib/messages.ts'
import { isLeftOut, readSkillFolder } from '../../domain/skills/read-skill-folder.ts'
import { packSkill, SkillRefused, type SkillPackage } from '../../domain/skills/skill-package.ts'
import { SKILL_FILE } from '../../domain/skills/skill-head.ts'
import { fetchRepository, NoRepository, type Repository } from './git-repository.ts'
import { readAddress } from './skill-address.ts'

export type SourceDeps = {
  fetch: GuardedFetch
  /** Closed: Deckhand's own folder is no source. */
  dataDir: string
}

/** Where a skill is read from. */
export type Origin = { source: string } | { upload: SkillUpload }

/** `commit`: which one a repository's archive was made of, if it says so. */
export type FetchedSkill = { skill: SkillPackage; commit: string | null }

/** Files that were found, before one skill among them is chosen. */
type Found = { files: PackedFile[]; commit: string | null }

/**
 * Reads one skill from where its author or the person keeps it, into memory. Runs nothing, and writes nothing. Throws SkillRefused,
 * ArchiveRefused, GuardedFetchError or an error of the file system.
 */
export async function fetchSkill(origin: Origin, deps: SourceDeps, signal: AbortSignal): Promise<FetchedSkill> {
  const { files, commit } = await readFrom(origin, deps, signal, () => true)
  return { skill: packSkill(chooseSkill(files)), commit }
}

/**
 * The `SKILL.md` of every skill in the source, by path. Nothing else is read. `source` names the skill in a folder alone; null for an
 * upload. Throws like `fetchSkill`.
 */
export async function fetchHeads(
  origin: Origin,
  deps: SourceDeps,
  signal: AbortSignal,
): Promise<{ folder: string; source: string | null; file: PackedFile }[]> {
  const { files } = await readFrom(origin, deps, signal, isHead)
  return files
    .map((file) => ({ file, folder: file.path.slice(0, -SKILL_FILE.length - 1) }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1))
    .map(({ file, folder }) => ({ folder, file, source: 'source' in origin ? sourceIn(origin.source, folder) : null }))
}

function isHead(path: string): boolean {
  return path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`)
}

function sourceIn(source: string, folder: string): string {
  const { place, folder: above } = splitSource(source)
  const inside = [above ?? '', folder].filter((one) => one !== '').join('/')
  return inside === '' ? place : `${place}#${inside}`
}

function splitSource(source: string): { place: string; folder: string | null } {
  const [, place, fragment] = /^([^#]*)(?:#(.*))?$/s.exec(source.trim())!
  return { place: place!, folder: readFolder(fragment) }
}

function readFolder(text: string | undefined): string | null {
  const trimmed = text?.replace(/^\/+|\/+$/g, '') ?? ''
  return trimmed === '' ? null : readPortablePath(trimmed)
}

async function readFrom(origin: Origin, deps: SourceDeps, signal: AbortSignal, wants: Wants): Promise<Found> {
  if ('upload' in origin) {
    const { base64, folder } = origin.upload
    return unpack(Buffer.from(base64, 'base64'), pickIn(readFolder(folder), wants))
  }
  const { place, folder } = splitSource(origin.source)
  return isAbsolute(place) ? readLocal(place, folder, deps, wants) : download(place, folder, deps, signal, wants)
}

async function readLocal(place: string, folder: string | null, { dataDir }: SourceDeps, wants: Wants): Promise<Found> {
  const real = await realpath(place)
  if (isInside(await realpath(dataDir), real)) throw new SkillRefused(createMessage('skill_source_closed'))
  const seen = await stat(real)
  if (seen.isFile()) {
    if (seen.size > SKILL_LIMITS.packedBytes) refuseTooLarge(SKILL_LIMITS.packedBytes)
    return unpack(await readFile(real), pickIn(folder, wants))
  }
  if (!seen.isDirectory()) throw new SkillRefused(createMessage('skill_source_unknown'))
  const inside = folder === null ? real : `${real}/${folder}`
  if (folder !== null && (await realpath(inside)) !== inside) throw new SkillRefused(createMessage('skill_source_unknown'))
  // A folder of many skills may be large: only the one that is named is read.
  if (!(await lstat(inside)).isDirectory()) throw new SkillRefused(createMessage('skill_source_unknown'))
  return { files: await readSkillFolder(inside, { strict: false, wants }), commit: null }
}

async function download(place: string, fragment: string | null, deps: SourceDeps, signal: AbortSignal, wants: Wants): Promise<Found> {
  const address = readAddress(place)
  const { folder } = address
  const inside = folder === null || fragment === null ? (folder ?? fragment) : `${folder}/${fragment}`
  if (address.kind === 'repository') return clone(address.repository, inside, deps, signal, wants)
  const { url, kind } = address
  try {
    return await downloadArchive(url, pickIn(inside, wants, kind === 'wrapped' ? 'wrapped' : 'archive'), deps, signal)
  } catch (thrown) {
    // The page of a repository, or nothing at all where only Git looks.
    if (kind !== 'unknown' || !isAnswer(thrown)) throw thrown
    return clone({ url, ref: null }, inside, deps, signal, wants).catch((error: unknown) => {
      throw error instanceof NoRepository ? thrown : error
    })
  }
}

function isAnswer(thrown: unknown): boolean {
  return thrown instanceof SkillRefused && ['skill_source_status', 'skill_source_no_archive'].includes(thrown.detail.code)
}

async function clone(
  repository: Repository,
  folder: string | null,
  { fetch }: SourceDeps,
  signal: AbortSignal,
  wants: Wants,
): Promise<Found> {
  const found = await fetchRepository(repository, { fetch, signal, pick: pickIn(folder, wants, 'repository') })
  refuseTwins(found.files.map(({ path }) => path))
  return found
}

async function downloadArchive(url: URL, pick: Pick, { fetch }: SourceDeps, signal: AbortSignal): Promise<Found> {
  const { status, body, isCut } = await fetch(url, {
    signal,
    maxBytes: SKILL_LIMITS.packedBytes,
    follows: (to) => to.protocol === 'https:',
  })
  if (status !== 200) throw new SkillRefused(createMessage('skill_source_status', { host: url.host, status }))
  if (isCut) refuseTooLarge(SKILL_LIMITS.packedBytes)
  return unpack(body, pick)
}

type Pick = (path: string) => string | null
/** By the path inside the folder that is looked at. */
type Wants = (path: string) => boolean

/**
 * Leaves out what is outside the folder. `wrapped`: everything is in one folder. `archive`: it may be. `repository`: it is as it is.
 */
function pickIn(folder: string | null, wants: Wants, kind: 'archive' | 'wrapped' | 'repository' = 'archive'): Pick {
  return (path) => {
    if (isLeftOut(path)) return null
    const inRoot = path.includes('/') ? path.slice(path.indexOf('/') + 1) : null
    const places = { archive: [path, inRoot], wrapped: [inRoot], repository: [path] }[kind]
    const above = folder === null ? '' : `${folder}/`
    const place = folder === null ? places[0] : places.find((one) => one?.startsWith(above))
    if (place == null || !wants(place.slice(above.length))) return null
    return place.slice(above.length)
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
  const heads = files.map(({ path }) => path).filter(isHead)
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

const MISSING = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG']

/** The file system has no such file, or does not let us read it. */
export function isMissingFile(thrown: unknown): boolean {
  return MISSING.includes((thrown as NodeJS.ErrnoException | null)?.code ?? '')
}
