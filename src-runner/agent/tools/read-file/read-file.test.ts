import { open } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { callTool, scratchFolder } from '../../../testing/scratch-folder.ts'
import { readFile } from './read-file.ts'

async function read(content: string | Uint8Array, args: Record<string, unknown> = {}) {
  const folder = await scratchFolder('Docs')
  await folder.write('f', content)
  return callTool(readFile, { path: 'Docs/f', ...args }, [folder.path])
}

const utf16 = (text: string, order: 'le' | 'be', bom: boolean) => {
  const bytes = Buffer.from((bom ? '\uFEFF' : '') + text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

describe('read_file', () => {
  it.each<[string, string | Uint8Array, string]>([
    ['lines', 'one\ntwo\n', 'Docs/f (8 bytes, UTF-8, lines 1-2 of 2)\none\ntwo'],
    ['no line end at the end', 'one\ntwo', 'Docs/f (7 bytes, UTF-8, lines 1-2 of 2)\none\ntwo'],
    ['empty lines', '\n\nx\n\n', 'Docs/f (5 bytes, UTF-8, lines 1-4 of 4)\n\n\nx\n'],
    ['nothing', '', 'Docs/f (0 bytes, empty)'],
    ['CR LF', 'a\r\nb\r\n', 'Docs/f (6 bytes, UTF-8, lines end with CR LF, lines 1-2 of 2)\na\nb'],
    ['a byte order mark', '\uFEFFa', 'Docs/f (4 bytes, UTF-8 with byte order mark, lines 1-1 of 1)\na'],
    ['UTF-16 LE', utf16('Übung\n2', 'le', true), 'Docs/f (16 bytes, UTF-16 LE with byte order mark, lines 1-2 of 2)\nÜbung\n2'],
    ['UTF-16 BE', utf16('Übung\n2', 'be', true), 'Docs/f (16 bytes, UTF-16 BE with byte order mark, lines 1-2 of 2)\nÜbung\n2'],
    ['UTF-16 LE without mark', utf16('plain\ntext', 'le', false), 'Docs/f (20 bytes, UTF-16 LE, lines 1-2 of 2)\nplain\ntext'],
    ['UTF-16 BE without mark', utf16('plain\ntext', 'be', false), 'Docs/f (20 bytes, UTF-16 BE, lines 1-2 of 2)\nplain\ntext'],
    [
      'bytes that are not UTF-8',
      Buffer.from('caf\xe9\nok', 'latin1'),
      'Docs/f (7 bytes, UTF-8, lines 1-2 of 2)\ncaf\uFFFD\nok\n[some bytes are not valid UTF-8 and are shown as \uFFFD]',
    ],
    ['a real replacement character', 'a\uFFFDb', 'Docs/f (5 bytes, UTF-8, lines 1-1 of 1)\na\uFFFDb'],
  ])('reads %s', async (_, content, output) => expect(await read(content)).toEqual({ ok: true, output }))

  it.each<[string, number[] | string, string]>([
    ['a PNG image', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 'a PNG image'],
    ['a PDF', '%PDF-1.7\nlooks like text', 'a PDF document'],
    ['a ZIP', [0x50, 0x4b, 3, 4, 20, 0], 'a ZIP archive or an Office document'],
    ['zero bytes', [1, 2, 0, 0, 0, 9, 9, 0, 9], 'a binary file'],
  ])('describes %s instead of showing it', async (_, content, kind) => {
    const bytes = Buffer.from(content as string)
    expect(await read(bytes)).toEqual({
      ok: false,
      output: `'Docs/f' is ${kind} (${bytes.length} bytes) and has no text to read.`,
    })
  })

  it('reads a part, and says where to continue', async () => {
    const text = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join('\n')
    expect((await read(text, { offset: 10, limit: 2 })).output).toMatch(
      /lines 10-11 of 100\)\nline 10\nline 11\n\[more lines follow: continue with offset 12\]$/,
    )
    expect((await read(text, { offset: 100 })).output).toMatch(/lines 100-100 of 100\)\nline 100$/)
    expect((await read(text, { offset: 99, lineNumbers: true })).output).toMatch(/\n99\tline 99\n100\tline 100$/)
    expect(await read(text, { offset: 101 })).toEqual({ ok: false, output: "'Docs/f' has 100 lines; line 101 is beyond its end." })
  })

  it('joins characters that are split between two chunks', async () => {
    const text = `${'x'.repeat(64 * 1024 - 2)}😀\nend`
    const { output } = await read(text.slice(0).replaceAll('x'.repeat(60_000), ''))
    expect(output).toContain('😀\nend')
    const crossing = `${'ab\n'.repeat(21_845)}😀\nend`
    expect((await read(crossing, { offset: 21_846 })).output).toMatch(/\n😀\nend$/)
  })

  it('cuts a very long line', async () => {
    const { output } = await read(`${'x'.repeat(5_000_000)}\nnext`)
    expect(output.length).toBeLessThan(12_000)
    expect(output).toMatch(/x \[cut: a line of 5000000 characters\]\nnext\n\[lines over 10000 characters are cut\]$/)
  })

  it('stays within the output limit', async () => {
    const { output } = await read(`${'y'.repeat(999)}\n`.repeat(5_000))
    expect(output.length).toBeLessThan(60_000)
    expect(output).toMatch(/lines 1-58 of 5000\)/)
    expect(output).toMatch(/\[more lines follow: continue with offset 59\]$/)
  })

  it('reads the beginning of a file of 4 GB at once', async () => {
    const folder = await scratchFolder('Docs')
    const file = await open(folder.at('huge'), 'w')
    await file.write('first\nsecond\n'.repeat(1_000))
    await file.truncate(4 * 1024 ** 3)
    await file.close()
    const { output } = await callTool(readFile, { path: 'Docs/huge', limit: 2 }, [folder.path])
    expect(output).toBe(
      'Docs/huge (4294967296 bytes, UTF-8, lines 1-2 of more)\nfirst\nsecond\n[more lines follow: continue with offset 3]',
    )
  })

  it.each([
    ['', 'Name a file. list_files shows which there are.'],
    ['Docs', "'Docs' is a folder, not a file. List it with list_files."],
    ['Docs/g', "There is no 'g' in 'Docs'. Entries there: f."],
  ])('explains %j', async (path, output) => expect(await read('x', { path })).toEqual({ ok: false, output }))

  it('opens a file by its escaped name', async () => {
    const folder = await scratchFolder('Docs')
    await folder.write('two\nlines\u202e', 'content')
    expect((await callTool(readFile, { path: 'Docs/two\\u{a}lines\\u{202e}' }, [folder.path])).output).toContain('content')
  })
})
