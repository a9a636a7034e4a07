import type { CallMatter, Mark, Voice, VoiceReason } from '../../src-runner/contract/rules.ts'
import { visibleText } from '../kit/visible-text.ts'
import type { Words } from '../kit/words/words.ts'
import { ruleSentence } from '../rules/rule-sentence.ts'

/** What a voice of a decision says. */
export function voiceText(
  { reason, text, onBehalfOf }: Pick<Voice, 'reason' | 'text' | 'onBehalfOf'>,
  words: Words,
  locale: string,
): string {
  if (reason === undefined) return visibleText(text)
  const facts = {
    untrusted: 'untrusted' in reason ? causeText(reason.untrusted, words) : '',
    private: 'private' in reason ? causeText(reason.private, words) : '',
    tool: 'tool' in reason ? reason.tool : '',
    rule: reason.code === 'rule' ? ruleOf(reason, words) : '',
    change: 'change' in reason ? words.policy.changes[reason.change] : '',
    matters: 'matters' in reason ? mattersText(reason.matters, words, locale) : '',
  }
  const said = words.policy.voices[reason.code](facts)
  return visibleText(onBehalfOf === undefined ? said : words.policy.onBehalfOf({ agent: onBehalfOf, said }))
}

function ruleOf({ rule }: Extract<VoiceReason, { code: 'rule' }>, words: Words): string {
  const { everyone, thisAgent } = words.rules.sentence
  return `${ruleSentence(rule, words)}${rule.agentId === null ? everyone : thisAgent}`
}

function mattersText(matters: readonly CallMatter[], words: Words, locale: string): string {
  return new Intl.ListFormat(locale).format(matters.map((matter) => words.policy.matters[matter]))
}

/** What set a mark. */
export function causeText({ about, cause }: Mark, words: Words): string {
  if (about === undefined) return visibleText(cause)
  const facts = {
    tool: 'tool' in about ? about.tool : '',
    channel: about.code === 'started_by' ? words.common.channel[about.channel] : '',
  }
  return visibleText(words.policy.causes[about.code](facts))
}
