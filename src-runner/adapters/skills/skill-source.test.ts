import { createServer } from 'node:https'
import { describe, expect, it } from 'vitest'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import { buildTar, buildZip, paxRecord, skillText } from '../../testing/archive-builders.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { selfSigned } from '../../testing/self-signed.ts'
import { smallInternet } from '../../testing/small-internet.ts'
import { fetchSkill } from './skill-source.ts'

const COMMIT = 'a'.repeat(40)

/** A host that serves these archives, by path. */
async function host(name: string, archives: Record<string, Buffer | { redirect: string }>) {
  const internet = await smallInternet()
  const { key, cert } = selfSigned(name)
  const asked: string[] = []
  const server = createServer({ key, cert }, ({ url = '' }, response) => {
    asked.push(url)
    const found = archives[url]
    if (found === undefined) response.writeHead(404).end()
    else if ('redirect' in found) response.writeHead(302, { location: found.redirect }).end()
    else response.end(found)
  })
  await internet.place(name, server)
  const { path: dataDir } = await scratchFolder()
  const deps = { fetch: createGuardedFetch({ ...internet.options, ca: cert }), dataDir }
  const read = async (source: string) => {
    const { skill, commit } = await fetchSkill({ source }, deps, AbortSignal.timeout(30_000))
    return { paths: skill.files.map(({ path }) => path), digest: skill.digest, commit }
  }
  return { read, asked, internet }
}

const repository = buildZip(
  [
    { name: 'shells-main/', mode: 0o040755 },
    { name: 'shells-main/README.md', data: 'Shells.' },
    { name: 'shells-main/.gitmodules', data: '[submodule "x"]' },
    { name: 'shells-main/link', data: '/etc', mode: 0o120777 },
    { name: 'shells-main/skills/sorter/SKILL.md', data: skillText('sorter') },
    { name: 'shells-main/skills/sorter/docs/a.md', data: 'a' },
    { name: 'shells-main/skills/painter/SKILL.md', data: skillText('painter') },
  ],
  { comment: COMMIT },
)

describe('a repository at GitHub', () => {
  it('is read as an archive: one folder at one ref, without what is outside of it', async () => {
    const { read, asked } = await host('github.com', {
      '/ada/shells/archive/HEAD.zip': repository,
      '/ada/shells/archive/v2.zip': repository,
    })
    const whole = { paths: ['SKILL.md', 'docs/a.md'], commit: COMMIT }
    expect(await read('https://github.com/ada/shells#skills/sorter')).toMatchObject(whole)
    expect(await read('https://github.com/ada/shells.git#skills/sorter')).toMatchObject(whole)
    expect(await read('https://github.com/ada/shells/tree/v2/skills/sorter')).toMatchObject(whole)
    expect(await read('https://github.com/ada/shells/blob/v2/skills/sorter/SKILL.md')).toMatchObject(whole)
    expect(asked).toEqual(['HEAD', 'HEAD', 'v2', 'v2'].map((ref) => `/ada/shells/archive/${ref}.zip`))
  })

  it.each([
    'https://github.com/ada',
    'https://github.com/ada/shells/issues',
    'https://github.com/ada/shells/tree',
    'https://github.com/ada/shells/tree/v2/a%2f..%2f..%2fx',
    'https://github.com/%zz/x',
  ])('refuses %s without a request', async (source) => {
    const { read, asked } = await host('github.com', {})
    await expect(read(source)).rejects.toMatchObject({
      detail: { code: expect.stringMatching(/^(skill_source_unknown|archive_bad_name)$/) as string },
    })
    expect(asked).toEqual([])
  })
})

it('reads a project in groups at GitLab', async () => {
  const { read } = await host('gitlab.com', { '/ada/sea/shells/-/archive/v2/shells.zip': repository })
  expect(await read('https://gitlab.com/ada/sea/shells/-/tree/v2/skills/sorter')).toMatchObject({ paths: ['SKILL.md', 'docs/a.md'] })
})

describe('an archive at an address', () => {
  const files = [{ name: 'SKILL.md', data: skillText('sorter') }, { name: 'docs/a.md', data: 'a' }] // prettier-ignore

  it('has the same digest however it is packed', async () => {
    const long = `docs/${'long-'.repeat(25)}name.md`
    const more = { name: long, data: 'x' }
    const { read } = await host('shells.example', {
      '/a.zip': buildZip([...files, more]),
      '/b.zip': buildZip([more, ...files].map((file) => ({ ...file, name: `sorter/${file.name}`, stored: true, mode: 0o100755 }))),
      '/c.tar.gz': buildTar([
        { name: 'pax_global_header', type: 'g', data: paxRecord('comment', COMMIT) },
        { name: './', type: '5' },
        ...files.map((file) => ({ ...file, name: `./${file.name}` })),
        { name: 'pax', type: 'x', data: paxRecord('path', long) },
        { ...more, name: 'cut' },
      ]),
    })
    const [first, ...others] = await Promise.all(['a.zip', 'b.zip', 'c.tar.gz'].map((name) => read(`https://shells.example/${name}`)))
    expect(first!.paths).toEqual(['SKILL.md', 'docs/a.md', long])
    for (const other of others) expect(other.digest).toBe(first!.digest)
  })

  it('is not fetched from this machine or its network, nor without encryption', async () => {
    const { read, internet } = await host('shells.example', {
      '/inside.zip': { redirect: 'https://127.0.0.1/skill.zip' },
      '/plain.zip': { redirect: 'http://shells.example/skill.zip' },
    })
    internet.name('inside.example', ['10.0.0.7'])
    for (const source of [
      'https://127.0.0.1/a.zip',
      'https://169.254.169.254/a.zip',
      'https://inside.example/a.zip',
      'https://shells.example/inside.zip',
    ])
      await expect(read(source)).rejects.toMatchObject({ kind: 'closed_address' })
    await expect(read('https://shells.example/plain.zip')).rejects.toMatchObject({ detail: { code: 'skill_source_status' } })
    for (const source of [
      'http://shells.example/a.zip',
      'ftp://shells.example/a.zip',
      'https://ada:secret@shells.example/a.zip',
      'file:///etc',
      'shells',
    ])
      await expect(read(source)).rejects.toMatchObject({ detail: { code: 'skill_source_unknown' } })
    expect(internet.escapes).toEqual([])
  })

  it('may not be larger than 20 MB, nor something else', async () => {
    const { read } = await host('shells.example', {
      '/large.zip': Buffer.concat([buildZip(files), Buffer.alloc(20_000_001)]),
      '/page.zip': Buffer.from('<html></html>'),
    })
    await expect(read('https://shells.example/large.zip')).rejects.toMatchObject({ detail: { code: 'archive_too_large' } })
    await expect(read('https://shells.example/page.zip')).rejects.toMatchObject({ detail: { code: 'skill_source_no_archive' } })
    await expect(read('https://shells.example/gone.zip')).rejects.toMatchObject({ detail: { code: 'skill_source_status' } })
  })
})
