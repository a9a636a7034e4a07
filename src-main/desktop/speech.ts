import { de } from '../../src-renderer/kit/words/de.ts'
import { en } from '../../src-renderer/kit/words/en.ts'
import type { Words } from '../../src-renderer/kit/words/words.ts'
import type { MachineSettings } from '../contract/desktop-api.ts'

/** What the desktop speaks: the words of the page, so that a thing has one name wherever it is met. */
export type Speech = { words: Words; locale: 'en' | 'de' }

const SPEECHES: Record<Speech['locale'], Speech> = { en: { words: en, locale: 'en' }, de: { words: de, locale: 'de' } }

/** `preferred`: the languages of the person, as the system knows them, the dearest first. */
export function speechOf(setting: MachineSettings['language'], preferred: readonly string[]): Speech {
  if (setting !== 'system') return SPEECHES[setting]
  const known = preferred.find((tag) => /^(en|de)\b/i.test(tag))
  return SPEECHES[known?.toLowerCase().startsWith('de') ? 'de' : 'en']
}
