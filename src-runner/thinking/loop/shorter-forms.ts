import type { PromptMessage } from '../models/model.ts'

/** A result without what it says: that the call was made and how it ended stays. */
export function withoutResult(message: PromptMessage): PromptMessage {
  if (message.role !== 'tool') return message
  const output = `[Left out here, to save room: ${message.output.length} characters from ${message.name}. What it did stays done. Call it again only if you need to read this once more.]`
  return { ...message, output }
}

/** A result with its beginning and its end: what a file is stands at its head, how a command ended at its foot. */
export function middleCut(message: PromptMessage, bytes: number): PromptMessage {
  return message.role === 'tool' ? { ...message, output: cutMiddle(message.output, bytes) } : message
}

/** A reply whose long texts, its own and those in its calls, are cut to their beginnings. The shape of the arguments stays. */
export function shortReply(message: PromptMessage, chars: number): PromptMessage {
  if (message.role !== 'assistant') return message
  const toolCalls = message.toolCalls.map((call) => ({ ...call, args: shortTexts(call.args, chars) }))
  const sent = message.sent === undefined ? {} : { sent: { ...message.sent, changed: 'itself' as const } }
  return { ...message, ...sent, text: cutEnd(message.text, chars), toolCalls }
}

/** A reply before which something is no longer as it was when it was written. */
export function afterChange(message: PromptMessage): PromptMessage {
  if (message.role !== 'assistant' || message.sent === undefined || message.sent.changed !== undefined) return message
  return { ...message, sent: { ...message.sent, changed: 'before' } }
}

function shortTexts(value: unknown, chars: number): unknown {
  if (typeof value === 'string') return cutEnd(value, chars)
  if (Array.isArray(value)) return value.map((item) => shortTexts(item, chars))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortTexts(inner, chars)]))
}

function cutEnd(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars / 2).toWellFormed()} [… ${text.length} characters in all, left out here]`
}

function cutMiddle(text: string, bytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  const mark = `\n\n[The middle of these ${text.length} characters is left out here, to save room. Ask for a smaller part if you need it.]\n\n`
  const kept = Math.max(0, bytes - mark.length)
  const head = Math.floor(kept * 0.7)
  return textOf(whole.subarray(0, head)) + mark + textOf(whole.subarray(whole.length - (kept - head)))
}

/** Bytes cut anywhere, without the halves of characters at their ends. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\ufffd+|\ufffd+$/g, '')
}
