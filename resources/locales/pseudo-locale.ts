import { IntlMessageFormat } from 'intl-messageformat'
import { createTranslate, type Catalogue, type Translate } from './translate.ts'

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

const ACCENTED: Record<string, string> = Object.fromEntries(
  [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter, at) => [
    letter,
    [...'àƀçđéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýžÀƁÇĐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽ'][at]!,
  ]),
)
const FILLER = 'öñé ţŵö ţĥŕéé ƒöûŕ ƒîṽé šîẋ šéṽéñ éîĝĥţ ñîñé ţéñ '
const LONGER_BY = 0.4

/**
 * Returns the English texts with accents, in brackets and 40 % longer. A text on a screen without brackets is not from the
 * catalogue, and a layout that breaks would break in a longer language.
 */
export function createPseudoTranslate(english: Catalogue): Translate {
  return createTranslate('en', english, (elements) => {
    const missing = Math.ceil(lengthOf(elements) * LONGER_BY)
    const filler = FILLER.repeat(Math.ceil(missing / FILLER.length))
      .slice(0, missing)
      .trimEnd()
    return [literal('['), ...elements.map(accent), literal(filler === '' ? ']' : ` ${filler}]`)]
  })
}

const literal = (value: string): Element => ({ type: 0, value })

function isLiteral(element: Element): element is Extract<Element, { type: 0 }> {
  return element.type === literal('').type
}

function accent(element: Element): Element {
  if (isLiteral(element)) return { ...element, value: [...element.value].map((letter) => ACCENTED[letter] ?? letter).join('') }
  if (!('options' in element)) return element
  const options = Object.entries(element.options).map(([name, { value }]) => [name, { value: value.map(accent) }] as const)
  return { ...element, options: Object.fromEntries(options) }
}

/** Counts the letters of a text, and of its longest variant where it has several. */
function lengthOf(elements: readonly Element[]): number {
  const lengths = elements.map((element) => {
    if (isLiteral(element)) return element.value.length
    return 'options' in element ? Math.max(...Object.values(element.options).map(({ value }) => lengthOf(value))) : 0
  })
  return lengths.reduce((sum, length) => sum + length, 0)
}
