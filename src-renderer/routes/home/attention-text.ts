import type { AttentionItem } from '../../../src-runner/contract/notifications.ts'
import { moneyText } from '../../kit/numbers.ts'
import { saidText } from '../../kit/said.ts'
import { visibleText } from '../../kit/visible-text.ts'
import type { Words } from '../../kit/words/words.ts'

/** What needs the person, and why. */
export function attentionText(
  { about, title, detail, detailSaid }: AttentionItem,
  words: Words,
  locale: string,
): { title: string; why: string } {
  if (about === undefined) return { title: visibleText(title), why: saidText(detail, detailSaid, words) }
  if (about.kind === 'database_trouble') {
    const { title: what, detail: why, fix } = words.databaseTrouble[about.trouble]
    return { title: what, why: `${why} ${fix}` }
  }
  const facts = {
    ...about,
    why: about.kind === 'delivery_refused' ? words.automations.webhook.outcomeWhy[about.outcome] : saidText(detail, detailSaid, words),
    money: about.kind === 'budget_exhausted' ? moneyText(about.budgetUsd, locale) : '',
  }
  // Each kind has sentences that are made of exactly its facts.
  const say = words.attention[about.kind] as Record<'title' | 'detail', (given: typeof facts) => string>
  return { title: visibleText(say.title(facts)), why: visibleText(say.detail(facts)) }
}
