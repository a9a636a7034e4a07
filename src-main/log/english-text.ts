import { loadCatalogue } from '../../resources/locales/load-catalogue.ts'
import { createTranslate, renderMessage } from '../../resources/locales/translate.ts'
import type { Message } from '../../src-runner/contract/messages.ts'

/** A message in English, for the command line and for reports. The catalogue loads with the first one. */
export async function englishText(message: Message): Promise<string> {
  return renderMessage(createTranslate('en', await loadCatalogue.en()), message)
}
