import { createSignal } from 'solid-js'
import english from '../../resources/locales/en.json' with { type: 'json' }
import { loadCatalogue } from '../../resources/locales/load-catalogue.ts'
import { createPseudoTranslate } from '../../resources/locales/pseudo-locale.ts'
import { LANGUAGES, type Language, type TextKey } from '../../resources/locales/texts.ts'
import {
  chooseLanguage,
  createTranslate,
  isOfLanguage,
  type Catalogue,
  type LanguageSetting,
  type Translate,
} from '../../resources/locales/translate.ts'

/** What follows a prefix in the keys of texts: `TextsUnder<'common.status'>` is a union of states. */
export type TextsUnder<Prefix extends string, K = TextKey> = K extends `${Prefix}.${infer Rest}` ? Rest : never

const STORED_AS = 'deckhand.language'
/** With this key in the local storage the page shows the pseudo-locale, for tests of texts and layouts. */
export const PSEUDO_STORED_AS = 'deckhand.pseudo-locale'

const [setting, setSetting] = createSignal<LanguageSetting>(readSetting())
const [catalogues, setCatalogues] = createSignal<Partial<Record<Language, Catalogue>>>({ en: english })
const translates = new Map<string, Translate>()

/** A text in the language in use. Read it inside JSX or a memo: it changes with the setting. English until its language is loaded. */
export const t: Translate = (key, ...params) => currentTranslate()(key, ...params)

/** The tag for Intl: the person's own variant ("en-GB") when it is of the language in use. */
export function locale(): string {
  const lang = language()
  return navigator.languages.find((tag) => isOfLanguage(tag, lang)) ?? lang
}

/** A text that comes in every language, such as the description of a service. */
export function localText(texts: Record<Language, string>): string {
  return texts[language()]
}

/** What a language calls itself: "Deutsch". */
export function languageName(language: Language): string {
  return new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language
}

export function languageSetting(): LanguageSetting {
  return setting()
}

export function changeLanguage(next: LanguageSetting): void {
  localStorage.setItem(STORED_AS, next)
  setSetting(next)
  document.documentElement.lang = language()
  if (catalogues()[language()] === undefined) void loadTexts()
}

/** Loads the texts of a language, which is shown in English until then. */
export async function loadTexts(wanted: Language = language()): Promise<void> {
  const catalogue = await loadCatalogue[wanted]()
  setCatalogues((known) => ({ ...known, [wanted]: catalogue }))
}

function readSetting(): LanguageSetting {
  const stored = localStorage.getItem(STORED_AS)
  return LANGUAGES.find((known) => known === stored) ?? 'system'
}

function language(): Language {
  return chooseLanguage(setting(), navigator.languages)
}

function currentTranslate(): Translate {
  if (localStorage.getItem(PSEUDO_STORED_AS) !== null) return keep('pseudo', () => createPseudoTranslate(english))
  const catalogue = catalogues()[language()]
  if (catalogue === undefined) return keep('en', () => createTranslate('en', english))
  const tag = locale()
  return keep(tag, () => createTranslate(tag, catalogue))
}

function keep(name: string, create: () => Translate): Translate {
  const known = translates.get(name) ?? create()
  translates.set(name, known)
  return known
}
