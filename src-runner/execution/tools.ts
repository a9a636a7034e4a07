import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import type { GuardedFetch } from '../platform/net/guarded-fetch.ts'
import type { UserToolchain } from '../platform/programs/user-toolchain.ts'
import { COMMAND_NETWORK, type CallFacts } from '../contract/rules.ts'
import type { Settings } from '../contract/settings.ts'
import type { Clock } from '../lib/clock.ts'
import { rulesFor, type RuleSet } from '../domain/rules/rule-set.ts'
import { ALL_TOOLS } from '../agent/tools/all-tools.ts'
import { codeTaskTool, type CodeTaskToolDeps } from '../agent/tools/code-task/code-task.ts'
import { httpRequestTool, type HttpRequestDeps } from '../agent/tools/http-request/http-request.ts'
import { runCommandTool, type RunCommandDeps } from '../agent/tools/run-command/run-command.ts'
import type { Tool } from '../agent/tools/tool.ts'
import { useSkillTool, type SkillsOfAgents } from '../agent/tools/use-skill/use-skill.ts'
import { webFetchTool } from '../agent/tools/web-fetch/web-fetch.ts'
import { createWebSearch } from '../agent/tools/web-search/web-search.ts'

export type ToolsDeps = {
  clock: Clock
  fetch: GuardedFetch
  sandbox: () => Promise<SandboxState>
  programs: (closed: readonly string[]) => Promise<UserToolchain>
  /** Well-known programs, as of the last scan. */
  programNames: () => readonly string[]
  rules: () => RuleSet
  settings: () => Pick<Settings, 'webSearch' | 'openedHosts'>
  connections: Pick<HttpRequestDeps, 'connections' | 'signIn' | 'renew'>
  searchKey: () => Promise<string | null>
  codeTasks: CodeTaskToolDeps
  skills: SkillsOfAgents & RunCommandDeps['skills']
}

/**
 * All tools. Models see them in this order, so a new tool goes to the end, for the providers' caches. A tool that depends on
 * a setting stays the same object while the setting stays the same.
 */
export function createTools(deps: ToolsDeps): () => readonly Tool[] {
  const { clock, fetch, sandbox, programs, programNames, rules, settings, connections, searchKey, skills, codeTasks } = deps
  const useSkill = useSkillTool(skills)
  const codeTask = codeTaskTool(codeTasks)
  const webFetch = webFetchTool({ fetch, clock })
  const httpRequest = httpRequestTool({ fetch, clock, ...connections, openedHosts: () => settings().openedHosts })
  const network: RunCommandDeps['network'] = async ({ agentId, onBehalfOf = [] }, call) =>
    [agentId, ...onBehalfOf].every((one) => isNetworkAllowed(rules(), call, one))
  const runCommand = cacheLast((names: readonly string[]) => runCommandTool({ sandbox, network, programs, skills, names }))
  const webSearch = cacheLast((held: Settings['webSearch']) => {
    return held === null ? [] : [createWebSearch(held, { fetch, apiKey: searchKey })]
  })
  const all = (): readonly Tool[] => [
    ...ALL_TOOLS,
    webFetch,
    runCommand(programNames()),
    ...webSearch(settings().webSearch),
    useSkill,
    httpRequest,
    codeTask,
  ]
  let known: readonly Tool[] = []
  return () => {
    const tools = all()
    if (tools.length !== known.length || tools.some((tool, at) => tool !== known[at])) known = tools
    return known
  }
}

/** Caches the last result. */
function cacheLast<Given, Made>(make: (given: Given) => Made): (given: Given) => Made {
  let known: { key: string; made: Made } | null = null
  return (given) => {
    const key = JSON.stringify(given)
    if (known?.key !== key) known = { key, made: make(given) }
    return known.made
  }
}

/** Only if the most specific matching rule names the network of programs itself. */
function isNetworkAllowed(rules: RuleSet, { subject, paths }: Pick<CallFacts, 'subject' | 'paths'>, agentId: string): boolean {
  const does = { leavesMachine: true, costsMoney: false, deletes: false, overwrites: false, runsCode: true }
  const facts: CallFacts = { tool: COMMAND_NETWORK, effect: 'once', subject, paths: [...paths], summary: '', ...does }
  const [first] = rulesFor(rules, facts, agentId)
  return first?.text.effect === 'allow' && first.text.tool === COMMAND_NETWORK
}
