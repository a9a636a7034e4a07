import english from '../../resources/locales/en.json' with { type: 'json' }
import { createTranslate, renderMessage } from '../../resources/locales/translate.ts'
import { Message, type MessageCode, type MessageParams } from '../contract/messages.ts'

const t = createTranslate('en', english)

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

/** A message in English, for the API, the log and models. */
export function englishText(text: Message): string {
  return renderMessage(t, text)
}

/** A message as text for its column; empty when there is none. */
export function writeMessage(text: Message | null): string {
  return text === null ? '' : JSON.stringify(text)
}

/** Reads a message from its column. Empty and NULL mean that there is none. */
export function readMessage(column: string | null): Message | null {
  return column === null || column === '' ? null : Message.parse(JSON.parse(column))
}
