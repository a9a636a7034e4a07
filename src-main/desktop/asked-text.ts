import type { Asked } from '../../src-runner/contract/approvals.ts'
import { moneyText } from '../../src-renderer/kit/numbers.ts'
import { effectText } from '../../src-renderer/kit/words/telling.ts'
import type { Speech } from './speech.ts'

/** What an approval asks, in one line. */
export function askedText(asked: Asked, { words, locale }: Speech): string {
  const text = words.desktop.asked
  switch (asked.code) {
    case 'call':
      return effectText({ effectOn: asked.effect, summary: '' }, words, locale)
    case 'outcome':
      return asked.tool === null ? text.anyOutcome : text.outcome(asked.tool)
    case 'money': {
      const { scope, extensionUsd, limitUsd } = asked.budget
      return text.money[scope](moneyText(extensionUsd, locale), moneyText(limitUsd, locale))
    }
  }
}
