import { execFileSync } from 'node:child_process'
import { linkSync, lstatSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listSkills } from '../../domain/skills/skills.ts'
import { buildTar, buildZip, paxRecord, skillText, type TarEntry, type ZipEntry } from '../../testing/archive-builders.ts'
import { scratchFolder, type ScratchFolder } from '../../testing/scratch-folder.ts'
import { openSkillRig, type SkillRig } from '../../testing/skill-rig.ts'

const HEAD = { name: 'SKILL.md', data: skillText('shell-sorter') }
const zip = (...more: ZipEntry[]) => buildZip([HEAD, ...more])
const tar = (...more: TarEntry[]) => buildTar([HEAD, ...more])
const named = (name: string | Buffer) => zip({ name, data: 'x' })
const bomb = Buffer.alloc(120_000_000)
/** Processor time, in seconds, which a busy machine does not change. */
const MAX_SECONDS = 10

const front = (text: string) => buildZip([{ name: 'SKILL.md', data: text }])

/** Each is refused, whatever it tries. */
const ARCHIVES: Record<string, () => Buffer> = {
  'zip: ..': () => named('../escaped'),
  'zip: .. further in': () => named('a/../../escaped'),
  'zip: an absolute path': () => named('/tmp/escaped'),
  'zip: a drive': () => named('C:\\escaped'),
  'zip: a drive with slashes': () => named('C:/escaped'),
  'zip: a device path': () => named('\\\\?\\C:\\escaped'),
  'zip: a share': () => named('//server/share/escaped'),
  'zip: backslashes': () => named('..\\..\\escaped'),
  'zip: a stream of NTFS': () => named('a.txt:hidden'),
  'zip: NUL in a name': () => named('a\0b'),
  'zip: a line break in a name': () => named('a\nb'),
  'zip: an escape sequence in a name': () => named('\u001b[2Jcleared'),
  'zip: a direction mark in a name': () => named('a\u202ecod.exe'),
  'zip: a zero-width space in a name': () => named('SKILL\u200b.md'),
  'zip: a name that is not UTF-8': () => named(Buffer.from([0x61, 0xff, 0xfe])),
  'zip: an empty name': () => named(''),
  'zip: an empty folder name': () => named('a//b'),
  'zip: a dot': () => named('./a'),
  'zip: a name with 300 characters': () => named('a'.repeat(300)),
  'zip: 60 folders deep': () => named(`${'a/'.repeat(60)}b`),
  'zip: a trailing dot': () => named('a./b'),
  'zip: a trailing space': () => named('a /b'),
  'zip: CON': () => named('con'),
  'zip: AUX with an extension': () => named('scripts/aux.txt'),
  'zip: COM with a superscript digit': () => named('com¹.md'),
  'zip: the short name of .git': () => named('git~1/hooks/post-checkout'),
  'zip: a twin by case': () => named('skill.md'),
  'zip: twin folders by case': () => zip({ name: 'Docs/a', data: '' }, { name: 'docs/b', data: '' }),
  'zip: a twin by Unicode form': () => zip({ name: 'caf\u00e9', data: '1' }, { name: 'cafe\u0301', data: '2' }),
  'zip: a twin by a ligature': () => zip({ name: 'ﬁle', data: '1' }, { name: 'file', data: '2' }),
  'zip: a twin by the Kelvin sign': () => zip({ name: '\u212a', data: '1' }, { name: 'k', data: '2' }),
  'zip: the same name twice': () => named('SKILL.md'),
  'zip: a file and a folder of one name': () => zip({ name: 'a', data: '' }, { name: 'a/b', data: '' }),
  'zip: a link': () => zip({ name: 'out', data: '/etc', mode: 0o120777 }),
  'zip: a device': () => zip({ name: 'null', data: '', mode: 0o020666 }),
  'zip: a pipe': () => zip({ name: 'pipe', data: '', mode: 0o010666 }),
  'zip: another name in the local header': () => zip({ name: '../escaped', data: 'x', claims: { name: 'inside-01' } }),
  'zip: another size in the local header': () => zip({ name: 'a', data: 'x'.repeat(500), claims: { size: 1 } }),
  'zip: a wrong checksum': () => {
    const archive = buildZip([{ ...HEAD, stored: true }])
    archive[60] = archive[60]! ^ 1
    return archive
  },
  'zip: encrypted': () => zip({ name: 'a', data: 'x', claims: { flags: 1 } }),
  'zip: an unknown method': () => zip({ name: 'a', data: 'x', claims: { method: 14 } }),
  'zip: entries that share their bytes': () => zip({ name: 'a', data: 'x' }, { name: 'SKILL.md', data: skillText('shell-sorter'), claims: { offset: 0 } }),
  'zip: an offset outside': () => zip({ name: 'a', data: 'x', claims: { offset: 0x7fffffff } }),
  'zip: 120 MB in one file': () => zip({ name: 'bomb', data: bomb }),
  'zip: claims one byte and unpacks to 120 MB': () => zip({ name: 'bomb', data: bomb, claims: { size: 1 }, lies: true }),
  'zip: 30 files of 4 MB': () => zip(...Array.from({ length: 30 }, (_, i) => ({ name: `${i}`, data: bomb.subarray(0, 4_000_000) }))),
  'zip: 2,001 files': () => zip(...Array.from({ length: 2_000 }, (_, i) => ({ name: `f/${i}` }))),
  'zip: claims a million entries': () => buildZip([HEAD], { count: 65_535 }),
  'zip: cut off': () => zip({ name: 'a', data: 'x' }).subarray(0, 150),
  'zip: the directory elsewhere': () => buildZip([HEAD], { offset: 0 }),
  'zip: more than 20 MB': () => Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(20_000_001)]),
  'tar: ..': () => tar({ name: '../escaped', data: 'x' }),
  'tar: an absolute path': () => tar({ name: '/tmp/escaped', data: 'x' }),
  'tar: a link, then a file through it': () => tar({ name: 'out', type: '2', link: '/tmp' }, { name: 'out/escaped', data: 'x' }),
  'tar: a hard link out': () => tar({ name: 'out', type: '1', link: '/etc/passwd' }),
  'tar: two links and a hard link': () =>
    tar({ name: 'a', type: '2', link: '.' }, { name: 'a/b', type: '2', link: '..' }, { name: 'c', type: '1', link: 'a/b/escaped' }),
  'tar: a device': () => tar({ name: 'null', type: '3' }),
  'tar: a pipe': () => tar({ name: 'pipe', type: '6' }),
  'tar: a sparse file': () => tar({ name: 'sparse', type: 'S', data: 'x' }),
  'tar: an extended header with a way out': () => tar({ name: 'pax', type: 'x', data: paxRecord('path', '../escaped') }, { name: 'a', data: 'x' }),
  'tar: an extended header with another size': () => tar({ name: 'pax', type: 'x', data: paxRecord('size', '999999999') }, { name: 'a', data: 'x' }),
  'tar: a long name with a way out': () => tar({ name: '././@LongLink', type: 'L', data: '../../escaped\0' }, { name: 'a', data: 'x' }),
  'tar: a wrong checksum': () => tar({ name: 'a', data: 'x', checksum: 1 }),
  'tar: claims 5 GB': () => tar({ name: 'a', size: 5_000_000_000 }),
  'tar: cut off': () => buildTar([HEAD], { cut: true }),
  'tar: 130 MB of zeros': () => gzipSync(Buffer.alloc(130_000_000)),
  'tar: a twin by case': () => tar({ name: 'skill.MD', data: 'x' }),
  'front matter: none': () => front('Just text.'),
  'front matter: aliases that grow': () => front('---\nname: &a shell-sorter\ndescription: [*a, *a, *a]\n---\n'),
  'front matter: a tag that makes objects': () => front('---\nname: !!js/function "function(){}"\ndescription: x\n---\n'),
  'front matter: 2 MB': () => front(`---\nname: shell-sorter\ndescription: ${'x'.repeat(2_000_000)}\n---\n`),
  'front matter: 100,000 lines': () => front(`---\nname: shell-sorter\n${'a: b\n'.repeat(100_000)}---\n`),
  'front matter: the name is a path': () => front(skillText('../../escaped')),
  'front matter: the name is a device': () => front(skillText('con')),
  'front matter: the name has 300 characters': () => front(skillText('a'.repeat(300))),
  'front matter: a name twice': () => front('---\nname: a\nname: b\ndescription: x\n---\n'),
  'front matter: nested lists': () => front(`---\nname: shell-sorter\ndescription: x\nallowed-tools: ${'['.repeat(5_000)}\n---\n`),
  'front matter: __proto__': () => front('---\n__proto__: x\nname: shell-sorter\ndescription: x\n---\n'),
  'no archive': () => Buffer.from('MZ and then something else'),
} // prettier-ignore

let rig: SkillRig
let place: ScratchFolder
beforeEach(async () => {
  rig = openSkillRig()
  place = await scratchFolder('sources')
})
afterEach(() => rig.close())

/** Everything in a folder, and in the folders around both. */
function everything(): string[] {
  return [rig.folder, join(place.path, '..')].flatMap((root) => readdirSync(root, { recursive: true }).map((name) => `${root}/${String(name)}`)).filter((path) => !/deckhand\.db/.test(path)) // prettier-ignore
}

async function expectRefused(source: string, reason: RegExp): Promise<void> {
  const before = everything()
  const code = expect.stringMatching(reason) as string
  await expect(rig.installer.install({ source })).rejects.toMatchObject({ code: 'install_failed', detail: { code } })
  expect(everything()).toEqual(before)
  expect(listSkills(rig.db)).toEqual([])
}

describe('a hostile archive', () => {
  it.each(Object.entries(ARCHIVES))('is refused and leaves nothing: %s', async (name, build) => {
    const source = await place.write('skill.bin', build())
    const before = process.cpuUsage()
    await expectRefused(source, /^(zip|tar)/.test(name) ? /^archive_/ : /^skill_/)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(MAX_SECONDS)
  })

  it('is what makes the difference: the same archives without their trick install', async () => {
    for (const [i, build] of [
      () => zip({ name: 'scripts/a.sh', data: '#!/bin/sh\n' }),
      () => tar({ name: './docs/a.md', data: 'x' }),
    ].entries()) {
      const source = await place.write(`skill-${i}.bin`, build())
      const skill = await rig.installer.install({ source })
      expect(skill).toMatchObject({ slug: 'shell-sorter', status: 'ready' })
      await rig.installer.uninstall(() => skill)
    }
  })

  it('decides nothing about modes: neither setuid nor a repository inside reaches the disk', async () => {
    const source = await place.write(
      'skill.zip',
      zip(
        { name: 'scripts/a.sh', data: '#!/bin/sh\n', mode: 0o106777 },
        { name: '.git/hooks/post-checkout', data: '#!/bin/sh\n', mode: 0o100755 },
        { name: 'nested.zip', data: named('../escaped') },
      ),
    )
    const { digest } = await rig.installer.install({ source })
    const folder = rig.folderOf(digest)
    expect(readdirSync(folder, { recursive: true }).map(String).sort()).toEqual([
      'SKILL.md',
      'nested.zip',
      'scripts',
      join('scripts', 'a.sh'),
    ])
    if (process.platform !== 'win32') expect(lstatSync(join(folder, 'scripts/a.sh')).mode & 0o7777).toBe(0o700)
  })
})

describe.skipIf(process.platform === 'win32')('a hostile folder', () => {
  const TRICKS: Record<string, (folder: string) => void> = {
    'a link to a file': (folder) => symlinkSync('/etc/passwd', join(folder, 'out')),
    'a link to a folder': (folder) => symlinkSync('..', join(folder, 'out')),
    'a link that leads nowhere': (folder) => symlinkSync('/nowhere', join(folder, 'out')),
    'a link in place of SKILL.md': (folder) => symlinkSync('/etc/passwd', join(folder, 'skill.md')),
    'a pipe': (folder) => void execFileSync('mkfifo', [join(folder, 'pipe')]),
    'a control character in a name': (folder) => writeFileSync(join(folder, 'a\u0007b'), ''),
    'a device name': (folder) => writeFileSync(join(folder, 'nul.txt'), ''),
    '40 folders deep': (folder) => void mkdirSync(join(folder, ...Array.from({ length: 40 }, () => 'a'), 'b'), { recursive: true }),
    '5 GB in one file': (folder) => {
      writeFileSync(join(folder, 'big'), '')
      truncateSync(join(folder, 'big'), 5_000_000_000)
    },
    '2,001 files': (folder) => {
      for (let i = 0; i < 2_001; i++) writeFileSync(join(folder, `${i}`), '')
    },
  }

  it.each(Object.entries(TRICKS))('is refused and leaves nothing: %s', async (_, trick) => {
    await place.write('skill/SKILL.md', skillText('shell-sorter'))
    trick(place.at('skill'))
    await expectRefused(place.at('skill'), /^archive_/)
  })

  it('is not the data folder itself', async () => {
    await expectRefused(rig.folder, /^skill_source_closed$/)
    await expectRefused(join(rig.folder, 'skills'), /^skill_source_closed$/)
  })

  it('may be a checkout: nothing of its repository is read or run', async () => {
    const canary = place.at('canary')
    await place.write('skill/SKILL.md', skillText('shell-sorter'))
    await place.write('skill/.git/hooks/post-checkout', `#!/bin/sh\ntouch ${canary}\n`)
    await place.write('skill/.git/config', `[core]\n\tfsmonitor = touch ${canary}\n`)
    await place.write('skill/scripts/setup.sh', `#!/bin/sh\ntouch ${canary}\n`)
    linkSync(place.at('skill/scripts/setup.sh'), place.at('skill/scripts/again.sh'))
    const skill = await rig.installer.install({ source: place.at('skill') })
    expect(skill.contents.files.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/again.sh', 'scripts/setup.sh'])
    expect(everything()).not.toContain(canary)
  })
})
