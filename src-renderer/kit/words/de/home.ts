import type { home as en } from '../en/home.ts'
import type { WordsLike } from '../words.ts'

export const home: WordsLike<typeof en> = {}
