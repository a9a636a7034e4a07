import type { settings as en } from '../en/settings.ts'
import type { WordsLike } from '../words.ts'

export const settings: WordsLike<typeof en> = {}
