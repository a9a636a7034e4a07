import { describeRule, type RuleText } from '../../../src-runner/contract/rules.ts'
import { messageText } from '../../lib/message-text.ts'

/** A rule as a sentence, without whom it is for. */
export function ruleSentence(rule: RuleText): string {
  return messageText(describeRule(rule, 'none'))
}

/** The same with the agents that the rule applies to. */
export function wholeRuleSentence(rule: RuleText, agentName: string): string {
  return messageText(describeRule(rule, rule.agentId === null ? 'everyone' : { agent: agentName }))
}
