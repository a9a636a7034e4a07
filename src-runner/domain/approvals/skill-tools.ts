import type { CallFacts } from '../../contract/rules.ts'
import { risksOf } from './call-risks.ts'

/** A skill that a job has read, with the tools that its author lists. */
export type FollowedSkill = { name: string; allowedTools: readonly string[] }

/** How the tools of other programs, for which most skills are written, are called here. */
const KNOWN_AS: Record<string, readonly string[]> = {
  read_file: ['read'],
  list_files: ['ls', 'glob'],
  search_files: ['grep', 'glob'],
  write_file: ['write'],
  edit_file: ['edit', 'multiedit', 'write'],
  run_command: ['bash', 'shell'],
  web_fetch: ['webfetch'],
  web_search: ['websearch'],
  delegate: ['task', 'agent'],
}

/** The first skill whose list lacks this call. null: each list has it, or the call changes nothing and stays on this machine. */
export function skillAgainst(facts: CallFacts, skills: readonly FollowedSkill[]): FollowedSkill | null {
  const changes = facts.effect !== 'read' && facts.paths.length > 0
  if (!changes && facts.delegates !== true && risksOf(facts).length === 0) return null
  return skills.find(({ allowedTools }) => allowedTools.length > 0 && !allowedTools.some((entry) => covers(entry, facts))) ?? null
}

/** `Bash(git add:*)` covers commands that begin with these words. Every other pattern is not understood, so it covers nothing. */
function covers(entry: string, { tool, argv }: CallFacts): boolean {
  const [, name, pattern] = /^([^(]+)(?:\((.*)\))?$/s.exec(entry.trim()) ?? []
  if (name === undefined) return false
  const isTool = name.toLowerCase() === tool.toLowerCase() || (KNOWN_AS[tool]?.includes(name.toLowerCase()) ?? false)
  if (!isTool || pattern === undefined || pattern === '*') return isTool
  if (argv === undefined) return false
  const isPrefix = /:?\*$/.test(pattern)
  const words = pattern.replace(/:?\*$/, '').split(/\s+/).filter((word) => word !== '') // prettier-ignore
  return words.length > 0 && words.every((word, i) => argv[i] === word) && (isPrefix || argv.length === words.length)
}
