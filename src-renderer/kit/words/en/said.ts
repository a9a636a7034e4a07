import { isServiceName } from '../../../../src-runner/contract/channels.ts'
import { SAID_CODES, SENTENCES, type Facts } from '../../../../src-runner/contract/said.ts'
import { moneyText } from '../../numbers.ts'
import type { SaidWords } from '../sentences.ts'

/** English is what the runner itself speaks. */
export const said = Object.fromEntries(
  SAID_CODES.map((code) => [code, (facts: Facts<typeof code>) => filled(SENTENCES[code], facts)]),
) as SaidWords

function filled(sentence: string, facts: Record<string, string | number>): string {
  return sentence.replace(/(\$?)\{(\w+)([#@]?)\}/g, (_, dollar: string, name: string, kind: string) => {
    const fact = facts[name] ?? ''
    if (dollar !== '') return moneyText(Number(fact), 'en')
    return kind === '@' && !isServiceName(String(fact)) ? `The server at ${fact}` : String(fact)
  })
}
