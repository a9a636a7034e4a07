import type { Translate } from '../../../resources/locales/translate.ts'
import { formatMarkdown, type FormattedText } from './formatted-text.ts'
import type { TextFormat } from './message-parts.ts'
import { splitText } from './split-text.ts'

/** For services that are given text with its formatted ranges, or marks made from those. */
export async function createTextFormat(t: Translate): Promise<TextFormat<FormattedText>> {
  const { lexer } = await import('marked')
  return {
    t,
    split: (markdown, maxChars) => splitText(formatMarkdown(markdown, lexer), maxChars),
    append: ({ text, entities }, words) => ({
      text: `${text}\n\n${words}`,
      entities: [...entities, { type: 'italic', offset: text.length + 2, length: words.length }],
    }),
    plain: (words) => ({ text: words, entities: [] }),
  }
}
