import { chmod, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../../testing/cpu-time.ts'
import { openFileRig } from '../../../testing/file-rig.ts'
import { editFile } from './edit-file.ts'
import { replaceText } from './replace-text.ts'
import { decodeExactly, encodeExactly } from './replace-text.ts'

async function edit(content: string | Uint8Array, args: Record<string, unknown>) {
  const rig = openFileRig()
  await rig.write('f', content)
  const { ok, output } = await rig.call(editFile, { path: 'Docs/f', ...args })
  return { ok, output, bytes: await readFile(join(rig.docs, 'f')) }
}

describe('edit_file', () => {
  it.each<[string, string, Record<string, unknown>, string]>([
    ['one place', 'a\nb\nc\n', { oldText: 'b', newText: 'B' }, 'a\nB\nc\n'],
    ['several lines', 'a\nb\nc\n', { oldText: 'a\nb', newText: 'x\ny\nz' }, 'x\ny\nz\nc\n'],
    ['by nothing', 'a\nb\n', { oldText: 'b\n', newText: '' }, 'a\n'],
    ['all places', 'x x\nx', { oldText: 'x', newText: 'xx', replaceAll: true }, 'xx xx\nxx'],
    ['what looks like a pattern', 'a.*$1\n', { oldText: '.*$1', newText: '$&$2' }, 'a$&$2\n'],
    ['line ends of Windows', 'a\r\nb\r\nc', { oldText: 'a\nb', newText: 'x\ny' }, 'x\r\ny\r\nc'],
    ['a line put in among line ends of Windows', 'a\r\nb', { oldText: 'a', newText: 'a\nnew' }, 'a\r\nnew\r\nb'],
    ['both kinds of line ends', 'a\r\nb\nc\n', { oldText: 'a\nb', newText: 'x\ny' }, 'x\r\ny\nc\n'],
    ['the plain ones of both kinds', 'a\r\nb\nc\n', { oldText: 'b\nc', newText: 'y\nz' }, 'a\r\ny\nz\n'],
  ])('replaces %s', async (_, content, args, expected) => {
    const { ok, bytes } = await edit(content, args)
    expect([ok, bytes.toString()]).toEqual([true, expected])
  })

  it.each<[string, string, Record<string, unknown>, string]>([
    [
      'an ambiguous text',
      'x\ny x\n\nx',
      { oldText: 'x', newText: 'z' },
      "Not changed: the text occurs 3 times in 'Docs/f' (lines 1, 2, 4). Give more of the text around the one that is meant, or set replaceAll.",
    ],
    [
      'a text whose places overlap',
      'a\n\n\nb',
      { oldText: '\n\n', newText: '\n' },
      "Not changed: the text occurs 2 times in 'Docs/f' (lines 1, 2). Give more of the text around the one that is meant, or set replaceAll.",
    ],
    [
      'a text that is not there',
      'x',
      { oldText: 'y', newText: 'z' },
      "Not changed: the text does not occur in 'Docs/f'. Read it again; it may have changed.",
    ],
    [
      'other spaces',
      'a\n  b',
      { oldText: 'a\n\tb', newText: 'z' },
      "Not changed: the text does not occur in 'Docs/f'. The same words do occur, with other spaces or line breaks. Copy them exactly as read_file shows them.",
    ],
    ['the same text', 'x', { oldText: 'x', newText: 'x' }, 'Not changed: the new text is the same as the old one.'],
    [
      'too large a result',
      'x'.repeat(1_000),
      { oldText: 'x', newText: 'y'.repeat(6_000), replaceAll: true },
      "Not changed: 'Docs/f' would be at least 6 MB, and the limit is 5.2 MB.",
    ],
  ])('refuses %s, and leaves the file alone', async (_, content, args, output) => {
    const result = await edit(content, args)
    expect(result).toMatchObject({ ok: false, output })
    expect(result.bytes.toString()).toBe(content)
  })

  it('names at most twenty lines', async () => {
    const { output } = await edit('x\n'.repeat(500), { oldText: 'x', newText: 'y' })
    expect(output).toContain('occurs 500 times')
    expect(output).toMatch(/\(lines 1, 2, .*, 20 and more\)/)
  })

  it.each<[string, Buffer, Buffer]>([
    ['a byte order mark', Buffer.from('\uFEFFa ü'), Buffer.from('\uFEFFb ü')],
    ['UTF-16 LE', Buffer.from('\uFEFFa ü', 'utf16le'), Buffer.from('\uFEFFb ü', 'utf16le')],
    ['UTF-16 BE', Buffer.from('\uFEFFa ü', 'utf16le').swap16(), Buffer.from('\uFEFFb ü', 'utf16le').swap16()],
  ])('keeps %s', async (_, content, expected) => {
    const { ok, bytes } = await edit(content, { oldText: 'a', newText: 'b' })
    expect([ok, bytes]).toEqual([true, expected])
  })

  it.each<[string, Buffer, RegExp]>([
    ['bytes that are not text', Buffer.from('caf\xe9 a', 'latin1'), /holds bytes that are not valid UTF-8. An edit would damage/],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), /is a PNG image and has no text/],
    ['half a character of UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0, 0x00, 0xd8]), /not valid UTF-16 LE/],
    ['a large file', Buffer.alloc(6 * 1024 * 1024, 'a'), /has 6.3 MB; files over 5.2 MB cannot be edited/],
  ])('does not edit %s', async (_, content, sentence) => {
    const { ok, output, bytes } = await edit(content, { oldText: 'a', newText: 'b', replaceAll: true })
    expect(ok).toBe(false)
    expect(output).toMatch(sentence)
    expect(bytes.equals(content)).toBe(true)
  })

  it('refuses a file that is write-protected', async () => {
    if (process.getuid?.() === 0) return // root writes everything
    const rig = openFileRig()
    await chmod(await rig.write('f', 'a'), 0o444)
    expect(await rig.call(editFile, { path: 'Docs/f', oldText: 'a', newText: 'b' })).toEqual({
      ok: false,
      output: "'Docs/f' may not be changed by this app (permission denied).",
    })
    expect((await stat(join(rig.docs, 'f'))).mode & 0o777).toBe(0o444)
  })

  it('replaces like split and join, and names the right lines', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '\n', 'ab'), { maxLength: 30 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, fc.constantFrom('a', 'ab', '\n', 'b\na'), (whole, oldText) => {
        const result = replaceText(whole, { oldText, newText: 'X', replaceAll: true })
        const parts = whole.split(oldText)
        if (parts.length === 1) {
          expect(result).toHaveProperty('problem')
          return
        }
        const lines = parts.slice(0, -1).map(
          (_, i) =>
            parts
              .slice(0, i + 1)
              .join(oldText)
              .split('\n').length,
        )
        expect(result).toEqual({ text: parts.join('X'), lines })
      }),
    )
  })

  it('refuses a result over the limit before it is made', () => {
    const replaced = replaceText('a,'.repeat(1_000_000), { oldText: ',', newText: 'x'.repeat(1_000), replaceAll: true })
    expect(replaced).toEqual({ problem: expect.stringMatching(/would be at least .*, and the limit is/) as string })
  })

  it('counts the places on one long line in time', () => {
    const text = `${'{"a":1},'.repeat(100_000)}\n`
    const problem = expect.stringContaining('200000 times') as string
    const cpuMs = cpuMsOf(() => {
      expect(replaceText(text, { oldText: ',', newText: ';', replaceAll: true })).toMatchObject({ text: text.replaceAll(',', ';') })
      expect(replaceText(text, { oldText: '"', newText: "'" })).toMatchObject({ problem })
    })
    expect(cpuMs).toBeLessThan(1_000)
  })

  it('encodes back to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const whole = decodeExactly(Buffer.from(bytes))
        if (!('problem' in whole)) expect(encodeExactly(whole).equals(Buffer.from(bytes))).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})
