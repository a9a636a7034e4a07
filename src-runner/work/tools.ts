import type { BoxState } from '../base/box/box-types.ts'
import type { GuardedFetch } from '../base/net/guarded-fetch.ts'
import type { OwnPrograms } from '../base/programs/own-programs.ts'
import { COMMAND_NETWORK, type CallFacts } from '../contract/rules.ts'
import type { Settings } from '../contract/settings.ts'
import type { Clock } from '../kit/clock.ts'
import { rulesFor, type RuleSet } from '../records/rules/rule-set.ts'
import { ALL_TOOLS } from '../thinking/tools/all-tools.ts'
import { runCommandTool, type RunCommandDeps } from '../thinking/tools/run-command/run-command.ts'
import type { Tool } from '../thinking/tools/tool.ts'
import { webFetchTool } from '../thinking/tools/web-fetch/web-fetch.ts'
import { createWebSearch } from '../thinking/tools/web-search/web-search.ts'

export type ToolsDeps = {
  clock: Clock
  /** The one way out for addresses that somebody else may have chosen. */
  fetch: GuardedFetch
  box: () => Promise<BoxState>
  programs: (closed: readonly string[]) => Promise<OwnPrograms>
  /** The well-known ones of them, as they were last seen. */
  programNames: () => readonly string[]
  rules: () => RuleSet
  settings: () => Pick<Settings, 'webSearch'>
  /** The key of the provider of web search. */
  searchKey: () => Promise<string | null>
}

/**
 * Every tool that agents have: those that need nothing, then those that are put together here, one line each. The order
 * is the one models see; a new tool goes to the end, for their caches. Asked anew for each attempt: what depends on a
 * setting is there or not, and stays the same tool as long as the setting is the same.
 */
export function createTools(deps: ToolsDeps): () => readonly Tool[] {
  const { clock, fetch, box, programs, programNames, rules, settings, searchKey } = deps
  const webFetch = webFetchTool({ fetch, clock }) // what the web says
  const network: RunCommandDeps['network'] = async ({ agentId, onBehalfOf = [] }, call) =>
    [agentId, ...onBehalfOf].every((one) => isNetworkAllowed(rules(), call, one))
  const runCommand = whileSame((names: readonly string[]) => runCommandTool({ box, network, programs, names })) // what programs do
  const webSearch = whileSame((held: Settings['webSearch']) => {
    return held === null ? [] : [createWebSearch(configOf(held), { fetch, apiKey: searchKey })] // where to look
  })
  const all = (): readonly Tool[] => [...ALL_TOOLS, webFetch, runCommand(programNames()), ...webSearch(settings().webSearch)]
  let known: readonly Tool[] = []
  return () => {
    const tools = all()
    if (tools.length !== known.length || tools.some((tool, at) => tool !== known[at])) known = tools
    return known
  }
}

/** Makes a thing anew only when what it is made of differs. */
function whileSame<Given, Made>(make: (given: Given) => Made): (given: Given) => Made {
  let known: { key: string; made: Made } | null = null
  return (given) => {
    const key = JSON.stringify(given)
    if (known?.key !== key) known = { key, made: make(given) }
    return known.made
  }
}

function configOf({ kind, baseUrl, hasKey }: NonNullable<Settings['webSearch']>) {
  return baseUrl === null ? { kind, hasKey } : { kind, baseUrl, hasKey }
}

/** Shut unless the most specific rule that fits says otherwise and names the network of programs itself. */
function isNetworkAllowed(rules: RuleSet, { subject, paths }: Pick<CallFacts, 'subject' | 'paths'>, agentId: string): boolean {
  const does = { leavesMachine: true, costsMoney: false, deletes: false, overwrites: false, runsCode: true }
  const facts: CallFacts = { tool: COMMAND_NETWORK, effect: 'once', subject, paths: [...paths], summary: '', ...does }
  const [first] = rulesFor(rules, facts, agentId)
  return first?.text.effect === 'allow' && first.text.tool === COMMAND_NETWORK
}
