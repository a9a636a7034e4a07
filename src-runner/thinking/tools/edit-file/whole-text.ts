import { ENCODING_NAMES, sniff, SNIFF_BYTES, type Encoding } from '../../folder-access/text-of-file.ts'

/** A file's whole text, with what is needed to write it back byte by byte. */
export type WholeText = { text: string; encoding: Encoding; bom: boolean }

const BOM = '\uFEFF'

/** Answers a problem where writing the text back would not give the same bytes: then an edit would damage the rest. */
export function decodeWhole(bytes: Buffer): WholeText | { problem: string } {
  if (bytes.length === 0) return { text: '', encoding: 'utf-8', bom: false }
  const kind = sniff(bytes.subarray(0, SNIFF_BYTES))
  if ('binary' in kind) return { problem: `is ${kind.binary} and holds no text that could be edited.` }
  const decoded = new TextDecoder(kind.encoding, { ignoreBOM: true }).decode(bytes)
  const whole = { text: kind.bom ? decoded.slice(BOM.length) : decoded, ...kind }
  if (encodeWhole(whole).equals(bytes)) return whole
  return { problem: `holds bytes that are not valid ${ENCODING_NAMES[kind.encoding]}, which an edit would damage. It was left as it is.` }
}

export function encodeWhole({ text, encoding, bom }: WholeText): Buffer {
  const whole = (bom ? BOM : '') + text.toWellFormed()
  if (encoding === 'utf-8') return Buffer.from(whole, 'utf8')
  const bytes = Buffer.from(whole, 'utf16le')
  return encoding === 'utf-16le' ? bytes : bytes.swap16()
}
