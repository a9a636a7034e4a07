import { createMessage } from '../../lib/messages.ts'
import { SkillRefused } from './skill-package.ts'

/** One level of values: a scalar, a list of scalars, or (for `metadata`) scalars by name. */
export type FrontMatter = Map<string, string | string[] | Map<string, string>>

const MAX_CHARS = 32_768
const MAX_LINES = 500
const KEY = /^([A-Za-z][\w-]{0,63}):(?:[ \t]+(.*))?$/

/**
 * The front matter of `SKILL.md` and the text behind it. Reads the part of YAML that skills use: plain, quoted and block scalars, lists,
 * and one level of names. There are no anchors, tags or documents, so nothing can grow. Throws SkillRefused.
 */
export function readFrontMatter(text: string): { front: FrontMatter; body: string } {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---')
  if (lines[0]?.trimEnd() !== '---' || end < 0) refuse('missing', 1)
  const head = lines.slice(1, end)
  if (head.length > MAX_LINES || head.join('\n').length > MAX_CHARS) refuse('long', 1)
  return {
    front: readNames(head, 2),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  }
}

function refuse(why: 'missing' | 'long' | 'syntax' | 'twice' | 'unsupported' | 'tab', line: number): never {
  throw new SkillRefused(createMessage('skill_front_matter', { why, line }))
}

/** `first`: the number of the first line, for messages. */
function readNames(lines: readonly string[], first: number): FrontMatter {
  const front: FrontMatter = new Map()
  for (let i = 0; i < lines.length;) {
    const line = lines[i]!
    const number = first + i
    if (/^\s*(#.*)?$/.test(line)) {
      i++
      continue
    }
    const [, key, rest = ''] = KEY.exec(line) ?? refuse(/^\s*\t/.test(line) ? 'tab' : 'syntax', number)
    if (front.has(key!)) refuse('twice', number)
    let next = i + 1
    while (next < lines.length && (/^\s/.test(lines[next]!) || lines[next] === '' || (rest.trim() === '' && isListItem(lines[next]!))))
      next++
    // Names without a meaning here may hold any YAML; it is skipped unread.
    if (KNOWN.has(key!)) front.set(key!, readValue(rest, lines.slice(i + 1, next), number))
    i = next
  }
  return front
}

const KNOWN = new Set(['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'])
const isListItem = (line: string) => /^\s*- /.test(line)

function readValue(rest: string, below: readonly string[], line: number): string | string[] | Map<string, string> {
  const block = /^([|>])([+-]?)\s*(#.*)?$/.exec(rest)
  if (block !== null) return readBlock(below, block[1] === '>')
  const filled = below.filter((one) => !/^\s*(#.*)?$/.test(one))
  const flow = [rest, ...filled].join(' ').trim()
  if (flow.startsWith('{')) return new Map()
  if (flow.startsWith('[')) return readFlowList(flow, line)
  if (rest.trim() === '' || rest.startsWith('#')) {
    if (filled.length === 0) return ''
    if (filled.every(isListItem)) return filled.map((item) => readScalar(item.replace(/^\s*- /, ''), line))
    if (/^\s+[A-Za-z][\w.-]*:(\s|$)/.test(filled[0]!)) return readMap(filled, line)
  }
  return readScalar([rest, ...filled.map((one) => one.trim())].join(' ').trim(), line)
}

/** Names of the same depth. Deeper values have no meaning here and are left out. */
function readMap(lines: readonly string[], line: number): Map<string, string> {
  const depth = /^\s*/.exec(lines[0]!)![0].length
  const map = new Map<string, string>()
  for (const one of lines) {
    const [, spaces, key, value = ''] = /^(\s*)([A-Za-z][\w.-]{0,63}):(?:\s+(.*))?$/.exec(one) ?? []
    if (key === undefined || spaces!.length !== depth) continue
    if (map.has(key)) refuse('twice', line)
    if (!/^[[{|>]/.test(value)) map.set(key, readScalar(value, line))
  }
  return map
}

function readBlock(lines: readonly string[], folds: boolean): string {
  const filled = lines.filter((one) => one.trim() !== '')
  const depth = Math.min(...filled.map((one) => /^ */.exec(one)![0].length), 100)
  const text = lines.map((one) => one.slice(depth))
  if (!folds) return text.join('\n').trim()
  const paragraphs = text
    .join('\n')
    .trim()
    .split(/\n{2,}/)
  return paragraphs.map((paragraph) => paragraph.replace(/\n(?! )/g, ' ')).join('\n')
}

function readFlowList(text: string, line: number): string[] {
  const inner = /^\[(.*)\]\s*(#.*)?$/.exec(text)?.[1] ?? refuse('syntax', line)
  if (/[[\]{}]/.test(inner)) refuse('unsupported', line)
  return inner === undefined || inner.trim() === '' ? [] : inner.split(',').map((item) => readScalar(item.trim(), line))
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\', '/': '/', '0': '\0' }

function readScalar(text: string, line: number): string {
  const value = text.trim()
  if (value.startsWith('"')) {
    const [, inner] = /^"((?:[^"\\]|\\.)*)"\s*(#.*)?$/.exec(value) ?? refuse('syntax', line)
    return inner!.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/g, (_, code: string) => {
      if (/^[ux]./.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
      return ESCAPES[code] ?? refuse('syntax', line)
    })
  }
  if (value.startsWith("'")) {
    const [, inner] = /^'((?:[^']|'')*)'\s*(#.*)?$/.exec(value) ?? refuse('syntax', line)
    return inner!.replaceAll("''", "'")
  }
  // Anchors, aliases, tags, directives and nested flow would mean something in YAML. A `: ` inside, or a `@` or backtick at the start,
  // would not be YAML, but many write it.
  if (/^[&*!%{|>]/.test(value)) refuse('unsupported', line)
  return value.replace(/\s#.*$/, '').trimEnd()
}
