import { COMMAND_NETWORK, type RuleText } from '../../src-runner/contract/rules.ts'
import { visibleText } from '../kit/visible-text.ts'
import type { Words } from '../kit/words/words.ts'

/** A rule as a person would say it. `agentName` null: it is not named, because the place says whom the rule is for. */
export function ruleSentence(rule: RuleText, words: Words, agentName: string | null = null): string {
  const text = words.rules.sentence
  const tool = rule.tool === '*' ? text.anything : rule.tool === COMMAND_NETWORK ? text.network : rule.tool
  const about = rule.pattern === null ? '' : text.about(visibleText(rule.pattern))
  const folder = rule.folder === null ? '' : text.folder(visibleText(rule.folder))
  const bound = rule.digest === undefined ? '' : text.unchanged
  return `${text[rule.effect](tool)}${about}${folder}${bound}${agentName === null ? '' : text.agent(agentName)}`
}

/** The same, saying also whom it is for. */
export function wholeRuleSentence(rule: RuleText, words: Words, agentName: string): string {
  return rule.agentId === null ? `${ruleSentence(rule, words)}${words.rules.sentence.everyone}` : ruleSentence(rule, words, agentName)
}
