import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { getSkill } from '../../domain/skills/skills.ts'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import { skillText } from '../../testing/archive-builders.ts'
import { commitFiles, findGitServer, runGit, serveGit } from '../../testing/git-http-server.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { openSkillRig } from '../../testing/skill-rig.ts'
import { smallInternet } from '../../testing/small-internet.ts'
import { fetchSkill } from './skill-source.ts'

const program = findGitServer()
const BASE = 'https://git.example/ada/shells'

/** A host with Git's own server, and one repository. */
async function gitHost() {
  const place = await scratchFolder('git')
  const internet = await smallInternet()
  const asked: string[] = []
  const serve = serveGit(program!, place.path)
  await internet.secureSite('git.example', (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    // Addresses of pages.
    if (!/\/(info\/refs|git-upload-pack)/.test(request.url ?? '')) response.end('<html></html>')
    else serve(request, response)
  })
  const { path: dataDir } = await scratchFolder()
  const fetch = createGuardedFetch(internet.options)
  const read = async (source: string) => {
    const { skill, commit } = await fetchSkill({ source }, { fetch, dataDir }, AbortSignal.timeout(30_000))
    return { paths: skill.files.map(({ path }) => path), commit, digest: skill.digest }
  }
  return { place, internet, asked, fetch, read, repository: place.at('ada/shells.git') }
}

describe.skipIf(program === null)('a repository on a Git server', () => {
  it('is read whole or in part, at a branch, a tag or a commit, with the digest that its folder has', async () => {
    const { place, repository, read, asked, internet } = await gitHost()
    const similar = Array.from({ length: 400 }, (_, i) => `Shell ${i} is ${i * i} mm wide.`)
    const files = {
      'README.md': 'Shells.',
      'skills/sorter/SKILL.md': skillText('sorter'),
      ...Object.fromEntries([1, 2, 3].map((i) => [`skills/sorter/docs/${i}.md`, similar.with(i, 'Another.').join('\n')])),
      'skills/painter/SKILL.md': skillText('painter'),
    }
    const first = commitFiles(repository, files)
    runGit(repository, 'tag', '-a', 'v1', '-m', 'First')
    runGit(repository, 'branch', 'feature/sizes')
    const second = commitFiles(repository, { 'skills/sorter/more.md': 'x' })
    // Writes differences in place of whole files.
    runGit(repository, 'gc', '-q', '--aggressive')
    const whole = { paths: ['SKILL.md', 'docs/1.md', 'docs/2.md', 'docs/3.md'], commit: first }
    for (const source of [`${BASE}.git@v1`, `${BASE}.git@feature/sizes`, `${BASE}.git@${first}`, `git+${BASE}.git@v1`])
      expect(await read(`${source}#skills/sorter`), source).toMatchObject(whole)
    for (const source of [`${BASE}.git#skills/sorter`, `${BASE}#skills/sorter`, `${BASE}/src/branch/main/skills/sorter`, `${BASE}/-/blob/main/skills/sorter/SKILL.md`])
      expect(await read(source), source).toMatchObject({ paths: [...whole.paths, 'more.md'], commit: second }) // prettier-ignore
    await place.write('copy/SKILL.md', skillText('painter'))
    expect((await read(`${BASE}.git#skills/painter`)).digest).toBe((await read(place.at('copy'))).digest)
    await expect(read(`${BASE}.git`)).rejects.toMatchObject({ detail: { code: 'skill_several' } })
    expect(asked.filter((one) => one.startsWith('POST')).every((one) => one.endsWith('/git-upload-pack'))).toBe(true)
    expect(internet.escapes).toEqual([])
  })

  it('brings no submodule, no large file of LFS, no filter and no hook, and nobody else is asked', async () => {
    const { place, repository, read, internet } = await gitHost()
    const canary = place.at('canary')
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n'
    const commit = commitFiles(repository, {
      'SKILL.md': skillText('sorter'), 'large.bin': pointer, '.gitattributes': '* filter=evil text eol=crlf\n*.bin filter=lfs',
      '.gitmodules': '[submodule "evil"]\n\tpath = evil\n\turl = https://evil.example/x.git\n\tupdate = !touch canary',
    })
    runGit(repository, 'update-index', '--add', '--cacheinfo', `160000,${commit},evil`)
    runGit(repository, 'config', 'filter.evil.smudge', `touch ${canary}`)
    runGit(repository, 'commit', '-q', '-m', 'x')
    expect((await read(`${BASE}.git`)).paths).toEqual(['.gitattributes', '.gitmodules', 'SKILL.md', 'large.bin'])
    expect(new Set(internet.lookups)).toEqual(new Set(['git.example']))
    expect(existsSync(canary)).toBe(false)
  }) // prettier-ignore

  it('says what is missing', async () => {
    const { repository, read, internet } = await gitHost()
    commitFiles(repository, { 'SKILL.md': skillText('sorter') })
    const refused = async (source: string) => read(source).then(() => null, (error: { detail?: unknown }) => error.detail) // prettier-ignore
    expect(await refused('https://git.example/ada/none.git')).toMatchObject({ code: 'skill_source_git', params: { why: 'no_repository' } })
    expect(await refused('https://git.example/ada/none')).toMatchObject({ code: 'skill_source_no_archive' })
    expect(await refused(`${BASE}.git@none`)).toMatchObject({ code: 'skill_source_git', params: { why: 'no_ref' } })
    expect(await refused(`${BASE}.git@${'0'.repeat(40)}`)).toMatchObject({ code: 'skill_source_git' })
    expect(await refused(`${BASE}.git#none`)).toMatchObject({ code: 'skill_file_missing' })
    await internet.secureSite('sends.example', (_, response) => response.writeHead(302, { location: 'http://git.example/x' }).end())
    expect(await refused('https://sends.example/x.git')).toMatchObject({ code: 'skill_source_git' })
    internet.name('inside.example', ['10.0.0.7'])
    await expect(read('https://inside.example/x.git')).rejects.toMatchObject({ kind: 'closed_address' })
    expect(internet.escapes).toEqual([])
  })

  it('is updated from the version that was shown', async () => {
    const { repository, fetch } = await gitHost()
    const rig = openSkillRig(fetch)
    onTestFinished(() => rig.close())
    const { installer } = rig
    const first = commitFiles(repository, { 'SKILL.md': skillText('sorter') })
    const { id } = await installer.install({ source: `${BASE}.git` })
    const skill = () => getSkill(rig.db, id)
    expect(skill()).toMatchObject({ version: first.slice(0, 12), hasUpdate: false })
    commitFiles(repository, { 'scripts/sort.sh': '#!/bin/sh\n' })
    const shown = await installer.previewUpdate(skill)
    expect(shown).toMatchObject({ files: [{ path: 'scripts/sort.sh' }], permissionsAdded: ['scripts'] })
    expect(skill()).toMatchObject({ hasUpdate: true })
    commitFiles(repository, { 'scripts/sort.sh': '#!/bin/sh\nrm -rf ~\n' })
    const expectedDigest = shown.upstreamDigest
    await expect(installer.update(skill, { expectedDigest, allows: true })).rejects.toMatchObject({ code: 'update_failed' })
    runGit(repository, 'reset', '-q', '--hard', 'HEAD~1')
    expect(await installer.update(skill, { expectedDigest, allows: true })).toMatchObject({ changed: true, consentRevoked: false })
    expect(skill()).toMatchObject({ status: 'ready', digest: expectedDigest })
  })
})

type Packed = { kind: number; data: Buffer; size?: number; base?: Buffer }
const [COMMIT, TREE, BLOB, OFFSET, NAMED] = [1, 2, 3, 6, 7] as const

const nameOf = (kind: string, data: Buffer) => hash('sha1', Buffer.concat([Buffer.from(`${kind} ${data.length}\0`), data]), 'hex')
const blob = (text: string): Packed => ({ kind: BLOB, data: Buffer.from(text) })
const HEAD = blob(skillText('sorter'))
const treeOf = (...entries: [mode: string, name: string | Buffer, kind: string, data: Buffer][]): Packed => ({
  kind: TREE,
  data: Buffer.concat(entries.flatMap(([mode, name, kind, data]) => [Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(nameOf(kind, data), 'hex')])),
}) // prettier-ignore
const file = (name: string | Buffer, { data }: Packed = HEAD, mode = '100644') =>
  [mode, name, 'blob', data] as [string, string, string, Buffer]
const commitOf = (tree: Packed): Packed => ({ kind: COMMIT, data: Buffer.from(`tree ${nameOf('tree', tree.data)}\n\nx`) })

function packOf(objects: Packed[], claims: { count?: number; version?: number } = {}): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(claims.version ?? 2, 4)
  head.writeUInt32BE(claims.count ?? objects.length, 8)
  const parts = objects.flatMap(({ kind, data, size = data.length, base }) => {
    const first = [(kind << 4) | (size & 15)]
    for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
      first[first.length - 1]! |= 0x80
      first.push(rest % 128)
    }
    return [Buffer.from(first), base ?? Buffer.alloc(0), deflateSync(data, { level: 1 })]
  })
  const body = Buffer.concat([head, ...parts])
  return Buffer.concat([body, Buffer.from(hash('sha1', body, 'hex'), 'hex')])
}

/** A pack with this tree, whose commit is asked for. */
const repositoryOf = (tree: Packed, ...more: Packed[]) => ({ commit: commitOf(tree), pack: packOf([commitOf(tree), tree, HEAD, ...more]) })
const good = treeOf(file('SKILL.md'))
/** Ten levels of ten entries, each the level below: 10 billion files in 11 objects. */
const levels = Array.from({ length: 10 }).reduce<Packed[]>(
  ([below, ...rest]) => [treeOf(...Array.from({ length: 10 }, (_, i) => ['40000', `${i}`, 'tree', below!.data] as [string, string, string, Buffer])), below!, ...rest], [good]) // prettier-ignore
const zeros = Buffer.alloc(210_000_000)
const delta = (...bytes: number[]): Packed => ({
  kind: NAMED,
  base: Buffer.from(nameOf('blob', HEAD.data), 'hex'),
  data: Buffer.from(bytes),
})
const size = HEAD.data.length

const PACKS: Record<string, () => { commit: Packed; pack: Buffer }> = {
  'a name with a way out': () => repositoryOf(treeOf(file('..'), file('SKILL.md'))),
  'a slash in a name': () => repositoryOf(treeOf(file('../../escaped'), file('SKILL.md'))),
  'an absolute name': () => repositoryOf(treeOf(file('/tmp/escaped'), file('SKILL.md'))),
  'a name that is not UTF-8': () => repositoryOf(treeOf(file(Buffer.from([0x61, 0xff])), file('SKILL.md'))),
  'a device': () => repositoryOf(treeOf(file('SKILL.md'), file('aux.md'))),
  'twins by case': () => repositoryOf(treeOf(file('SKILL.md'), file('skill.md'))),
  'the same name twice': () => repositoryOf(treeOf(file('SKILL.md'), file('SKILL.md'))),
  'a link': () => repositoryOf(treeOf(file('SKILL.md'), file('out', HEAD, '120000'))),
  'an unknown mode': () => repositoryOf(treeOf(file('SKILL.md'), file('out', HEAD, '060000'))),
  '10 billion files in 11 objects': () => repositoryOf(levels[0]!, ...levels.slice(1)),
  'a file that is not there': () => repositoryOf(treeOf(file('SKILL.md'), file('a', blob('missing')))),
  'a file that is a folder': () => repositoryOf(treeOf(['100644', 'SKILL.md', 'tree', good.data]), good),
  'another commit than was asked for': () => ({ ...repositoryOf(good), commit: commitOf(treeOf()) }),
  'a commit without a tree': () => ({ commit: { kind: COMMIT, data: Buffer.from('x') }, pack: packOf([{ kind: COMMIT, data: Buffer.from('x') }]) }),
  'a tree that is cut off': () => repositoryOf({ kind: TREE, data: good.data.subarray(0, -3) }),
  'a wrong checksum': () => ({ ...repositoryOf(good), pack: Buffer.concat([repositoryOf(good).pack.subarray(0, -1), Buffer.from([0])]) }),
  'no pack': () => ({ ...repositoryOf(good), pack: Buffer.from('MZ and then something else, long enough') }),
  'another version': () => ({ commit: commitOf(good), pack: packOf([commitOf(good), good, HEAD], { version: 9 }) }),
  'fewer objects than it claims': () => ({ commit: commitOf(good), pack: packOf([commitOf(good), good, HEAD], { count: 4 }) }),
  'more objects than it claims': () => ({ commit: commitOf(good), pack: packOf([commitOf(good), good, HEAD], { count: 2 }) }),
  'a claim of four billion objects': () => ({ commit: commitOf(good), pack: packOf([commitOf(good)], { count: 0xffffffff }) }),
  'a claim of 5 GB': () => repositoryOf(good, { ...blob('x'), size: 5_000_000_000 }),
  'one byte that unpacks to 210 MB': () => repositoryOf(good, { kind: BLOB, data: zeros, size: 1 }),
  '210 MB': () => repositoryOf(good, { kind: BLOB, data: zeros }),
  'an unknown kind of object': () => repositoryOf(good, { kind: 5, data: Buffer.from('x') }),
  'a difference to what is not there': () => repositoryOf(good, { kind: NAMED, base: Buffer.alloc(20), data: Buffer.from([0, 0]) }),
  'a difference to a place before the pack': () => repositoryOf(good, { kind: OFFSET, base: Buffer.from([0xff, 0xff, 0x7f]), data: Buffer.from([0, 0]) }),
  'a difference to itself': () => repositoryOf(good, { kind: OFFSET, base: Buffer.from([0]), data: Buffer.from([0, 0]) }),
  'a difference that reads behind its base': () => repositoryOf(good, delta(size, 4, 0x91, size, 4)),
  'a difference that writes more than it says': () => repositoryOf(good, delta(size, 1, 2, 65, 65)),
  'a difference that writes less than it says': () => repositoryOf(good, delta(size, 5, 1, 65)),
  'a difference for another base': () => repositoryOf(good, delta(size + 1, 1, 1, 65)),
  'a difference that does nothing': () => repositoryOf(good, delta(size, 1, 0)),
  // Well formed, and some kilobytes in the pack.
  'a difference of 3 million commands': () => repositoryOf(good, { ...delta(), data: Buffer.concat([Buffer.from([size, 0xc0, 0x8d, 0xb7, 0x01]), Buffer.alloc(6_000_000, Buffer.from([0x90, 1]))]) }),
  'a difference that claims 5 GB': () => repositoryOf(good, delta(size, 0x80, 0xe4, 0x97, 0xd0, 0x12, 1, 65)),
} // prettier-ignore

describe('a hostile Git server', () => {
  const packet = (data: string | Buffer) => Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0')), Buffer.from(data)])
  const flush = Buffer.from('0000')

  async function serving(given: { list?: Buffer; answer?: Buffer; commit?: string }) {
    const internet = await smallInternet()
    const commit = given.commit ?? '1'.repeat(40)
    const list = given.list ?? Buffer.concat([packet('# service=git-upload-pack\n'), flush, packet(`${commit} HEAD\0side-band-64k shallow\n`), flush]) // prettier-ignore
    await internet.secureSite('git.example', (request, response) => {
      const kind = request.method === 'GET' ? 'advertisement' : 'result'
      response.setHeader('content-type', `application/x-git-upload-pack-${kind}`)
      request.resume().on('end', () => response.end(kind === 'advertisement' ? list : given.answer))
    })
    const { path: dataDir } = await scratchFolder()
    const deps = { fetch: createGuardedFetch(internet.options), dataDir }
    return () => fetchSkill({ source: `${BASE}.git` }, deps, AbortSignal.timeout(30_000))
  }
  const bands = (pack: Buffer) => {
    const parts: Buffer[] = [packet('NAK\n')]
    for (let at = 0; at < pack.length; at += 60_000) parts.push(packet(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + 60_000)])))
    return Buffer.concat([...parts, flush])
  }

  it.each(Object.entries(PACKS))('gives nothing with %s', async (_, build) => {
    const { commit, pack } = build()
    const read = await serving({ commit: nameOf('commit', commit.data), answer: bands(pack) })
    await expect(read()).rejects.toMatchObject({ detail: { code: expect.stringMatching(/^archive_/) as string } })
  })

  it('is what makes the difference: the same packs without their trick are read', async () => {
    for (const more of [[], [delta(size, 1, 1, 65)]]) {
      const { commit, pack } = repositoryOf(good, ...more)
      const read = await serving({ commit: nameOf('commit', commit.data), answer: bands(pack) })
      expect((await read()).skill.files.map(({ path }) => path)).toEqual(['SKILL.md'])
    }
    // A difference before its base.
    const { data } = treeOf(file('SKILL.md'))
    const late = packOf([delta(size, size, 0x90, size), commitOf({ kind: TREE, data }), { kind: TREE, data }, HEAD])
    const read = await serving({ commit: nameOf('commit', commitOf({ kind: TREE, data }).data), answer: bands(late) })
    expect((await read()).skill.files).toHaveLength(1)
  })

  it.each<[string, { list?: Buffer; answer?: Buffer }, string]>([
    ['an error', { answer: packet(Buffer.from('\u0003go away')) }, 'broken'],
    ['an error before the pack', { answer: packet('ERR upload-pack: not our ref') }, 'broken'],
    ['a length that is no number', { answer: Buffer.from('zzzzNAK\n') }, 'broken'],
    ['a length that is too short', { answer: Buffer.from('0003') }, 'broken'],
    ['a length behind the end', { answer: Buffer.from('ffffNAK\n') }, 'broken'],
    ['no refs', { list: Buffer.concat([packet('# service=git-upload-pack\n'), flush, flush]) }, 'no_ref'],
    ['an oid that is none', { list: packet(`${'x'.repeat(40)} HEAD\0side-band-64k\n`) }, 'no_ref'],
    ['SHA-256', { list: packet(`${'1'.repeat(40)} HEAD\0side-band-64k object-format=sha256\n`) }, 'too_different'],
  ])('gives nothing with %s', async (_, given, why) => {
    await expect((await serving(given))()).rejects.toMatchObject({ detail: { code: 'skill_source_git', params: { why } } })
  })
})
