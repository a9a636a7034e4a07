import { COMMAND_NETWORK, type RuleText } from '../../../src-runner/contract/rules.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'

/** Whom the sentence names. `none`: its place on the screen already says so. */
export type RuleScope = 'none' | 'everyone' | 'thisAgent' | { agent: string }

/** A rule as a sentence. */
export function ruleSentence(rule: RuleText, scope: RuleScope = 'none'): string {
  return t('rules.sentence', {
    effect: rule.effect,
    tool: rule.tool === '*' ? t('rules.allTools') : rule.tool === COMMAND_NETWORK ? t('rules.programNetwork') : rule.tool,
    hasPattern: rule.pattern === null ? 'no' : 'yes',
    pattern: visibleText(rule.pattern ?? ''),
    hasFolder: rule.folder === null ? 'no' : 'yes',
    folder: visibleText(rule.folder ?? ''),
    isPinned: rule.digest === undefined ? 'no' : 'yes',
    scope: typeof scope === 'string' ? scope : 'agent',
    agent: typeof scope === 'string' ? '' : scope.agent,
  })
}

/** The same with the agents that the rule applies to. */
export function wholeRuleSentence(rule: RuleText, agentName: string): string {
  return ruleSentence(rule, rule.agentId === null ? 'everyone' : { agent: agentName })
}
