import type { markdown as en } from '../en/markdown.ts'
import type { WordsLike } from '../words.ts'

export const markdown: WordsLike<typeof en> = {
  code: 'Code',
  table: 'Tabelle',
}
