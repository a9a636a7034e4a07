import type { ModelRequest, PromptMessage, SentReply, ToolDescription } from './model.ts'

/**
 * An upper estimate without the model's tokenizer: one token for three bytes of UTF-8. Prose has more bytes to a token in
 * every language; only strings of digits and the like have fewer.
 */
export function maxTokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

export const BYTES_PER_TOKEN = 3
/** Each message and each call has a frame in the model's template. */
const FRAME_TOKENS = 8

/** Messages never change, and are measured with every call of a job. */
const sizes = new WeakMap<object, number>()

export function maxTokensOfMessage(message: PromptMessage): number {
  return remembered(message, () => {
    if (message.role === 'tool') return FRAME_TOKENS + maxTokensOf(message.output)
    if (message.role !== 'assistant') return FRAME_TOKENS + maxTokensOf(message.text)
    return message.toolCalls.reduce(
      (sum, call) => sum + FRAME_TOKENS + maxTokensOf(call.name) + maxTokensOf(JSON.stringify(call.args) ?? ''),
      FRAME_TOKENS + maxTokensOf(message.text) + maxTokensOfSent(message.sent),
    )
  })
}

/** Providers count thinking that goes back. With a shortened reply, none does. */
function maxTokensOfSent(sent: SentReply | undefined): number {
  if (sent === undefined || sent.changed === 'itself') return 0
  const data = [sent.data, ...sent.parts.map((part) => part.data)].reduce(
    (chars, one) => chars + (one === undefined ? 0 : JSON.stringify(one).length),
    0,
  )
  return maxTokensOf(sent.thinking) + Math.ceil(data / BYTES_PER_TOKEN)
}

export function maxTokensOfTools(tools: readonly ToolDescription[]): number {
  return tools.reduce((sum, tool) => sum + remembered(tool, () => FRAME_TOKENS + maxTokensOf(JSON.stringify(tool))), 0)
}

export function maxTokensOfRequest({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): number {
  return messages.reduce((sum, message) => sum + maxTokensOfMessage(message), maxTokensOfTools(tools))
}

/** The largest room for the reply. */
const MAX_REPLY_TOKENS = 32_000

/** The part of a window that the prompt may fill. */
export function roomForPrompt(windowTokens: number): number {
  return windowTokens - Math.min(MAX_REPLY_TOKENS, Math.ceil(windowTokens / 4))
}

function remembered(key: object, measure: () => number): number {
  let size = sizes.get(key)
  if (size === undefined) sizes.set(key, (size = measure()))
  return size
}
