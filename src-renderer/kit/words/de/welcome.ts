import type { welcome as en } from '../en/welcome.ts'
import type { WordsLike } from '../words.ts'

export const welcome: WordsLike<typeof en> = {}
