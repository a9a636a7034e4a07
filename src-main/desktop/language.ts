import { loadCatalogue } from '../../resources/locales/load-catalogue.ts'
import { LANGUAGES, type Language } from '../../resources/locales/texts.ts'
import { createTranslate, type Translate } from '../../resources/locales/translate.ts'
import type { Question } from './abilities.ts'

/** The language of menus, the tray, dialogs and notifications. */
export type Speech = { t: Translate; locale: Language }

/** All languages are loaded, so that a menu never waits for a file. */
const SPEECHES = new Map<Language, Speech>(
  await Promise.all(
    LANGUAGES.map(async (locale): Promise<[Language, Speech]> => {
      return [locale, { t: createTranslate(locale, await loadCatalogue[locale]()), locale }]
    }),
  ),
)

export function speechOf(language: Language): Speech {
  return SPEECHES.get(language)!
}

/** A question without parameters. */
export function questionOf(
  { t }: Speech,
  name: 'hang' | 'leave' | 'resume' | 'secret' | 'rotate' | 'restore' | 'empty' | 'reset',
): Question {
  return {
    message: t(`desktop.questions.${name}`),
    detail: t(`desktop.questions.${name}Text`),
    yes: t(`desktop.questions.${name}Yes`),
    no: t(`desktop.questions.${name}No`),
  }
}
