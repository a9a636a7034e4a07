import { join } from 'node:path'
import type { CallFacts, Rule, RuleEffect, RuleText } from '../../contract/rules.ts'
import { codePlaceOf } from '../../platform/protected-places/places-by-path.ts'
import { digestOfCommand } from './call-hash.ts'
import { matchesPattern, parsePattern, type Pattern } from './pattern.ts'

/** A rule prepared for matching. `id` null: a hypothetical rule of the simulator. */
export type ReadyRule = {
  id: string | null
  text: RuleText
  pattern: Pattern | null
  folder: string | null
  /** Compared from left to right; larger is more specific. */
  specificity: readonly number[]
}

/** Rules sorted so that the first one that matches a call decides. */
export type RuleSet = { all: readonly ReadyRule[]; ofTool: ReadonlyMap<string, readonly ReadyRule[]>; ofAny: readonly ReadyRule[] }

/** If two rules are equally specific, the stricter one wins. */
const STRICTNESS: Record<RuleEffect, number> = { allow: 0, ask: 1, deny: 2 }

export function createRuleSet(rules: readonly (Rule | RuleText)[]): RuleSet {
  const ready = rules.map(readyRule).sort(compareRules)
  const ofAny = ready.filter((rule) => rule.text.tool === '*')
  const named = new Set(ready.map((rule) => rule.text.tool))
  const ofTool = new Map([...named].map((tool) => [tool, ready.filter(({ text }) => [tool, toolsOfServer(tool), '*'].includes(text.tool))]))
  return { all: ready, ofTool, ofAny }
}

/** `github__*` for `github__create_issue`: a rule with this name is for all tools of an MCP server. No other tool has `__` in its name. */
function toolsOfServer(tool: string): string {
  const end = tool.indexOf('__')
  return end === -1 ? tool : `${tool.slice(0, end)}__*`
}

/** The rules that match, the deciding one first. */
export function rulesFor(set: RuleSet, facts: CallFacts, agentId: string | null): ReadyRule[] {
  const candidates = candidatesFor(set, facts.tool)
  if (candidates.length === 0) return []
  const call = comparedOf(facts)
  return candidates.filter((rule) => fits(rule, call, agentId) && isBoundTo(rule, facts) && reachesWhatRunsLater(rule, facts))
}

function candidatesFor(set: RuleSet, tool: string): readonly ReadyRule[] {
  return set.ofTool.get(tool) ?? set.ofTool.get(toolsOfServer(tool)) ?? set.ofAny
}

/**
 * What a call that goes through folders may show of their entries, by the rules of all these agents. A rule that matches the call
 * itself was considered when the call was allowed. null: everything, because no ask or deny rule for the tool names a place.
 */
export function scanFilterFor(set: RuleSet, call: CallFacts, agentIds: readonly string[]): ((entry: Entry) => boolean) | null {
  const candidates = candidatesFor(set, call.tool)
  const names = ({ text }: ReadyRule, agentId: string) =>
    text.effect !== 'allow' && (text.folder !== null || text.pattern !== null) && isFor(text, agentId)
  const agents = agentIds.filter((agentId) => candidates.some((rule) => names(rule, agentId)))
  if (agents.length === 0) return null
  const considered = new Map(agents.map((agentId) => [agentId, new Set(rulesFor(set, call, agentId))]))
  return (entry) =>
    agents.every((agentId) => {
      const [first] = rulesFor(set, { ...call, ...entry }, agentId)
      return first === undefined || first.text.effect === 'allow' || considered.get(agentId)!.has(first)
    })
}

type Entry = Pick<CallFacts, 'subject' | 'realSubject' | 'paths'>

/**
 * Folders that a rule denies to every tool of this agent. `isOpened`: a more specific rule does not deny something in it, so each
 * call there is decided separately. `named`: the folders that patterns begin with.
 */
export function deniedFoldersOf({ all, ofAny }: RuleSet, agentId: string, named: readonly NamedFolder[]): DeniedFolder[] {
  const others = all.filter(({ text }) => text.effect !== 'deny' && isFor(text, agentId))
  return ofAny
    .filter(({ text }) => text.effect === 'deny' && isFor(text, agentId))
    .flatMap((rule) =>
      wholeFoldersOf(rule, named).flatMap((path) => {
        const place = folderText(spell(path, 'deny'))
        const opening = others.filter((one) => compareRules(one, rule) < 0 && placesOf(one, named).some((at) => at.startsWith(place)))
        return opening.some((one) => allowsAllOf(one, rule)) ? [] : [{ path, isOpened: opening.length > 0 }]
      }),
    )
}

/** Those in which nothing is open. Tools refuse every path in them, whatever a link or a scan leads to. */
export function closedFoldersOf(set: RuleSet, agentId: string, named: readonly NamedFolder[]): string[] {
  return deniedFoldersOf(set, agentId, named).flatMap(({ path, isOpened }) => (isOpened ? [] : [path]))
}

type DeniedFolder = { path: string; isOpened: boolean }

function isFor({ agentId }: RuleText, agent: string): boolean {
  return agentId === null || agentId === agent
}

/** The folders of which a rule matches every path. */
function wholeFoldersOf({ text: { pattern, folder } }: ReadyRule, named: readonly NamedFolder[]): string[] {
  if (folder !== null) return pattern === null ? [folder] : []
  const [, place] = /^([^*]+)\/\*$/.exec(pattern ?? '') ?? []
  return place === undefined ? [] : pathsOf(place, named)
}

/** What the paths that a rule matches begin with. */
function placesOf({ text: { pattern, folder } }: ReadyRule, named: readonly NamedFolder[]): string[] {
  if (folder !== null) return [folderText(spell(folder, 'deny'))]
  const [start = ''] = (pattern ?? '').split('*')
  return pathsOf(start, named).map((path) => folderText(spell(path, 'deny')).slice(0, start.endsWith('/') ? undefined : -1))
}

function pathsOf(subject: string, named: readonly NamedFolder[]): string[] {
  const [name = '', ...parts] = subject.split('/')
  return named.filter((one) => spell(one.name, 'deny') === spell(name, 'deny')).map(({ path }) => join(path, ...parts))
}

function allowsAllOf({ text }: ReadyRule, { text: { pattern, folder } }: ReadyRule): boolean {
  const isSame = (one: string | null, other: string | null) =>
    one === other || (one !== null && other !== null && spell(one, 'deny') === spell(other, 'deny'))
  return text.effect === 'allow' && text.tool === '*' && isSame(text.pattern, pattern) && isSame(text.folder, folder)
}

/** A folder of an agent, as subjects name it. */
type NamedFolder = { name: string; path: string }

export function compareRules(a: ReadyRule, b: ReadyRule): number {
  return compareSpecificity(b.specificity, a.specificity) || STRICTNESS[b.text.effect] - STRICTNESS[a.text.effect]
}

export function compareSpecificity(a: readonly number[], b: readonly number[]): number {
  for (const [i, part] of a.entries()) if (part !== b[i]) return part - b[i]!
  return 0
}

function readyRule(rule: Rule | RuleText): ReadyRule {
  const { effect, tool, pattern, agentId, folder, digest } = rule
  const parsed = pattern === null ? null : parsePattern(spell(pattern, effect))
  const place = folder === null ? null : folderText(spell(folder, effect))
  return {
    id: 'id' in rule ? rule.id : null,
    text: { effect, tool, pattern, agentId, folder, ...(digest === undefined ? {} : { digest }) },
    pattern: parsed,
    folder: place,
    specificity: [
      parsed === null ? 0 : parsed.literals + 1,
      parsed !== null && parsed.pieces.length === 1 ? 1 : 0,
      place === null ? 0 : place.split('/').length,
      tool === '*' ? 0 : tool === toolsOfServer(tool) && tool.endsWith('__*') ? 0.5 : 1,
      agentId === null ? 0 : 1,
    ],
  }
}

type Compared = { exact: Spelled; folded: Spelled }
type Spelled = { subjects: readonly string[]; paths: readonly string[] }

function comparedOf({ subject, realSubject = subject, alsoSubjects = [], paths }: CallFacts): Compared {
  const spelled = (effect: RuleEffect): Spelled => ({
    subjects: [subject, realSubject, ...(effect === 'allow' ? [] : alsoSubjects)].map((one) => spell(one, effect)),
    paths: paths.map((path) => folderText(spell(path, effect))),
  })
  return { exact: spelled('allow'), folded: spelled('deny') }
}

/**
 * An allow rule must match exactly and for every path. An ask or deny rule ignores case and matches if one of several paths
 * does, so that it also stops a move out of its folder and a way through a link.
 */
function fits({ text, pattern, folder }: ReadyRule, call: Compared, agentId: string | null): boolean {
  if (text.agentId !== null && text.agentId !== agentId) return false
  const { subjects, paths } = text.effect === 'allow' ? call.exact : call.folded
  if (folder !== null) {
    if (paths.length === 0) return false
    const inside = (path: string) => path.startsWith(folder) && !path.includes('/../')
    if (!(text.effect === 'allow' ? paths.every(inside) : paths.some(inside))) return false
  }
  if (pattern === null) return true
  const matches = (subject: string) => matchesPattern(pattern, subject)
  return text.effect === 'allow' ? subjects.every(matches) : subjects.some(matches)
}

function isBoundTo({ text: { digest } }: ReadyRule, facts: CallFacts): boolean {
  return digest === undefined || (facts.runsUnnamed !== true && digest === digestOfCommand(facts))
}

/**
 * An allow rule for a folder covers its ordinary files. A file that runs later needs a rule that names the file or its
 * protected place; otherwise the agent's autonomy decides.
 */
function reachesWhatRunsLater({ text: { effect, folder }, pattern }: ReadyRule, { runsLater, paths }: CallFacts): boolean {
  if (effect !== 'allow' || runsLater !== true) return true
  if (pattern !== null && pattern.pieces.length === 1) return true
  return folder !== null && paths.length > 0 && codePlaceOf(folder) !== null
}

/** Unicode has several spellings of the same letters, which on macOS name the same file. */
function spell(text: string, effect: RuleEffect): string {
  const normal = text.normalize('NFC')
  return effect === 'allow' ? normal : normal.toLowerCase()
}

/** With forward slashes and one at the end, so that `/home/ada` does not contain `/home/adam`. */
function folderText(path: string): string {
  const slashed = /^([a-z]:|\\\\)/i.test(path) ? path.replaceAll('\\', '/') : path
  return slashed.endsWith('/') ? slashed : `${slashed}/`
}
