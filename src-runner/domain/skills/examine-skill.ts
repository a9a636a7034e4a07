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
const EXCERPT_CHARS = 160

/** Everything that a person reads before they install a skill. Throws SkillRefused. */
export function examineSkill(skill: SkillPackage): SkillContents {
  const { head } = readSkillHead(skill)
  const files = skill.files.map((file) => ({ path: file.path, bytes: file.bytes.length, isScript: isScript(file) }))
  const found = skill.files.map(examineFile)
  const findings = found.flatMap((file) => file.findings)
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
    findings: findings.slice(0, MAX_FINDINGS),
    findingsCut: findings.length > MAX_FINDINGS,
  }
}

/** Invisible characters as their numbers, so that a person sees what a model reads. */
export function revealText(text: string): string {
  if (visibleText(text) === text) return text
  return text.replace(/\r\n?/g, '\n').replace(/[^\n\t]/gu, (c) => (visibleText(c) === c ? c : `\\u{${c.codePointAt(0)!.toString(16)}}`))
}

type Examined = { findings: SkillFinding[]; hosts: string[]; programs: string[] }

function examineFile(file: SkillPackage['files'][number]): Examined {
  const { path, bytes } = file
  if (isNativeProgram(bytes)) return { findings: [{ kind: 'native_program', path, line: null, excerpt: '' }], hosts: [], programs: [] }
  const text = textOf(file)?.slice(0, MAX_FILE_CHARS) ?? null
  if (text === null) return { findings: [], hosts: [], programs: [] }
  const findings: SkillFinding[] = []
  const add = (kind: SkillFindingKind, line: number, at: string) => {
    if (findings.length < MAX_PER_FILE && !findings.some((one) => one.kind === kind && one.line === line))
      findings.push({ kind, path, line, excerpt: revealText(at.trim()).slice(0, EXCERPT_CHARS) })
  }
  const hosts = new Set<string>()
  const lines = text.split(/\r\n|\n|\r/)
  lines.forEach((line, i) => {
    for (let at = 0; at < line.length; at += PIECE_CHARS - 200) {
      const piece = line.slice(at, at + PIECE_CHARS)
      for (const [kind, pattern] of PATTERNS) if (pattern.test(piece)) add(kind, i + 1, piece)
      for (const [, host] of piece.matchAll(HOST)) if (hosts.size < MAX_NAMED) hosts.add(host!.toLowerCase())
    }
    if (visibleText(line) !== line.toWellFormed()) add('invisible_characters', i + 1, line.slice(0, EXCERPT_CHARS))
  })
  return { findings, hosts: [...hosts], programs: programsIn(path, lines) }
}

const HOST = /\b(?:https?|wss?|ftp):\/\/(?:[^\s/@"'<>`]{1,100}@)?([a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?)/gi

/** Bounded repetitions only. Each finding is for a person to judge; none of them decides. */
const PATTERNS: readonly (readonly [SkillFindingKind, RegExp])[] = [
  ['download_and_run', /\b(curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b.{0,300}(\||;|&&)\s{0,5}(sudo\s{1,5})?(ba|z|da|fi)?(sh|iex|python3?|node|perl|ruby|invoke-expression)\b/i],
  ['download_and_run', /\b(eval|source|exec|sh|bash|iex|python3?)\b.{0,40}[$<]?\(\s{0,5}(curl|wget|iwr|invoke-webrequest)\b/i],
  ['download_and_run', /\b(exec|eval)\s{0,3}\(.{0,100}(requests\.get|urlopen|fetch\(|http\.get)/i],
  ['download_and_run', /\b(npx|uvx|pipx\s{1,3}run|bunx|pnpm\s{1,3}dlx)\s{1,5}(-y\s{1,5}|--yes\s{1,5})?(https?:|git\+|github:)/i],
  ['asks_for_secrets', /(\.ssh\/|id_(rsa|ed25519|ecdsa)\b|\.aws\/credentials|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube\/config|\.git-credentials|\.docker\/config\.json|wallet\.dat|login\.keychain|find-generic-password|\/etc\/shadow|Cookies\.sqlite|Login Data\b)/i],
  ['asks_for_secrets', /\b(read|open|cat|send|upload|post|copy|show|print|include|paste|give|enter|type|provide|tell)\b.{0,80}(\.env\b|\bapi[ _-]?keys?\b|\bpasswords?\b|\bpassphrase\b|\bseed phrase\b|\bprivate keys?\b|\baccess tokens?\b|\bcredentials\b)/i],
  ['asks_for_secrets', /\b(printenv|env)\b\s{0,5}\|/],
  ['encoded_blob', /[A-Za-z0-9+/]{240,}={0,2}/],
  ['encoded_blob', /(\\x[0-9a-f]{2}){40,}|\b[0-9a-f]{300,}\b/i],
  ['encoded_blob', /\b(base64\s{1,3}(-d|-D|--decode)|b64decode|atob\s{0,3}\(|frombase64string)/i],
  ['hidden_text', /<!--/],
  ['hidden_text', /(display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d]))/i],
  ['takes_authority', /\b(ignore|disregard|forget|override)\b.{0,40}\b(previous|prior|above|earlier|all|other|system|your)\b.{0,40}\b(instructions?|rules?|prompts?|guidelines|messages?)\b/i],
  ['takes_authority', /\b(do not|don't|never|without)\b.{0,40}\b(ask|asking|tell|telling|inform|informing|mention|mentioning|notify|notifying|confirm|confirming|show|showing)\b.{0,30}\b(user|person|human|owner|anyone|permission|confirmation|approval)\b/i],
  ['takes_authority', /\b(approve|allow|confirm|authori[sz]e)\b.{0,30}\b(yourself|itself|on (the )?(user|person|owner)|automatically|every|all (requests|calls|approvals))\b/i],
  ['takes_authority', /\b(auto[- ]?approve|dangerously[-_ ]skip[-_ ]permissions|--yolo|bypass(ing)? (the )?(approval|permission|sandbox|policy))\b/i],
] // prettier-ignore

const SHELL_FENCE = /^\s{0,8}(```|~~~)\s{0,3}(sh|bash|shell|zsh|console|terminal|powershell|ps1|cmd|bat)?\b/i
const NOT_PROGRAMS = new Set(
  'if then else elif fi for do done while case esac echo cd export set local return exit function read true false test source in'.split(
    ' ',
  ),
)

/** The programs that shell lines start with: in shell blocks of Markdown, and in shell scripts. */
function programsIn(path: string, lines: readonly string[]): string[] {
  const isMarkdown = /\.(md|markdown)$/i.test(path)
  const isShell = /\.(sh|bash|zsh)$/i.test(path) || /^#!.{0,40}\b(ba|z|da)?sh\b/.test(lines[0] ?? '')
  if (!isMarkdown && !isShell) {
    const first = lines[0] ?? ''
    return first.startsWith('#!')
      ? [
          first
            .trim()
            .split(/[\s/]+/)
            .at(-1)!
            .slice(0, 40),
        ]
      : []
  }
  const programs = new Set<string>()
  let inShell = isShell
  let inFence = false
  for (const line of lines) {
    const fence = isMarkdown ? /^\s{0,8}(```|~~~)/.test(line) : false
    if (fence) {
      inShell = !inFence && SHELL_FENCE.exec(line)?.[2] !== undefined
      inFence = !inFence
      continue
    }
    if (!inShell || programs.size >= MAX_NAMED) continue
    const [, word] = /^\s{0,20}(?:\$\s{1,3}|>\s{1,3})?(?:sudo\s{1,3})?([a-z][\w.+-]{0,39})(?:\s|$)/i.exec(line.slice(0, PIECE_CHARS)) ?? []
    if (word !== undefined && !NOT_PROGRAMS.has(word)) programs.add(word)
  }
  return [...programs]
}
