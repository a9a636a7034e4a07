import english from '../../resources/locales/en.json' with { type: 'json' }
import { loadCatalogue } from '../../resources/locales/load-catalogue.ts'
import type { Language } from '../../resources/locales/texts.ts'
import { createTranslate, renderMessage, type Translate } from '../../resources/locales/translate.ts'
import { Message, type MessageCode, type MessageParams } from '../contract/messages.ts'

/** English, for the API, the log and models. */
export const inEnglish: Translate = createTranslate('en', english)

export function createMessage<C extends MessageCode>(
  code: C,
  ...[params]: keyof MessageParams<C> extends never ? [] : [params: MessageParams<C>]
): Message {
  return { code, params: params ?? {} } as Message
}

/** Text from elsewhere, such as an error of a library, as a message. */
export function quote(words: string): Message {
  return createMessage('quoted', { words })
}

/** One message of sentences that follow each other. At least one must not be null. */
export function joinSentences(...sentences: (Message | null)[]): Message {
  return sentences.filter((sentence) => sentence !== null).reduce((first, second) => createMessage('several', { first, second }))
}

/** A message in English, for the API, the log and models. */
export function englishText(text: Message): string {
  return renderMessage(inEnglish, text)
}

/** The language of the person, in which agents' messages to chats are written. It may change at any time. */
export type Speech = () => Translate

/** `speech` is English until the catalogue of another language is loaded. */
export function createSpeech(): { speech: Speech; changeLanguage(language: Language): Promise<void> } {
  let t = inEnglish
  return {
    speech: () => t,
    async changeLanguage(language) {
      t = createTranslate(language, await loadCatalogue[language]())
    },
  }
}

/** A message as text for its column; empty when there is none. */
export function writeMessage(text: Message | null): string {
  return text === null ? '' : JSON.stringify(text)
}

/** Reads a message from its column. Empty and NULL mean that there is none. */
export function readMessage(column: string | null): Message | null {
  return column === null || column === '' ? null : Message.parse(JSON.parse(column))
}
