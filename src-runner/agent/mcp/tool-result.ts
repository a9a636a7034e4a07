import { isRecord } from '../../lib/json-values.ts'
import { cutText } from '../../lib/text.ts'
import { wrapUntrusted, type MakeBoundary } from '../../lib/untrusted-text.ts'
import { MAX_TOOL_OUTPUT_CHARS, type ToolOutput } from '../tools/tool.ts'

const MAX_TEXT_CHARS = MAX_TOOL_OUTPUT_CHARS - 2_000
const MAX_PARTS = 1_000
const MAX_URI_CHARS = 2_000

export type ResultOptions = {
  boundary: MakeBoundary
  /** Takes secrets out that the server sends back. */
  scrub(text: string): string
  /** What the server asked meanwhile without an answer, and why. */
  asked: readonly string[]
}

/** What the model reads of a result. All of it is untrusted text; what is no text is named by its type and size. */
export function readResult(result: unknown, { boundary, scrub, asked }: ResultOptions): ToolOutput {
  const { content, structuredContent, isError } = isRecord(result) ? result : {}
  const parts = Array.isArray(content) ? content : []
  const lines = parts.slice(0, MAX_PARTS).map(describePart)
  if (parts.length > MAX_PARTS) lines.push(`[${parts.length - MAX_PARTS} more parts were left out]`)
  // Servers repeat structured content as text for older clients.
  if (structuredContent !== undefined && !lines.some((line) => isSameJson(line, structuredContent)))
    lines.push(JSON.stringify(structuredContent))
  const text = scrub(lines.filter((line) => line !== '').join('\n'))
  const shown =
    text === '' ? '[no output]' : cutText(text, MAX_TEXT_CHARS, `\n[cut: ${text.length} characters, the first ${MAX_TEXT_CHARS} are shown]`)
  const questions = asked.map((question) => `- ${scrub(cutText(question, 1_000))}`)
  const note = questions.length === 0 ? [] : ['', 'What the server asked the person in vain:', ...questions]
  return { ok: isError !== true, output: wrapUntrusted([shown, ...note].join('\n'), boundary()) }
}

function isSameJson(line: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(line)) === JSON.stringify(value)
  } catch {
    return false
  }
}

function describePart(part: unknown): string {
  if (!isRecord(part)) return ''
  switch (part['type']) {
    case 'text':
      return typeof part['text'] === 'string' ? part['text'] : ''
    case 'image':
    case 'audio':
      return `[${part['type']}: ${typeOf(part['mimeType'])}, ${sizeOf(part['data'])}]`
    case 'resource_link':
      return `[link: ${uriOf(part['uri'])}${typeof part['name'] === 'string' ? ` (${part['name']})` : ''}]`
    case 'resource':
      return describeResource(part['resource'])
    default:
      return '[a part of an unknown type]'
  }
}

function describeResource(resource: unknown): string {
  if (!isRecord(resource)) return ''
  const name = `[resource: ${uriOf(resource['uri'])}]`
  if (typeof resource['text'] === 'string') return `${name}\n${resource['text']}`
  return `${name} [${typeOf(resource['mimeType'])}, ${sizeOf(resource['blob'])}]`
}

function uriOf(uri: unknown): string {
  return typeof uri === 'string' ? cutText(uri, MAX_URI_CHARS) : 'no address'
}

function typeOf(type: unknown): string {
  return typeof type === 'string' ? cutText(type, 100) : 'unknown type'
}

/** Of base64. */
function sizeOf(data: unknown): string {
  return typeof data === 'string' ? `${Math.ceil((data.length * 3) / 4 / 1024)} KB` : 'no content'
}
