import type { models as en } from '../en/models.ts'
import type { WordsLike } from '../words.ts'

export const models: WordsLike<typeof en> = {}
