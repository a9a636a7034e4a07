import { MIMEType } from 'node:util'
import type { ResponseHead, GuardedResponse } from '../../platform/net/guarded-fetch.ts'
import { sniff, SNIFF_BYTES } from '../files/text-of-file.ts'
import { decodeText } from './decode-text.ts'

export type WebDocument =
  | { kind: 'text'; type: string; title: string; text: string; refreshesTo: string | null; hasMore: boolean }
  /** Not a text; a sentence says what it is. */
  | { kind: 'other'; description: string }

const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml'])
const TEXT_TYPES =
  /^(text\/.+|application\/(json|xml|javascript|ecmascript|x-javascript|ld\+json|x-ndjson|jsonl|yaml|x-yaml|toml|sql|graphql|rtf|x-sh|x-httpd-php|x-tex|x-subrip|.+\+(json|xml|yaml)))$/
/** The first bytes decide. */
const UNKNOWN_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'application/unknown', 'unknown/unknown'])

const NAMES: [RegExp, string][] = [
  [/^application\/pdf$/, 'a PDF document'],
  [/^image\//, 'an image'],
  [/^video\//, 'a video'],
  [/^audio\//, 'a sound file'],
  [/^font\//, 'a font'],
  [/^application\/(zip|gzip|x-tar|x-7z-compressed|x-bzip2|x-xz|vnd\.rar)$/, 'an archive'],
  [/^application\/(msword|vnd\.(openxmlformats|ms-|oasis))/, 'an Office document'],
]

export function mayHoldText({ headers }: ResponseHead): boolean {
  const { type } = contentType(headers['content-type'])
  return HTML_TYPES.has(type) || TEXT_TYPES.test(type) || UNKNOWN_TYPES.has(type)
}

export async function readDocument(response: GuardedResponse, options: { whole: boolean; signal: AbortSignal }): Promise<WebDocument> {
  const { type, charset } = contentType(response.headers['content-type'])
  if (!mayHoldText(response)) return { kind: 'other', description: describe(type, sizeOf(response)) }
  const kind = sniff(response.body.subarray(0, SNIFF_BYTES))
  if ('binary' in kind) return { kind: 'other', description: `This is ${kind.binary}${sized(sizeOf(response))} and has no text to read.` }
  const text = await decodeText(response.body, charset ?? (kind.encoding === 'utf-8' ? null : kind.encoding))
  const isHtml = HTML_TYPES.has(type) || (UNKNOWN_TYPES.has(type) && /^\s*<(!doctype html|html|head|body)\b/i.test(text.slice(0, 1_000)))
  if (!isHtml) return { kind: 'text', type: type || 'text', title: '', text, refreshesTo: null, hasMore: false }
  // Loaded with the first page: the parser has a large table of characters.
  const { htmlToText } = await import('./html-to-text.ts')
  return { kind: 'text', type: type || 'text/html', ...(await htmlToText(text, { address: response.url, ...options })) }
}

function contentType(header: string | undefined): { type: string; charset: string | null } {
  try {
    const { essence, params } = new MIMEType(header ?? '')
    return { type: essence.slice(0, 100), charset: params.get('charset') }
  } catch {
    return { type: '', charset: null }
  }
}

/** The announced size is the size on the wire: only of an uncompressed document is it the document's own. */
function sizeOf({ headers, body, isCut }: GuardedResponse): number | null {
  const announced = Number(headers['content-length'] ?? NaN)
  if (headers['content-encoding'] === undefined && Number.isSafeInteger(announced)) return announced
  return body.length > 0 && !isCut ? body.length : null
}

function describe(type: string, size: number | null): string {
  const name = NAMES.find(([pattern]) => pattern.test(type))?.[1] ?? 'a file'
  return `This is ${name} (${type}${size === null ? '' : `, ${size} bytes`}). It has no plain text, so it was not read.`
}

function sized(size: number | null): string {
  return size === null ? '' : ` (${size} bytes)`
}
