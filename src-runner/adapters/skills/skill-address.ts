import { readPortablePath } from '../../platform/archives/portable-path.ts'
import { createMessage } from '../../lib/messages.ts'
import { SKILL_FILE } from '../../domain/skills/skill-head.ts'
import { SkillRefused } from '../../domain/skills/skill-package.ts'
import type { Repository } from './git-repository.ts'

/**
 * What an https address leads to. `wrapped`: the archive that a host makes of a repository, with everything in one folder. `unknown`: an
 * archive, or else a repository. `folder`: the one that the address names.
 */
export type SkillAddress = { folder: string | null } & (
  | { kind: 'archive' | 'wrapped' | 'unknown'; url: URL }
  | { kind: 'repository'; repository: Repository }
)

const ARCHIVE = /\.(zip|tar|tgz|tar\.gz)$/i

/**
 * Repositories at GitHub and GitLab are read as the archives that these hosts make, others by Git's protocol. `…/name.git@ref` names a
 * branch, a tag or a commit. Throws SkillRefused or ArchiveRefused.
 */
export function readAddress(place: string): SkillAddress {
  const text = place.replace(/^git\+/, '')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') refuse()
  const parts = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodePart)
  if (text === place && ARCHIVE.test(url.pathname)) return { kind: 'archive', url, folder: null }
  if (['github.com', 'www.github.com'].includes(url.host)) return ofGitHub(parts)
  if (url.host === 'gitlab.com') return ofGitLab(parts)
  const named = text === place ? /^(.+?\.git)(?:\/|@(.+))?$/i.exec(url.pathname) : /^([^@]+)(?:@(.+))?$/.exec(url.pathname)
  if (named !== null) return repositoryAt(url, named[1]!, named[2] === undefined ? null : decodePart(named[2]))
  return ofForge(url, parts) ?? { kind: 'unknown', url, folder: null }
}

function refuse(): never {
  throw new SkillRefused(createMessage('skill_source_unknown'))
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return refuse()
  }
}

function repositoryAt({ origin }: URL, path: string, ref: string | null, folder: string[] = []): SkillAddress {
  return { kind: 'repository', repository: { url: new URL(`${origin}${path}`), ref }, folder: folderOf(folder) }
}

/** The addresses that the pages of other hosts have: Gitea and Forgejo, GitLab elsewhere, Bitbucket. null: it is none of them. */
function ofForge(url: URL, parts: string[]): SkillAddress | null {
  const dash = parts.indexOf('-')
  if (dash >= 2 && (parts[dash + 1] === 'tree' || parts[dash + 1] === 'blob') && parts[dash + 2] !== undefined)
    return repositoryAt(url, `${pathOf(parts.slice(0, dash))}.git`, parts[dash + 2]!, parts.slice(dash + 3))
  const [owner, name, src, ...rest] = parts
  if (owner === undefined || name === undefined || src !== 'src') return null
  const isGitea = rest[0] === 'branch' || rest[0] === 'tag' || rest[0] === 'commit'
  const [ref, ...folder] = isGitea ? rest.slice(1) : url.host === 'bitbucket.org' ? rest : []
  return ref === undefined ? null : repositoryAt(url, `${pathOf([owner, name])}.git`, ref, folder)
}

function ofGitHub([owner, repository, kind, ref, ...folder]: string[]): SkillAddress {
  const isTree = kind === 'tree' || kind === 'blob'
  if (owner === undefined || repository === undefined || (kind !== undefined && (!isTree || ref === undefined))) refuse()
  const name = repository.replace(/\.git$/i, '')
  return archiveAt('https://github.com', [owner, name, 'archive', `${ref ?? 'HEAD'}.zip`], folder)
}

/** The project may be in groups; `-` ends its path. */
function ofGitLab(parts: string[]): SkillAddress {
  const dash = parts.indexOf('-')
  const project = dash < 0 ? parts : parts.slice(0, dash)
  const [kind, ref, ...folder] = dash < 0 ? [] : parts.slice(dash + 1)
  if (project.length < 2 || (kind !== undefined && ((kind !== 'tree' && kind !== 'blob') || ref === undefined))) refuse()
  const path = [...project.slice(0, -1), project.at(-1)!.replace(/\.git$/i, '')]
  return archiveAt('https://gitlab.com', [...path, '-', 'archive', ref ?? 'HEAD', `${path.at(-1)!}.zip`], folder)
}

function archiveAt(origin: string, parts: string[], folder: string[]): SkillAddress {
  return { kind: 'wrapped', url: new URL(`${origin}${pathOf(parts)}`), folder: folderOf(folder) }
}

function pathOf(parts: string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/** The address of the file itself names its folder. */
function folderOf(parts: string[]): string | null {
  const inside = parts.at(-1)?.toLowerCase() === SKILL_FILE.toLowerCase() ? parts.slice(0, -1) : parts
  return inside.length === 0 ? null : readPortablePath(inside.join('/'))
}
