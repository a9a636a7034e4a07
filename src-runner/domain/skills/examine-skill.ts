import { setImmediate as breathe } from 'node:timers/promises'
import type { SkillContents, SkillFinding, SkillFindingKind } from '../../contract/skills.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { readSkillHead } from './skill-head.ts'
import { isNativeProgram, isScript, textOf, type SkillPackage } from './skill-package.ts'

const MAX_FINDINGS = 100
const MAX_PER_FILE = 20
const MAX_NAMED = 100
const MAX_FILE_CHARS = 1_000_000
/** Longer lines are looked at in pieces, so that no pattern is slow. */
const PIECE_CHARS = 2_000
/** Two pieces share the rest, so that nothing is lost where they meet. */
const STEP_CHARS = PIECE_CHARS - 300
const EXCERPT_CHARS = 160
/** What is looked at in one turn of the event loop, which all jobs share. Each line costs as much as some characters. */
const CHARS_AT_ONCE = 50_000
const CHARS_PER_LINE = 20

/** Everything that a person reads before they install a skill. Throws SkillRefused. */
export async function examineSkill(skill: SkillPackage): Promise<SkillContents> {
  const { head } = readSkillHead(skill)
  const files = skill.files.map((file) => ({ path: file.path, bytes: file.bytes.length, isScript: isScript(file) }))
  const found: Awaited<ReturnType<typeof examineFile>>[] = []
  for (const file of skill.files) found.push(await examineFile(file))
  const named = (part: 'hosts' | 'programs') => [...new Set(found.flatMap((file) => file[part]))].sort().slice(0, MAX_NAMED)
  const hosts = named('hosts')
  const hasScripts = files.some((file) => file.isScript)
  return {
    ...head,
    digest: skill.digest,
    files,
    totalBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    permissions: [
      ...(hasScripts ? ['scripts'] : []),
      ...head.allowedTools.map((tool) => `tool:${tool}`),
      ...hosts.map((host) => `host:${host}`),
    ],
    hosts,
    programs: named('programs'),
    ...cutFindings(found.flatMap((file) => file.findings)),
  }
}

/** Invisible characters as their numbers, so that a person sees what a model reads. */
export function revealText(text: string): string {
  if (visibleText(text) === text) return text
  // What most texts consist of is known to be visible.
  const others = /[^\n\t\x20-\x7e]/gu
  return text.replace(/\r\n?/g, '\n').replace(others, (c) => (visibleText(c) === c ? c : `\\u{${c.codePointAt(0)!.toString(16)}}`))
}

/** What of the version that is installed is not to be read again: lines that were in this file before, and files that are the same. */
export async function findNew(before: SkillPackage | null, after: SkillPackage): Promise<Pick<SkillContents, 'findings' | 'findingsCut'>> {
  const old = new Map(before?.files.map((file) => [file.path, file]))
  const findings: SkillFinding[] = []
  for (const file of after.files) {
    const was = old.get(file.path)
    if (was?.bytes.equals(file.bytes) === true) continue
    // All of them: the first ones must not keep a new one out of sight.
    const known = new Set<string>()
    if (was !== undefined) await lookThrough(was, (kind, _, text) => known.add(`${kind} ${text}`))
    known.delete('native_program ')
    findings.push(...(await examineFile(file, known)).findings)
  }
  return cutFindings(findings)
}

function cutFindings(findings: readonly SkillFinding[]): Pick<SkillContents, 'findings' | 'findingsCut'> {
  return { findings: findings.slice(0, MAX_FINDINGS), findingsCut: findings.length > MAX_FINDINGS }
}

type Named = { hosts: string[]; programs: string[] }

/** Without what is known: `<kind> <text>`. */
async function examineFile(
  file: SkillPackage['files'][number],
  known: ReadonlySet<string> = new Set(),
): Promise<Named & { findings: SkillFinding[] }> {
  const findings: SkillFinding[] = []
  const named = await lookThrough(file, (kind, line, text) => {
    if (findings.length >= MAX_PER_FILE || known.has(`${kind} ${text}`)) return
    if (findings.some((one) => one.kind === kind && one.line === line)) return
    findings.push({ kind, path: file.path, line, excerpt: revealText(text).slice(0, EXCERPT_CHARS) })
  })
  return { findings, ...named }
}

/** `add` may be called several times for one line. */
async function lookThrough(
  file: SkillPackage['files'][number],
  add: (kind: SkillFindingKind, line: number | null, text: string) => void,
): Promise<Named> {
  const { path, bytes } = file
  const text = isNativeProgram(bytes) ? null : (textOf(file)?.slice(0, MAX_FILE_CHARS) ?? null)
  if (isNativeProgram(bytes)) add('native_program', null, '')
  if (text === null) return { hosts: [], programs: [] }
  const hosts = new Set<string>()
  const lines = text.split(/\r\n|\n|\r/)
  const isMarkdown = /\.(md|markdown|mdx)$/i.test(path)
  const code = isMarkdown ? findCode(lines) : []
  let looked = 0
  for (const [i, line] of lines.entries()) {
    // Comments and styles hide something only where Markdown is shown formatted.
    const patterns = isMarkdown && !code[i] ? [...PATTERNS, ...HIDDEN] : PATTERNS
    for (let at = 0; at < line.length; at += STEP_CHARS) {
      const piece = line.slice(at, at + PIECE_CHARS)
      looked += piece.length + CHARS_PER_LINE
      if (looked > CHARS_AT_ONCE) {
        looked = 0
        await breathe()
      }
      for (const [kind, pattern] of patterns) if (pattern.test(piece)) add(kind, i + 1, piece.trim())
      for (const { 1: host, index } of piece.matchAll(HOST)) {
        // It may be cut here, and is whole in the next piece.
        if (index >= STEP_CHARS && at + PIECE_CHARS < line.length) break
        if (hosts.size < MAX_NAMED) hosts.add(host!.toLowerCase())
      }
    }
    if (visibleText(line) !== line.toWellFormed()) add('invisible_characters', i + 1, line.trim())
  }
  await breathe()
  const isShell = /\.(sh|bash|zsh)$/i.test(path) || /^#!.{0,40}\b(ba|z|da)?sh\b/.test(lines[0]!)
  const shell = isMarkdown ? shellLines(lines) : isShell ? lines : null
  return { hosts: [...hosts], programs: shell === null ? interpreterIn(lines[0]!) : programsIn(shell) }
}

/**
 * Which lines of Markdown are code for certain. Only blocks count that begin in the first column and outside of HTML: whether any other is
 * one is hard to say, and what is no block can hide something.
 */
function findCode(lines: readonly string[]): boolean[] {
  let fence: string | null = null
  let htmlEnds: RegExp | null = null
  return lines.map((line) => {
    if (fence !== null) {
      if (/^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1]!.startsWith(fence) === true) fence = null
      return true
    }
    htmlEnds ??= HTML_BLOCKS.find(([begins]) => begins.test(line))?.[1] ?? null
    if (htmlEnds !== null) {
      if (htmlEnds.test(line)) htmlEnds = null
      return false
    }
    fence = /^(`{3,}|~{3,})[^`]*$/.exec(line)?.[1] ?? null
    return fence !== null
  })
}

/** How a block of HTML begins, and how it ends (https://spec.commonmark.org/0.31.2/#html-blocks). Rare ones are taken not to end. */
const HTML_BLOCKS: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<(script|pre|style|textarea)/i, /<\/(script|pre|style|textarea)>/i],
  [/^ {0,3}<[!?]/, /$^/],
  [/^ {0,3}<[a-z/]/i, /^\s*$/],
]

/** The lines of Markdown that are for a shell, as far as its blocks say so. */
function shellLines(lines: readonly string[]): string[] {
  let language: string | null = null
  return lines.filter((line) => {
    const [, marks, said] = /^\s{0,8}(```|~~~)[`~]*\s{0,3}(\w*)/.exec(line) ?? []
    if (marks !== undefined) language = language === null ? said! : null
    return marks === undefined && language !== null && SHELL.test(language)
  })
}

const HOST = /\b(?:https?|wss?|ftp):\/\/(?:[^\s/@"'<>`]{1,100}@)?([a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?)/gi

/** Bounded repetitions only. Each finding is for a person to judge; none of them decides. */
const PATTERNS: readonly (readonly [SkillFindingKind, RegExp])[] = [
  ['download_and_run', /\b(curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b.{0,300}(\||;|&&)\s{0,5}(sudo\s{1,5})?(ba|z|da|fi)?(sh|iex|python3?|node|perl|ruby|invoke-expression)\b/i],
  ['download_and_run', /\b(eval|source|exec|sh|bash|iex|python3?)\b.{0,40}[$<]?\(\s{0,5}(curl|wget|iwr|invoke-webrequest)\b/i],
  ['download_and_run', /\b(exec|eval)\s{0,3}\(.{0,100}(requests\.get|urlopen|fetch\(|http\.get)/i],
  ['download_and_run', /\b(npx|uvx|pipx\s{1,3}run|bunx|pnpm\s{1,3}dlx)\s{1,5}(-y\s{1,5}|--yes\s{1,5})?(https?:|git\+|github:)/i],
  ['asks_for_secrets', /(\.ssh\/|id_(rsa|ed25519|ecdsa)\b|\.aws\/credentials|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube\/config|\.git-credentials|\.docker\/config\.json|wallet\.dat|login\.keychain|find-generic-password|\/etc\/shadow|Cookies\.sqlite|Login Data\b)/i],
  ['asks_for_secrets', /(?<!\b(do not|don't|never)\s{1,3})\b(read|open|cat|send|upload|post|copy|show|print|include|paste|give|enter|type|provide|tell)\s.{0,80}(\.env\b|\bapi[ _-]?keys?\b|\bpasswords?\b|\bpassphrase\b|\bseed phrase\b|\bprivate keys?\b|\baccess tokens?\b|\bcredentials\b)/i],
  ['asks_for_secrets', /\b(printenv|env)\b\s{0,5}\|/],
  ['encoded_blob', /[A-Za-z0-9+/]{240,}={0,2}/],
  ['encoded_blob', /(\\x[0-9a-f]{2}){40,}|\b[0-9a-f]{300,}\b/i],
  ['encoded_blob', /\b(base64\s{1,3}(-d|-D|--decode)|b64decode|atob\s{0,3}\(|frombase64string)/i],
  ['takes_authority', /\b(ignore|disregard|forget|override)\b.{0,40}\b(previous|prior|above|earlier|all|other|system|your)\b.{0,40}\b(instructions?|rules?|prompts?|guidelines|messages?)\b/i],
  ['takes_authority', /(\b(do not|don't|never)|(?<!\b(not|never|don't)\b.{0,60})\bwithout)\s{1,3}([a-z]+\s{1,3}){0,3}(ask|tell|inform|mention|notify|confirm|show|reveal)(ing|ming|ning|ying)?\b.{0,20}\b(user|person|human|owner|anyone|permission|confirmation|approval)\b(?!\s{1,3}to\b)/i],
  ['takes_authority', /\b(approve|allow|confirm|authori[sz]e)\b.{0,30}\b(yourself|itself|on (the )?(user|person|owner)|automatically|(every|all|any) (requests?|calls?|approvals?|actions?|commands?|tools?))\b/i],
  ['takes_authority', /\b(auto[- ]?approve|dangerously[-_ ]skip[-_ ]permissions|--yolo|bypass(ing)? (the )?(approval|permission|sandbox|policy))\b/i],
] // prettier-ignore

/** What formatted Markdown does not show. */
const HIDDEN: typeof PATTERNS = [
  ['hidden_text', /<!--/],
  ['hidden_text', /(display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|(font-size|opacity)\s{0,3}:\s{0,3}0(?![.\d]))/i],
  // The definition of a link that nothing uses: `[//]: # (text)`.
  ['hidden_text', /^ {0,3}\[[^\]]{1,100}\]:\s{0,5}(#|<>)/],
]

const SHELL = /^(sh|bash|shell|zsh|console|terminal|powershell|ps1|cmd|bat)$/i
const NOT_PROGRAMS = new Set(
  'if then else elif fi for do done while case esac echo cd export set local return exit function read true false test source in'.split(
    ' ',
  ),
)

/**
 * The programs that the lines of a shell start with. Neither texts between two marks, nor the rest of a long line, nor its own
 * functions.
 */
function programsIn(lines: readonly string[]): string[] {
  const programs = new Set<string>()
  const own = new Set(lines.map((line) => /^\s{0,20}(?:function\s{1,3})?([\w-]{1,60})\s?\(\)/.exec(line)?.[1]))
  let until: string | null = null
  let goesOn = false
  for (const line of lines) {
    const isInside = until !== null || goesOn
    if (until !== null) until = line.trim() === until ? null : until
    else until = /<<[-~]?\s?(['"]?)(\w{1,40})\1/.exec(line)?.[2] ?? null
    goesOn = until === null && line.endsWith('\\')
    if (isInside || programs.size >= MAX_NAMED) continue
    const [, word] =
      /^\s{0,20}(?:\$\s{1,3}|>\s{1,3})?(?:sudo\s{1,3})?([a-z][\w.+-]{0,39})(?:\s(?!\s{0,5}=)|$)/i.exec(line.slice(0, PIECE_CHARS)) ?? []
    if (word !== undefined && !NOT_PROGRAMS.has(word) && !own.has(word)) programs.add(word)
  }
  return [...programs]
}

/** For any other script: the program that its first line names. */
function interpreterIn(first: string): string[] {
  return first.startsWith('#!') ? first.trim().split(/[\s/]+/).slice(-1).map((name) => name.slice(0, 40)) : [] // prettier-ignore
}
