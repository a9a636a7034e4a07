import { NO_TAINTS, type CallFacts, type RuleText } from '../../src-runner/contract/rules.ts'
import { decide, type Situation } from '../../src-runner/domain/approvals/policy.ts'
import { createRuleSet } from '../../src-runner/domain/rules/rule-set.ts'
import { median, spread } from './processes.ts'

const ROUNDS = 30
const DECISIONS = 2_000
const AGENT = '019a0000-0000-7000-8000-00000000000a'

/** The decision about one tool call with 0, 100 and 1,000 rules, beside the least that any rules cost: a loop over them. */
export async function benchPolicy(): Promise<void> {
  console.log(`\nDeciding about a tool call (${ROUNDS} rounds of ${DECISIONS} decisions)`)
  console.log('rules | of them for the tool | µs per decision | µs for a loop over the rules')
  for (const [count, ofTool] of [
    [0, 0],
    [100, 100],
    [1000, 100],
    [1000, 1000],
  ] as const) {
    const rules = Array.from({ length: count }, (_, n) => ruleNumber(n, n < ofTool))
    const situation = situationWith(rules)
    const took: number[] = []
    const loop: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      took.push(timed(() => decide(situation).verdict.length))
      loop.push(timed(() => rules.reduce((sum, rule) => sum + (rule.pattern === situation.facts.subject ? 1 : 0), 0)))
    }
    console.log(`${count} | ${ofTool} | ${spread(took.slice(5), 1)} | ${median(loop.slice(5)).toFixed(1)}`)
  }
  await Promise.resolve()
}

/** Microseconds for one, over many. */
function timed(work: () => number): number {
  let sum = 0
  const startedAt = performance.now()
  for (let n = 0; n < DECISIONS; n++) sum += work()
  const us = ((performance.now() - startedAt) * 1000) / DECISIONS
  if (sum < 0) throw new Error('unreachable')
  return us
}

function ruleNumber(n: number, ofTool: boolean): RuleText {
  return {
    effect: (['allow', 'ask', 'deny'] as const)[n % 3]!,
    tool: ofTool ? (n % 5 === 0 ? '*' : 'write_file') : `tool_${n}`,
    pattern: n % 2 === 0 ? `Documents/folder ${n}/*.md` : null,
    agentId: n % 4 === 0 ? AGENT : null,
    folder: n % 2 === 1 ? `/home/ada/Documents/folder ${n}` : null,
  }
}

function situationWith(rules: readonly RuleText[]): Situation {
  const facts: CallFacts = {
    tool: 'write_file',
    effect: 'idempotent',
    subject: 'Documents/folder 500/plans/may.md',
    summary: 'Write it',
    paths: ['/home/ada/Documents/folder 500/plans/may.md'],
    leavesMachine: false,
    costsMoney: false,
    deletes: false,
    overwrites: true,
    runsCode: false,
  }
  return {
    facts,
    autonomy: 'ask_when_it_matters',
    agentId: AGENT,
    taints: NO_TAINTS,
    pauseAll: false,
    grants: new Map(),
    rules: createRuleSet(rules),
    guardrails: { closedFolders: ['/home/ada/.config/Deckhand'], ownPorts: [3000, 3001] },
  }
}
