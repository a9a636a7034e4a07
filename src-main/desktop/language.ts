import { loadCatalogue } from '../../resources/locales/load-catalogue.ts'
import { LANGUAGES, type Language } from '../../resources/locales/texts.ts'
import { chooseLanguage, createTranslate, type Translate } from '../../resources/locales/translate.ts'
import type { MachineSettings } from '../contract/desktop-api.ts'
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

/** `preferred`: the person's languages as the system knows them, in order of preference. */
export function speechOf(setting: MachineSettings['language'], preferred: readonly string[]): Speech {
  return SPEECHES.get(setting === 'system' ? chooseLanguage(preferred) : setting)!
}

/** A question without parameters. */
export function questionOf({ t }: Speech, name: 'leave' | 'resume' | 'secret'): Question {
  return {
    message: t(`desktop.questions.${name}`),
    detail: t(`desktop.questions.${name}Text`),
    yes: t(`desktop.questions.${name}Yes`),
    no: t(`desktop.questions.${name}No`),
  }
}
