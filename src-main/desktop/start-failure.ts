import { renderMessage } from '../../resources/locales/translate.ts'
import { problemOf } from '../message-error.ts'
import type { Speech } from './language.ts'

/** What the box says that is shown when the app cannot start. */
export function startFailureText(error: unknown, { t }: Speech): { title: string; text: string } {
  return { title: t('desktop.cannotStart'), text: renderMessage(t, problemOf(error)) }
}
