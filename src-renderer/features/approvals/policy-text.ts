import type { CallRisk, TaintSource, TraceEntry, TraceReason } from '../../../src-runner/contract/rules.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t, words } from '../../lib/language.ts'
import { ruleSentence } from '../rules/rule-sentence.ts'

/** What a voice of a decision says. */
export function traceEntryText({ reason, text, onBehalfOf }: Pick<TraceEntry, 'reason' | 'text' | 'onBehalfOf'>, locale: string): string {
  if (reason === undefined) return visibleText(text)
  const facts = {
    untrusted: 'untrusted' in reason ? causeText(reason.untrusted) : '',
    private: 'private' in reason ? causeText(reason.private) : '',
    tool: 'tool' in reason ? reason.tool : '',
    rule: reason.code === 'rule' ? ruleOf(reason) : '',
    change: 'change' in reason ? words().policy.changes[reason.change] : '',
    matters: 'matters' in reason ? mattersText(reason.matters, locale) : '',
  }
  const said = words().policy.trace[reason.code](facts)
  return visibleText(onBehalfOf === undefined ? said : words().policy.onBehalfOf({ agent: onBehalfOf, said }))
}

function ruleOf({ rule }: Extract<TraceReason, { code: 'rule' }>): string {
  return ruleSentence(rule, rule.agentId === null ? 'everyone' : 'thisAgent')
}

function mattersText(matters: readonly CallRisk[], locale: string): string {
  return new Intl.ListFormat(locale).format(matters.map((matter) => words().policy.matters[matter]))
}

/** What set a mark. */
export function causeText({ about, cause }: TaintSource): string {
  if (about === undefined) return visibleText(cause)
  const facts = {
    tool: 'tool' in about ? about.tool : '',
    channel: about.code === 'started_by' ? t(`common.channel.${about.channel}`) : '',
  }
  return visibleText(words().policy.causes[about.code](facts))
}
