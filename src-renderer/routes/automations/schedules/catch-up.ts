import type { Words } from '../../../kit/words/words.ts'

/** How old a missed due time may be, in words: as something to choose, or as a fact. */
export function catchUpText(hours: number, as: 'choice' | 'fact', words: Words): string {
  const text = words.automations.schedule
  const isChoice = as === 'choice'
  if (hours === 0) return isChoice ? text.catchUpNever : text.catchUpFactNever
  if (hours % 24 === 0) return (isChoice ? text.catchUpDays : text.catchUpFactDays)(hours / 24)
  return (isChoice ? text.catchUpHours : text.catchUpFactHours)(hours)
}
