import type { Approval, Asked } from '../../contract/approvals.ts'
import type { CallEffect } from '../../contract/rules.ts'

/** No menu and no notification shows more of one fact. */
const FACT_CHARS = 300

/** What an approval asks, small enough to be sent with each change. `{}`: it is in the words of whoever asks. */
export function askedOf({ kind, facts, budget, tool, question }: Approval): { asked?: Asked } {
  if (budget !== null) return { asked: { code: 'money', budget } }
  if (question !== null) return {}
  if (kind === 'unknown_outcome') return { asked: { code: 'outcome', tool } }
  return facts?.effectOn === undefined ? {} : { asked: { code: 'call', effect: shortened(facts.effectOn) } }
}

function shortened(effect: CallEffect): CallEffect {
  const facts = Object.entries(effect).map(([name, fact]) => [name, typeof fact === 'string' ? cut(fact) : (fact as unknown)])
  return Object.fromEntries(facts) as CallEffect
}

function cut(text: string): string {
  return text.length <= FACT_CHARS ? text : `${text.slice(0, FACT_CHARS).toWellFormed()}…`
}
