import type { Autonomy } from '../../contract/agents.ts'
import type { CallFacts, CallMatter, Decision, Marks, RuleText, Voice, VoiceReason } from '../../contract/rules.ts'
import { compareSpecificity, rulesFor, type ReadyRule, type RuleSet } from '../rules/rule-set.ts'
import type { ChainLink } from './chain.ts'
import { mattersOf } from './matters.ts'
import { FLOOR_OBJECTIONS, floorObjection, type FloorPlace } from './floor.ts'

/** A tool that is allowed for the rest of a job may not do more by that than the person was shown. */
export type Grants = ReadonlyMap<string, ReadonlySet<CallMatter>>

/** Everything that a decision depends on. What the model says is not in it. */
export type Situation = {
  facts: CallFacts
  autonomy: Autonomy
  /** null: a call of nobody in particular, for the simulator. */
  agentId: string | null
  rules: RuleSet
  marks: Marks
  /** The emergency brake is on. */
  brake: boolean
  /** Tools that the person allowed for the rest of this job, each with what mattered about the calls that were shown. */
  grants: Grants
  floor: FloorPlace
}

/**
 * Whether one call runs, asks or is refused. The strongest voice decides: the floor; a deny by the most specific rule; the
 * brake; two of three; a file that runs later, in a job with words of strangers; a program without a box; the most specific rule or the grant of the job; the agent's level.
 */
export function decide(situation: Situation): Decision {
  const voices = voicesOf(situation)
  const [decidedBy, ...others] = voices
  return { verdict: decidedBy!.verdict, decidedBy: decidedBy!, overruled: others.filter((voice) => voice.verdict !== decidedBy!.verdict) }
}

const STRICTNESS: Record<Voice['verdict'], number> = { run: 0, ask: 1, deny: 2 }

/**
 * The decision about a call of a delegated job: it runs only if it would also run for every agent that handed the work
 * on. So a stricter level, and a rule that asks or denies, hold for the whole chain; a rule that allows something to one
 * agent does not lift what another agent of the chain has to ask. What a person granted to this job holds for all.
 */
export function decideInChain(situation: Situation, above: readonly ChainLink[]): Decision {
  return above.reduce((strictest, { agentId, agentName, autonomy }) => {
    const { verdict, decidedBy, overruled } = decide({ ...situation, agentId, autonomy })
    if (STRICTNESS[verdict] <= STRICTNESS[strictest.verdict]) return strictest
    const voice = { ...decidedBy, onBehalfOf: agentName, text: `For ${agentName}, which handed this work on: ${decidedBy.text}` }
    return { verdict, decidedBy: voice, overruled: [strictest.decidedBy, ...overruled] }
  }, decide(situation))
}

/** Everybody who has something to say, the strongest first. The level always has: the list is never empty. */
function voicesOf(situation: Situation): Voice[] {
  const { facts, agentId, rules, floor } = situation
  const objection = floorObjection(facts, floor)
  const fitting = rulesFor(rules, facts, agentId)
  const [first, ...rest] = fitting
  const denies = first?.text.effect === 'deny'
  const said: (Voice | null)[] = [
    objection === null
      ? null
      : { source: 'floor', verdict: 'deny', ruleId: null, text: FLOOR_OBJECTIONS[objection], reason: { code: objection } },
    denies ? voiceOfRule(first) : null,
    situation.brake ? BRAKE : null,
    twoOfThree(situation),
    wordsOfStrangers(situation),
    facts.runsCode && facts.boxed === false ? NO_BOX : null,
    ...(first === undefined || denies ? [voiceOfGrant(situation)] : inOrder(voiceOfRule(first), first, voiceOfGrant(situation))),
    ...rest.map(voiceOfRule),
    voiceOfLevel(situation),
  ]
  return said.filter((voice) => voice !== null)
}

const BRAKE: Voice = {
  source: 'brake',
  verdict: 'ask',
  ruleId: null,
  text: 'The emergency brake is on, so every call is asked.',
  reason: { code: 'brake' },
}

const NO_BOX: Voice = {
  source: 'box',
  verdict: 'ask',
  ruleId: null,
  text: 'This machine has no box that could hold the program, so running it is asked every time.',
  reason: { code: 'no_box' },
}

/**
 * May hold at most two of: untrusted text, private data, an effect outside. The third is for a person to allow. A program
 * with a network holds two by itself: it reads what is in its folder and sends, in one and the same call.
 */
function twoOfThree({ facts, marks }: Situation): Voice | null {
  if (!facts.leavesMachine || marks.untrusted === null) return null
  const untrusted = `text that anybody may have written (${marks.untrusted.cause})`
  const ask = (reason: VoiceReason, text: string): Voice => ({ source: 'two_of_three', verdict: 'ask', ruleId: null, text, reason })
  if (marks.private !== null)
    return ask(
      { code: 'untrusted_and_private', untrusted: marks.untrusted, private: marks.private },
      `The job has read private data (${marks.private.cause}) and ${untrusted}, so nothing leaves this machine unasked.`,
    )
  if (!facts.runsCode) return null
  return ask(
    { code: 'untrusted_and_program', untrusted: marks.untrusted },
    `The job has read ${untrusted}, and a program with a network can send what it finds in its folder, so it does not run unasked.`,
  )
}

/**
 * Text of strangers must never become code. A program runs in a box; a file that the person's own git, shell or editor runs
 * does not, so no level, rule or grant lets a job write one unasked once it has seen such text.
 */
function wordsOfStrangers({ facts, marks }: Situation): Voice | null {
  if (facts.runsLater !== true || marks.untrusted === null) return null
  return {
    source: 'two_of_three',
    verdict: 'ask',
    ruleId: null,
    text: `The job has read text that anybody may have written (${marks.untrusted.cause}), and this file runs by itself later, so it is not changed unasked.`,
    reason: { code: 'untrusted_and_later', untrusted: marks.untrusted },
  }
}

/** A grant stands like an allow rule for the tool, of this job: more than one for the agent, less than a pattern or a folder. */
const GRANT_SPECIFICITY = [0, 0, 0, 1, 2]

function voiceOfGrant({ facts, grants }: Situation): Voice | null {
  const granted = grants.get(facts.tool)
  if (granted === undefined || !mattersOf(facts).every((matter) => granted.has(matter))) return null
  return {
    source: 'grant',
    verdict: 'run',
    ruleId: null,
    text: `You allowed ${facts.tool} for the rest of this job.`,
    reason: { code: 'grant', tool: facts.tool },
  }
}

function inOrder(rule: Voice, ready: ReadyRule, grant: Voice | null): Voice[] {
  if (grant === null) return [rule]
  return compareSpecificity(GRANT_SPECIFICITY, ready.specificity) > 0 ? [grant, rule] : [rule, grant]
}

const VERDICTS = { allow: 'run', ask: 'ask', deny: 'deny' } as const

function voiceOfRule({ id, text }: ReadyRule): Voice {
  const { effect, tool, pattern, agentId, folder, digest } = text
  return {
    source: 'rule',
    verdict: VERDICTS[effect],
    ruleId: id,
    text: `The rule: ${describeRule(text)}`,
    reason: { code: 'rule', rule: { effect, tool, pattern, agentId, folder, ...(digest === undefined ? {} : { digest }) } },
  }
}

/** "Deny write_file on `Documents/*` in /home/ada for one agent." */
export function describeRule({ effect, tool, pattern, folder, agentId }: RuleText): string {
  const verb = { allow: 'Allow', ask: 'Ask before', deny: 'Deny' }[effect]
  const what = tool === '*' ? 'every tool' : tool
  const on = pattern === null ? '' : ` on ${pattern}`
  const where = folder === null ? '' : ` in ${folder}`
  return `${verb} ${what}${on}${where}, for ${agentId === null ? 'every agent' : 'this agent'}.`
}

function voiceOfLevel({ facts, autonomy, marks }: Situation): Voice {
  const matters = mattersOf(facts)
  const because = matters.length === 0 ? '' : ` It ${joinWords(matters.map((matter) => MATTERS[matter]))}.`
  const level = (verdict: Voice['verdict'], reason: VoiceReason, text: string): Voice => {
    return { source: 'level', verdict, ruleId: null, text, reason }
  }
  if (facts.delegates === true && marks.untrusted !== null)
    return level(
      'ask',
      { code: 'untrusted_delegation', untrusted: marks.untrusted },
      `The job has read text that anybody may have written (${marks.untrusted.cause}), so it hands no work on without asking.`,
    )
  switch (autonomy) {
    case 'on_its_own':
      return level('run', { code: 'on_its_own' }, 'The agent works on its own: only rules stop it.')
    case 'ask_first':
      if (facts.effect === 'read' && matters.length === 0)
        return level('run', { code: 'only_reads' }, 'The agent asks first, and this call only reads.')
      return level('ask', { code: 'asks_first', matters }, `The agent asks first, before every call that does more than read.${because}`)
    case 'ask_when_it_matters':
      if (matters.length === 0)
        return level('run', { code: 'nothing_matters' }, 'The agent asks when it matters, and nothing about this call does.')
      return level('ask', { code: 'it_matters', matters }, `The agent asks when it matters.${because}`)
  }
}

const MATTERS: Record<CallMatter, string> = {
  leaves_machine: 'sends something out of this machine',
  costs_money: 'costs money',
  deletes: 'deletes something',
  overwrites: 'overwrites something that the agent did not write',
  runs_code: 'runs a program',
  runs_later: 'changes a file that runs by itself later',
}

function joinWords(words: readonly string[]): string {
  return words.length <= 1 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`
}
