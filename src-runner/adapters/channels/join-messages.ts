import type { IncomingMessage } from './channel.ts'

/** One message of several that one person sent together, such as the pictures of an album. It has the id of the first. */
export function joinMessages(messages: readonly [IncomingMessage, ...IncomingMessage[]]): IncomingMessage {
  const [first] = messages
  const text = messages.flatMap((message) => (message.text === '' ? [] : [message.text])).join('\n')
  const files = messages.flatMap((message) => message.files)
  return {
    ...first,
    text,
    files,
    replyTo: messages.find(({ replyTo }) => replyTo !== null)?.replyTo ?? null,
    forwardedFrom: messages.find(({ forwardedFrom }) => forwardedFrom !== null)?.forwardedFrom ?? null,
    ...(messages.some(({ quotesOthers }) => quotesOthers === true) ? { quotesOthers: true } : {}),
    unreadable: text === '' && files.length === 0 ? first.unreadable : null,
  }
}
