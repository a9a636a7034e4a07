import { isRecord, parseJson } from '../../lib/json-values.ts'
import { cutText } from '../../lib/text.ts'
import { wrapUntrusted, type MakeBoundary } from '../../lib/untrusted-text.ts'
import { MAX_TOOL_OUTPUT_CHARS, type ToolOutput } from '../tools/tool.ts'

const MAX_TEXT_CHARS = MAX_TOOL_OUTPUT_CHARS - 2_000
/** How much of a kept text the result shows. The model reads on where it needs to. */
const BEGINNING_CHARS = 20_000
const MAX_PARTS = 1_000
const MAX_URI_CHARS = 2_000
/** Comparing more would take longer than reading the same twice. */
const MAX_COMPARED_CHARS = 20_000_000

export type ResultOptions = {
  boundary: MakeBoundary
  /** Takes secrets out that the server sends back. */
  scrub(text: string): string
  /** What the server asked meanwhile without an answer, and why. */
  asked: readonly string[]
  /** Keeps a content for the job and returns its number. null: it cannot be kept. */
  keep(type: string, bytes: Buffer): Promise<number | null>
}

/** What the model reads of a result. All of it is untrusted text. A long text, and what is no text, is kept for the job. */
export async function readResult(result: unknown, { boundary, scrub, asked, keep }: ResultOptions): Promise<ToolOutput> {
  const { content, structuredContent, isError } = isRecord(result) ? result : {}
  const parts = Array.isArray(content) ? content : []
  const lines: string[] = []
  for (const part of parts.slice(0, MAX_PARTS)) lines.push(await describePart(part, { scrub, keep }))
  if (parts.length > MAX_PARTS) lines.push(`[${parts.length - MAX_PARTS} more parts were left out]`)
  if (structuredContent !== undefined) {
    const json = jsonOf(structuredContent)
    // Servers repeat it as text for older clients.
    if (json === null) lines.push('[structured content that is nested too deeply]')
    else if (!lines.some((line) => isSameJson(line, json)) && !isSaid(structuredContent, parts, lines)) lines.push(json)
  }
  const text = scrub(lines.filter((line) => line !== '').join('\n'))
  const questions = asked.map((question) => `- ${scrub(cutText(question, 1_000))}`)
  const note = questions.length === 0 ? [] : ['', 'What the server asked the person in vain:', ...questions]
  const { shown, rest } = await fitText(text, keep)
  const output = wrapUntrusted([shown === '' ? '[no output]' : shown, ...note].join('\n'), boundary())
  // Our words stand outside, where no server can write them.
  return { ok: isError !== true, output: rest === null ? output : `${output}\n${rest}` }
}

async function fitText(text: string, keep: ResultOptions['keep']): Promise<{ shown: string; rest: string | null }> {
  if (text.length <= MAX_TEXT_CHARS) return { shown: text, rest: null }
  const kept = await keep('text/plain', Buffer.from(text.toWellFormed()))
  if (kept === null) {
    const mark = `\n[cut: ${text.length} characters, the first ${MAX_TEXT_CHARS} are shown]`
    return { shown: cutText(text, MAX_TEXT_CHARS, mark), rest: null }
  }
  const shown = cutText(text, BEGINNING_CHARS, '')
  const rest = `The result has ${text.length} characters; the first ${shown.length} are above. All of it is kept as result ${kept}: read on with read_result.`
  return { shown, rest }
}

/** null: writing it would overflow the stack, which reading does not. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value)
  } catch {
    return null
  }
}

/** `json` has no spaces, so nothing shorter is the same. Otherwise a result of many short texts would be compared for minutes. */
function isSameJson(line: string, json: string): boolean {
  return line.length >= json.length && jsonOf(parseJson(line)) === json
}

/** Whether each value is in the content already: in its words, or as the data of an image, which would be read as text here. */
function isSaid(structured: unknown, parts: readonly unknown[], lines: readonly string[]): boolean {
  const text = lines.join('\n')
  const data = new Set(valuesIn(parts))
  const values = valuesIn(structured)
  const others = values.filter((value) => !data.has(value))
  return values.length > 0 && others.length * text.length <= MAX_COMPARED_CHARS && others.every((value) => text.includes(value))
}

/** Texts, numbers and truths, as texts. */
function valuesIn(content: unknown): string[] {
  const values: string[] = []
  const open = [content]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) open.push(inner)
    else if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean') values.push(String(one))
  }
  return values
}

type Keeping = Pick<ResultOptions, 'scrub' | 'keep'>

async function describePart(part: unknown, keeping: Keeping): Promise<string> {
  if (!isRecord(part)) return ''
  switch (part['type']) {
    case 'text':
      return typeof part['text'] === 'string' ? part['text'] : ''
    case 'image':
    case 'audio':
      return `[${part['type']}: ${await describeContent(part['mimeType'], part['data'], keeping)}]`
    case 'resource_link':
      return `[link: ${uriOf(part['uri'])}${typeof part['name'] === 'string' ? ` (${part['name']})` : ''}]`
    case 'resource':
      return describeResource(part['resource'], keeping)
    default:
      return '[a part of an unknown type]'
  }
}

async function describeResource(resource: unknown, keeping: Keeping): Promise<string> {
  if (!isRecord(resource)) return ''
  const name = `[resource: ${uriOf(resource['uri'])}]`
  if (typeof resource['text'] === 'string') return `${name}\n${resource['text']}`
  return `${name} [${await describeContent(resource['mimeType'], resource['blob'], keeping)}]`
}

/** Describes content in Base64. */
async function describeContent(mimeType: unknown, data: unknown, { scrub, keep }: Keeping): Promise<string> {
  const type = typeof mimeType === 'string' && MEDIA_TYPE.test(mimeType) ? mimeType.toLowerCase() : 'application/octet-stream'
  const bytes = Buffer.from(typeof data === 'string' ? data : '', 'base64')
  if (bytes.length === 0) return `${type}, no content`
  const text = bytes.toString('latin1')
  const kept = scrub(text) === text ? await keep(type, bytes) : null
  return `${type}, ${Math.ceil(bytes.length / 1024)} KB, ${kept === null ? 'not kept' : `kept for the person as result ${kept}`}`
}

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,80}$/

function uriOf(uri: unknown): string {
  return typeof uri === 'string' ? cutText(uri, MAX_URI_CHARS) : 'no address'
}
