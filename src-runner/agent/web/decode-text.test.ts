import { expect, it } from 'vitest'
import { decodeText } from './decode-text.ts'

const latin = (text: string) => Buffer.from(text, 'latin1')
const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

it.each<[string, Buffer, string | null, string]>([
  ['undeclared UTF-8', Buffer.from('Übung 中'), null, 'Übung 中'],
  ['what the server says', latin('\xdcbung'), 'ISO-8859-1', 'Übung'],
  ['curly quotes of old pages', latin('\x93quoted\x94 \x80'), null, '“quoted” €'],
  ['a byte order mark, against the server', Buffer.from('\ufeffÜbung'), 'iso-8859-1', 'Übung'],
  ['UTF-16 with a mark', Buffer.from('\ufeffÜbung', 'utf16le'), null, 'Übung'],
  ['UTF-16 the other way round', Buffer.from('\ufeffÜbung', 'utf16le').swap16(), null, 'Übung'],
  [
    'Japanese that the page declares',
    Buffer.concat([latin('<meta charset="shift_jis">'), bytes('93fa967b')]),
    null,
    '<meta charset="shift_jis">日本',
  ],
  [
    'Chinese that the page declares in the old way',
    Buffer.concat([latin('<meta http-equiv="Content-Type" content="text/html; charset=gbk">'), bytes('d6d0')]),
    null,
    '<meta http-equiv="Content-Type" content="text/html; charset=gbk">中',
  ],
  [
    'XML that declares Russian',
    Buffer.concat([latin('<?xml version="1.0" encoding="windows-1251"?>'), bytes('cff0')]),
    null,
    '<?xml version="1.0" encoding="windows-1251"?>Пр',
  ],
  ['a page that says UTF-16 and is not', latin('<meta charset=utf-16>ok'), null, '<meta charset=utf-16>ok'],
  ['an encoding that is none', Buffer.from('Übung'), 'klingon', 'Übung'],
  ['UTF-8 that was cut within a character', Buffer.from('Übung 中').subarray(0, -1), null, 'Übung \ufffd'],
  ['nothing', Buffer.alloc(0), null, ''],
])('reads %s', async (_what, input, declared, text) => expect(await decodeText(input, declared)).toBe(text))

it('joins characters that are split between two pieces', async () => {
  const text = `${'x'.repeat(256 * 1024 - 1)}中${'y'.repeat(10)}`
  expect(await decodeText(Buffer.from(text), null)).toBe(text)
})
