import { refuseTooLarge, type PackedFile, type PickEntry } from '../../platform/archives/archive-entries.ts'
import { readGitCommit } from '../../platform/archives/git-pack.ts'
import type { GuardedFetch, GuardedResponse } from '../../platform/net/guarded-fetch.ts'
import { SKILL_LIMITS } from '../../contract/skills.ts'
import { createMessage } from '../../lib/messages.ts'
import { SkillRefused } from '../../domain/skills/skill-package.ts'

/** The address leads to something else, or to nothing. */
export class NoRepository extends SkillRefused {}

const OID = /^[0-9a-f]{40}$/

/** `ref`: a branch, a tag or a commit; null: what the repository shows first. */
export type Repository = { url: URL; ref: string | null }

/**
 * Reads one commit of a Git repository over HTTPS, without its history, by Git's own protocol (https://git-scm.com/docs/http-protocol):
 * the list of refs, then one packfile. There is no git program, so no configuration, hook, filter or submodule can run.
 * Throws SkillRefused, ArchiveRefused or GuardedFetchError.
 */
export async function fetchRepository(
  { url, ref }: Repository,
  { fetch, signal, pick }: { fetch: GuardedFetch; signal: AbortSignal; pick: PickEntry },
): Promise<{ files: PackedFile[]; commit: string }> {
  const ask = async (address: URL, request: Parameters<GuardedFetch>[1], type: string): Promise<GuardedResponse> => {
    const limits = { signal, maxBytes: SKILL_LIMITS.packedBytes, follows: (to: URL) => to.protocol === 'https:' }
    const response = await fetch(address, { ...request, ...limits })
    if (response.status !== 200 || response.headers['content-type'] !== type) refuse('no_repository', url)
    if (response.isCut) refuseTooLarge(SKILL_LIMITS.packedBytes)
    return response
  }
  const listed = await ask(serviceOf(url, 'info/refs?service=git-upload-pack'), {}, 'application/x-git-upload-pack-advertisement')
  const { refs, abilities } = readRefs(listed.body, url)
  const commit = findCommit(refs, ref) ?? refuse('no_ref', url)
  if (!abilities.has('side-band-64k') || (abilities.get('object-format') ?? 'sha1') !== 'sha1') refuse('too_different', url)
  const packed = await ask(
    // Where the list came from, if the host sent us there.
    serviceOf(new URL(listed.url.href.replace(/\/info\/refs\?.*$/, '')), 'git-upload-pack'),
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-git-upload-pack-request' },
      body: [
        packetOf(`want ${commit} side-band-64k ofs-delta no-progress\n`),
        ...(abilities.has('shallow') ? [packetOf('deepen 1\n')] : []),
        '0000',
        packetOf('done\n'),
      ].join(''),
    },
    'application/x-git-upload-pack-result',
  )
  return { files: await readGitCommit(packIn(packed.body, url), commit, SKILL_LIMITS, pick), commit }
}

function refuse(why: 'no_repository' | 'no_ref' | 'too_different' | 'broken', url: URL): never {
  const detail = createMessage('skill_source_git', { why, host: url.host })
  throw why === 'no_repository' ? new NoRepository(detail) : new SkillRefused(detail)
}

function serviceOf(url: URL, service: string): URL {
  return new URL(`${url.origin}${url.pathname.replace(/\/+$/, '')}/${service}`)
}

/** `<oid> <name>` a line; the abilities stand behind a NUL in the first. */
function readRefs(body: Buffer, url: URL): { refs: Map<string, string>; abilities: Map<string, string> } {
  const refs = new Map<string, string>()
  let abilities: Map<string, string> | null = null
  for (const packet of packetsOf(body, url)) {
    if (packet === null) continue
    const line = packet.toString('utf8').replace(/\n$/, '')
    if (line.startsWith('#')) continue
    const [first, given] = line.split('\0') as [string, string?]
    if (first.startsWith('ERR ')) refuse('no_repository', url)
    abilities ??= new Map((given ?? '').split(' ').map((one): [string, string] => [one.split('=')[0]!, one.slice(one.indexOf('=') + 1)]))
    const [, oid, name] = /^([0-9a-f]{40}) (.+)$/.exec(first) ?? []
    if (oid !== undefined) refs.set(name!, oid)
  }
  return { refs, abilities: abilities ?? new Map() }
}

/** A tag that has a text of its own is followed by what it names (`^{}`). */
function findCommit(refs: ReadonlyMap<string, string>, ref: string | null): string | null {
  if (ref === null) return refs.get('HEAD') ?? null
  for (const name of [`refs/heads/${ref}`, `refs/tags/${ref}`, ref]) {
    const found = refs.get(`${name}^{}`) ?? refs.get(name)
    if (found !== undefined) return found
  }
  return OID.test(ref) ? ref : null
}

/** The first band is the pack, the second words for people, the third an error. */
function packIn(body: Buffer, url: URL): Buffer {
  const parts: Buffer[] = []
  for (const packet of packetsOf(body, url)) {
    if (packet === null || /^(NAK|ACK |shallow |unshallow )/.test(packet.toString('latin1', 0, 10))) continue
    if (packet[0] === 3 || packet.toString('latin1', 0, 4) === 'ERR ') refuse('broken', url)
    if (packet[0] === 1) parts.push(packet.subarray(1))
  }
  return Buffer.concat(parts)
}

function packetOf(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
}

/** Each begins with its length in four digits, which count. null: the end of a part. */
function* packetsOf(body: Buffer, url: URL): Generator<Buffer | null> {
  for (let at = 0; at < body.length;) {
    const digits = body.toString('latin1', at, at + 4)
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
    if (length < 0 || (length > 0 && length < 4) || at + Math.max(length, 4) > body.length) refuse('broken', url)
    yield length === 0 ? null : body.subarray(at + 4, at + length)
    at += Math.max(length, 4)
  }
}
