import { createSignal } from 'solid-js'
import { de } from './de.ts'
import { en } from './en.ts'

/** The shape every language has: the keys of the English catalogue, with any text under them. */
export type WordsLike<T> = {
  [K in keyof T]: T[K] extends string ? string : T[K] extends (...args: infer A) => string ? (...args: A) => string : WordsLike<T[K]>
}
export type Words = WordsLike<typeof en>

export type LanguageSetting = 'system' | 'en' | 'de'
type Language = Exclude<LanguageSetting, 'system'>

const CATALOGUES: Record<Language, Words> = { en, de }
const STORED_AS = 'deckhand.language'

function readSetting(): LanguageSetting {
  const stored = localStorage.getItem(STORED_AS)
  return stored === 'en' || stored === 'de' ? stored : 'system'
}

const [setting, setSetting] = createSignal<LanguageSetting>(readSetting())

function language(): Language {
  const chosen = setting()
  if (chosen !== 'system') return chosen
  const known = navigator.languages.find((tag) => /^(en|de)\b/i.test(tag))
  return known?.toLowerCase().startsWith('de') ? 'de' : 'en'
}

/** The words of the language in use. Read it inside JSX or a memo: it changes when the setting does. */
export function words(): Words {
  return CATALOGUES[language()]
}

/** The tag for Intl: the person's own variant ("en-GB") when it is of the language in use. */
export function locale(): string {
  const lang = language()
  return navigator.languages.find((tag) => tag.toLowerCase().startsWith(lang)) ?? lang
}

export function languageSetting(): LanguageSetting {
  return setting()
}

export function changeLanguage(next: LanguageSetting): void {
  localStorage.setItem(STORED_AS, next)
  setSetting(next)
  document.documentElement.lang = language()
}
