import { posix, win32 } from 'node:path'
import { CONNECTED_READ, type CallFacts, type RuleText } from '../contract/rules.ts'
import { digestOfCommand } from '../domain/rules/call-hash.ts'

/** The rules to offer for "always": the first one of them that lets the call run. */
export function narrowRulesFor(facts: CallFacts, agentId: string): RuleText[] {
  const { readsFrom, subject } = facts
  const narrowest = narrowestRuleFor(facts, agentId)
  const readings: RuleText[] = []
  if (readsFrom !== undefined) {
    const [method] = subject.split(' ')
    readings.push({ effect: 'allow', tool: CONNECTED_READ, agentId, pattern: `${method} ${readsFrom}/*`, folder: null })
  }
  return narrowest === null ? readings : [...readings, narrowest]
}

/**
 * The narrowest useful rule for "always": the host of an address, the exact command in this folder with these scripts, the
 * folder of files, else exactly this call. null: every rule would allow more, as for a file that runs later or is not named,
 * whose next content nobody has seen, or for a call whose subject does not say everything.
 */
export function narrowestRuleFor(facts: CallFacts, agentId: string): RuleText | null {
  const rule = { effect: 'allow', tool: facts.tool, agentId, pattern: null, folder: null } as const
  if (facts.runsLater === true || facts.runsUnnamed === true || facts.subjectOmits === true) return null
  if (facts.runsCode) {
    const [folder = null] = facts.paths
    const command = patternRule({ ...rule, folder }, facts.subject)
    return command === null || facts.argv === undefined ? command : { ...command, digest: digestOfCommand(facts) }
  }
  const address = URL.canParse(facts.subject) ? new URL(facts.subject) : null
  if (address !== null && /^https?:$/.test(address.protocol) && facts.subject.startsWith(`${address.origin}/`)) {
    return { ...rule, pattern: `${address.origin}/*` }
  }
  if (facts.paths.length > 0) {
    const folder = commonFolderOf(facts.paths)
    return folder === null ? null : { ...rule, folder }
  }
  return patternRule(rule, facts.subject)
}

function patternRule(rule: RuleText, subject: string): RuleText | null {
  const isExact = subject !== '' && !subject.includes('*') && subject.length <= 2000
  return isExact ? { ...rule, pattern: subject } : null
}

function commonFolderOf(paths: readonly string[]): string | null {
  const path = paths.every((one) => /^([a-z]:|\\\\)/i.test(one)) ? win32 : posix
  const isIn = (folder: string) => (one: string) => path.dirname(one) === folder || path.dirname(one).startsWith(folder + path.sep)
  let folder = path.dirname(paths[0]!)
  while (!paths.every(isIn(folder)) && folder !== path.dirname(folder)) folder = path.dirname(folder)
  return folder === path.dirname(folder) || folder === '.' ? null : folder
}
