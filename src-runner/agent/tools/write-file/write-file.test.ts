import { chmod, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFileRig } from '../../../testing/file-rig.ts'
import { writeFile } from './write-file.ts'

describe('write_file', () => {
  it('creates or replaces a file, and says which', async () => {
    const rig = openFileRig()
    const write = (content: string) => rig.call(writeFile, { path: 'Docs/a.md', content })
    expect(await write('one ü\n')).toEqual({ ok: true, output: 'Created Docs/a.md (7 bytes).' })
    expect(await write('two\r\n')).toEqual({ ok: true, output: 'Replaced Docs/a.md (7 bytes before, 5 bytes now).' })
    expect(await write('two\r\n')).toEqual({
      ok: true,
      output: 'Docs/a.md already has exactly this content (5 bytes). Nothing was changed.',
    })
    expect(await rig.read('a.md')).toBe('two\r\n')
    expect(await write('')).toEqual({ ok: true, output: 'Replaced Docs/a.md (5 bytes before, 0 bytes now).' })
  })

  it('creates missing folders only with makeFolders', async () => {
    const rig = openFileRig()
    const args = { path: 'Docs/a/b/c.md', content: 'x' }
    expect(await rig.call(writeFile, args)).toEqual({
      ok: false,
      output: "There is no folder 'a' in 'Docs'. It is made when makeFolders is true.",
    })
    expect(await rig.call(writeFile, { ...args, makeFolders: true })).toEqual({ ok: true, output: 'Created Docs/a/b/c.md (1 byte).' })
    expect(await rig.read('a/b/c.md')).toBe('x')
  })

  it('keeps the permissions of the file', async () => {
    const rig = openFileRig()
    await chmod(await rig.write('run.sh', 'old'), 0o755)
    await rig.call(writeFile, { path: 'Docs/run.sh', content: 'new' })
    expect((await stat(join(rig.docs, 'run.sh'))).mode & 0o777).toBe(0o755)
  })

  it.each<[string, Record<string, unknown>, string]>([
    [
      'too much',
      { path: 'Docs/a', content: 'x'.repeat(5 * 1024 * 1024 + 1) },
      'Not written: the text has 5.2 MB, and the limit is 5.2 MB.',
    ],
    ['a folder', { path: 'Docs', content: 'x' }, "'Docs' is a folder. Name a file in it."],
    ['an empty path', { path: '', content: 'x' }, 'Name a file. list_files shows which there are.'],
    [
      'a name with a line break',
      { path: 'Docs/a\nb', content: 'x' },
      "'a\\u{a}b' is not made: a name may not hold line breaks or characters that change the direction of text.",
    ],
    [
      'a name that turns around',
      { path: 'Docs/gpj.\u202eexe', content: 'x' },
      "'gpj.\\u{202e}exe' is not made: a name may not hold line breaks or characters that change the direction of text.",
    ],
  ])('refuses %s', async (_, args, output) => {
    const rig = openFileRig()
    expect(await rig.call(writeFile, args)).toEqual({ ok: false, output })
  })

  it('replaces half characters', async () => {
    const rig = openFileRig()
    await rig.call(writeFile, { path: 'Docs/a', content: 'a\ud800b' })
    expect(await readFile(join(rig.docs, 'a'))).toEqual(Buffer.from('a\ufffdb'))
  })
})
