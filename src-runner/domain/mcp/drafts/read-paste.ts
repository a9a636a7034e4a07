import { MAX_PASTE_CHARS, type McpDrafts } from '../../../contract/mcp-drafts.ts'
import type { Message } from '../../../contract/messages.ts'
import { AppError, issueAt } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { draftOfClaude, draftOfWords } from './draft-of-command.ts'
import { checkDraft, type RawDraft } from './draft-parts.ts'
import { draftsOfConfig } from './drafts-of-config.ts'
import { parseGooseExtensions } from './goose-yaml.ts'
import { parseLooseJson } from './loose-json.ts'
import { splitCommand } from './split-command.ts'

const MAX_LINES = 50

/**
 * What a person pasted to add MCP servers: an address, a command line, or a part of the configuration of another program.
 * Nothing is started or called. Throws AppError invalid_request, which says what is wrong with it.
 */
export function readPaste(text: string): McpDrafts {
  if (text.length > MAX_PASTE_CHARS) throw refusal(createMessage('mcp_paste_unknown'))
  const trimmed = text.replace(/^\uFEFF/, '').trim()
  const drafts = /^extensions:/m.test(trimmed) ? ofGoose(trimmed) : /^[{["]|^\/[/*]/.test(trimmed) ? ofJson(trimmed) : ofLines(trimmed)
  const checked = checkAll(drafts)
  if (checked.servers.length === 0) throw refusal(checked.skipped[0]?.problem ?? createMessage('mcp_paste_none'))
  return checked
}

export function checkAll(drafts: readonly RawDraft[]): McpDrafts {
  const read = drafts.map(checkDraft)
  return {
    servers: read.flatMap((one) => ('draft' in one ? [one.draft] : [])),
    skipped: read.flatMap((one) => ('skipped' in one ? [one.skipped] : [])),
  }
}

function ofJson(text: string): RawDraft[] {
  let config: unknown
  try {
    config = parseLooseJson(text)
  } catch {
    throw refusal(createMessage('mcp_paste_json'))
  }
  return draftsOfConfig(config)
}

function ofGoose(text: string): RawDraft[] {
  try {
    return draftsOfConfig(parseGooseExtensions(text))
  } catch {
    throw refusal(createMessage('mcp_paste_unknown'))
  }
}

function ofLines(text: string): RawDraft[] {
  const lines = text
    .replaceAll(/(?:\\|\^|`)\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/^[$>%] /, ''))
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (lines.length > MAX_LINES) throw refusal(createMessage('mcp_paste_unknown'))
  return lines.flatMap(ofLine)
}

function ofLine(line: string): RawDraft[] {
  if (/^https?:\/\/\S+$/i.test(line))
    return [{ name: null, transport: { kind: isOldProtocol(line) ? 'sse' : 'http', url: line }, values: [] }]
  const words = splitCommand(line)
  if (words === 'unclosed_quote') throw refusal(createMessage('mcp_paste_quote'))
  if (words === 'shell') throw refusal(createMessage('mcp_paste_shell'))
  const json = jsonOf(words)
  if (json !== null) {
    const [draft] = ofJson(json.text)
    return draft === undefined ? [] : [{ ...draft, name: json.name ?? draft.name }]
  }
  const fromClaude = draftOfClaude(words)
  if (fromClaude !== null) {
    if ('code' in fromClaude) throw refusal(fromClaude)
    return [fromClaude]
  }
  // A word alone, or prose, is no command that anybody would paste.
  if (words.length === 0 || !/^[\w./\\:~@=+-]+$/.test(words[0]!) || words[0]!.includes('://'))
    throw refusal(createMessage('mcp_paste_unknown'))
  return [draftOfWords(words)]
}

/** The address of the older protocol ends in `/sse` by custom. */
function isOldProtocol(address: string): boolean {
  return URL.canParse(address) && /\/sse\/?$/.test(new URL(address).pathname)
}

/** `claude mcp add-json <name> '{…}'` and `code --add-mcp '{…}'`. */
function jsonOf(words: readonly string[]): { name: string | null; text: string } | null {
  const text = words.find((word) => word.startsWith('{'))
  if (text === undefined) return null
  if (words[0] === 'claude' && words[2] === 'add-json') return { name: words[words.indexOf(text) - 1] ?? null, text }
  return words.includes('--add-mcp') ? { name: null, text } : null
}

function refusal(problem: Message): AppError {
  return new AppError('invalid_request', problem, { issues: [issueAt('text', problem)] })
}
