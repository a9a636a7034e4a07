import { symlink } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../../testing/cpu-time.ts'
import { callTool, scratchFolder } from '../../../testing/scratch-folder.ts'
import { compileGlob } from './glob.ts'
import { searchFiles } from './search-files.ts'

async function search(files: Record<string, string | Uint8Array>, args: Record<string, unknown>) {
  const folder = await scratchFolder('Docs')
  for (const [path, content] of Object.entries(files)) await folder.write(path, content)
  return callTool(searchFiles, args, [folder.path])
}

const diary = { 'b.md': 'nothing here\n', 'a.md': 'Monday\nI saw a Fox.\nTuesday\nno fox\n', 'sub/c.txt': 'the fox again' }

describe('search_files', () => {
  it('finds plain text, ignoring case', async () => {
    expect(await search(diary, { query: 'fox' })).toEqual({
      ok: true,
      output: [
        '3 matches in 2 files (3 files searched)',
        'Docs/a.md:2: I saw a Fox.',
        'Docs/a.md:4: no fox',
        'Docs/sub/c.txt:1: the fox again',
      ].join('\n'),
    })
  })

  it.each([
    ['case sensitivity', { query: 'Fox', caseSensitive: true }, ['Docs/a.md:2: I saw a Fox.']],
    ['a regular expression', { query: '^no\\w*\\s+f.x$', regex: true }, ['Docs/a.md:4: no fox']],
    ['plain text unless regex is set', { query: 'f.x' }, []],
    ['a glob', { query: 'fox', glob: '*.txt' }, ['Docs/sub/c.txt:1: the fox again']],
    ['a glob over folders', { query: 'fox', glob: 'sub/**' }, ['Docs/sub/c.txt:1: the fox again']],
    ['a glob that names the folder', { query: 'fox', glob: 'Docs/*.md' }, ['Docs/a.md:2: I saw a Fox.', 'Docs/a.md:4: no fox']],
    ['a folder', { query: 'fox', path: 'Docs/sub' }, ['Docs/sub/c.txt:1: the fox again']],
    ['one file', { query: 'fox', path: 'Docs/a.md' }, ['Docs/a.md:2: I saw a Fox.', 'Docs/a.md:4: no fox']],
  ])('searches with %s', async (_, args, lines) => {
    const { output } = await search(diary, args)
    expect(output.split('\n').slice(1)).toEqual(lines)
  })

  it('shows context lines, each once', async () => {
    const text = ['1', '2', 'hit', '4', 'hit', '6', '7', '8', '9', 'hit'].join('\n')
    const { output } = await search({ f: text }, { query: 'hit', context: 1 })
    expect(output.split('\n').slice(1)).toEqual([
      'Docs/f-2- 2',
      'Docs/f:3: hit',
      'Docs/f-4- 4',
      'Docs/f:5: hit',
      'Docs/f-6- 6',
      '--',
      'Docs/f-9- 9',
      'Docs/f:10: hit',
    ])
  })

  it('skips hidden and binary files, and says so', async () => {
    const files = { 'a.txt': 'x', '.env': 'x', '.git/config': 'x', 'node_modules/m/i.js': 'x', 'b.bin': Buffer.from([0x78, 0, 0, 1, 0x78]) }
    expect((await search(files, { query: 'x' })).output).toBe(
      '1 match in 1 file (1 file searched)\nDocs/a.txt:1: x\n[Skipped: 3 hidden or node_modules entries (includeHidden searches them), 1 file without text.]',
    )
    expect((await search(files, { query: 'x', includeHidden: true })).output).toMatch(/^4 matches in 4 files/)
    expect((await search(files, { query: 'x', path: 'Docs/.env' })).output).toMatch(/^1 match/)
  })

  it('says that there are no matches', async () => {
    expect(await search(diary, { query: 'wolf' })).toEqual({ ok: true, output: 'No matches (3 files searched)' })
  })

  it('stops at maxResults, and says so', async () => {
    const { output } = await search({ f: 'hit\n'.repeat(50) }, { query: 'hit', maxResults: 3 })
    expect(output.split('\n')).toEqual([
      '3 matches in 1 file (1 file searched)',
      'Docs/f:1: hit',
      'Docs/f:2: hit',
      'Docs/f:3: hit',
      '[Stopped: 3 matches were found, there may be more. Narrow the search by path or glob.]',
    ])
  })

  it('shows the part of a long line where the match is', async () => {
    const { output } = await search({ f: `${'a'.repeat(9_000)}needle${'b'.repeat(9_000)}` }, { query: 'needle' })
    expect(output.length).toBeLessThan(500)
    expect(output).toMatch(/Docs\/f:1: …a+needleb+…$/)
  })

  it('says that the end of a long line was not searched', async () => {
    const { output } = await search({ f: `${'a'.repeat(30_000)}needle` }, { query: 'needle' })
    expect(output).toBe('No matches (1 file searched)\n[Skipped: the ends of 1 very long line.]')
  })

  it('stays within the output limit', async () => {
    const { output } = await search({ f: `${'hit '.repeat(70)}\n`.repeat(2_000) }, { query: 'hit', maxResults: 1_000 })
    expect(output.length).toBeLessThan(60_000)
    expect(output).toContain('[Stopped: the answer is full')
  })

  it('does not follow links', async () => {
    const folder = await scratchFolder('Docs')
    await folder.write('a/f', 'hit')
    await symlink('..', folder.at('a/loop'))
    await symlink('/etc', folder.at('etc'))
    expect((await callTool(searchFiles, { query: 'hit|root', regex: true }, [folder.path])).output).toBe(
      '1 match in 1 file (1 file searched)\nDocs/a/f:1: hit',
    )
  })

  it.each([
    ['look-ahead', '(?=x)'],
    ['back-reference', '(a)\\1'],
    ['unclosed group', '('],
    ['a repetition without measure', '((a{100}){100}){100}'],
  ])('explains why an expression cannot be used: %s', async (_, query) => {
    const { ok, output } = await search(diary, { query, regex: true })
    expect(ok).toBe(false)
    expect(output).toMatch(/^The regular expression cannot be used: .*The syntax is RE2's/)
  })

  it('refuses an expression with too many repetitions', async () => {
    expect(await search(diary, { query: '([a-z]{1,30}){1,30}[!?]', regex: true })).toEqual({
      ok: false,
      output: 'The regular expression is too large. Repeat less in it.',
    })
  })

  it.each([
    '(a+)+$',
    '(a|aa)+$',
    '(a|a?)+b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(.*a){20}',
    '([a-z]{1,20}){1,20}!',
    '([a-z]{1,20}){1,20}[!?]',
  ])('does not block the event loop with %s', async (query) => {
    const folder = await scratchFolder('Docs')
    await folder.write('f', `${'a'.repeat(15_000)}!\n`.repeat(50))
    expect(await longestPauseOf({ query, regex: true, caseSensitive: true }, folder.path)).toBeLessThan(150)
  })

  it('does not block the event loop with a long glob in a full folder', async () => {
    const folder = await scratchFolder('Docs')
    const inside = `${'a'.repeat(200)}/`.repeat(3)
    for (let at = 0; at < 2_000; at++) await folder.write(`${inside}${at}${'a'.repeat(200)}`)
    expect(await longestPauseOf({ query: 'x', glob: `${'**/'.repeat(160)}x.md` }, folder.path)).toBeLessThan(150)
  })
})

/** This thread's time on the processor, not by the clock: others work on this machine too. */
async function longestPauseOf(args: Record<string, unknown>, folder: string): Promise<number> {
  const cpuMs = () => process.threadCpuUsage().user / 1000
  let longestPause = 0
  let isOver = false
  let last = cpuMs()
  const searching = callTool(searchFiles, args, [folder]).finally(() => (isOver = true))
  while (!isOver) {
    await setImmediate()
    const now = cpuMs()
    longestPause = Math.max(longestPause, now - last)
    last = now
  }
  expect((await searching).ok).toBe(true)
  return longestPause
}

describe('globs', () => {
  it.each([
    ['*.md', 'a.md', true],
    ['*.md', 'deep/down/a.md', true],
    ['*.md', 'a.mdx', false],
    ['a.md', 'axmd', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/b/a.ts', false],
    ['./src/**/*.ts', 'src/b/c/a.ts', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['**/a.md', 'a.md', true],
    ['src/**', 'src/x/y', true],
    ['*.{ts,tsx}', 'a.tsx', true],
    ['*.{ts,tsx}', 'a.js', false],
    ['file?.txt', 'file1.txt', true],
    ['[ab].txt', 'b.txt', true],
    ['[!ab].txt', 'b.txt', false],
    ['[!ab].txt', 'c.txt', true],
    ['[a-c]x', 'bx', true],
    ['{a', '{a', true],
    ['a+b(c).txt', 'a+b(c).txt', true],
    ['*', 'two\nlines', true],
  ])('%s on %s: %s', (glob, path, fits) => expect(compileGlob(glob)(path.split('/'))).toBe(fits))

  it('takes linear time for a pathological pattern', () => {
    const fits = compileGlob('*a'.repeat(200) + 'b')
    expect(cpuMsOf(() => expect(fits(['a'.repeat(255)])).toBe(false))).toBeLessThan(1_000)
  })
})
