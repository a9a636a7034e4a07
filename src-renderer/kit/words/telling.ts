import type { CallEffect, CallFacts } from '../../../src-runner/contract/rules.ts'
import type { Said } from '../../../src-runner/contract/said.ts'
import { bytesText } from '../numbers.ts'
import { visibleText } from '../visible-text.ts'
import type { Words } from './words.ts'

/**
 * A sentence of the runner's in these words. Where it does not say what its sentence says, because somebody else said it or
 * another version did, the sentence itself is shown.
 */
export function saidIn(words: Words, sentence: string | null | undefined, said: Said | undefined): string {
  if (said === undefined) return visibleText(sentence ?? '')
  // The catalogue has one for each code, made of exactly its facts.
  const say = words.said[said.code] as ((facts: Said['facts']) => string) | undefined
  if (say === undefined) return visibleText(sentence ?? '')
  const text = visibleText(say(said.facts))
  return [text, ...(said.more ?? []).map((one) => saidIn(words, '', one))].join(' ')
}

/** What a call would do, in one line. */
export function effectText({ effectOn, summary }: Pick<CallFacts, 'effectOn' | 'summary'>, words: Words, locale: string): string {
  if (effectOn === undefined) return visibleText(summary)
  const size = (bytes: number | null) => (bytes === null ? '' : bytesText(bytes, locale))
  const facts: Record<string, unknown> = { ...effectOn }
  if ('bytes' in effectOn) facts['bytes'] = size(effectOn.bytes)
  if ('newBytes' in effectOn) facts['newBytes'] = size(effectOn.newBytes)
  facts['why'] = effectOn.code === 'run' && effectOn.why !== undefined ? saidIn(words, '', effectOn.why) : ''
  const say = words.policy.effects[effectOn.code] as (facts: Record<string, unknown>) => string
  return visibleText(`${say(facts)}${isLost(effectOn) ? words.policy.lost : ''}`)
}

function isLost(effect: CallEffect): boolean {
  return 'lost' in effect && effect.lost
}
