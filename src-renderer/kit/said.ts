import type { Said } from '../../src-runner/contract/said.ts'
import { saidIn } from './words/telling.ts'
import { words, type Words } from './words/words.ts'

/** A sentence of the runner's in the language of the page. */
export function saidText(sentence: string | null | undefined, said: Said | undefined, language: Words = words()): string {
  return saidIn(language, sentence, said)
}
