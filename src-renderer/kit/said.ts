import type { Said } from '../../src-runner/contract/said.ts'
import { visibleText } from './visible-text.ts'
import { words, type Words } from './words/words.ts'

/**
 * A sentence of the runner's in the language of the page. Where it does not say what its sentence says, because somebody else
 * said it or another version did, the sentence itself is shown.
 */
export function saidText(sentence: string | null | undefined, said: Said | undefined, language: Words = words()): string {
  if (said === undefined) return visibleText(sentence ?? '')
  // The catalogue has one for each code, made of exactly its facts.
  const say = language.said[said.code] as ((facts: Said['facts']) => string) | undefined
  if (say === undefined) return visibleText(sentence ?? '')
  const text = visibleText(say(said.facts))
  return [text, ...(said.more ?? []).map((one) => saidText('', one, language))].join(' ')
}
