import type { ModelRequest, PromptMessage, SentReply, ToolDescription } from './model.ts'

/**
 * How many tokens a text takes at the most, as far as can be said without the model's own tokenizer: a token for three
 * bytes of UTF-8. Prose has more to a token, in every language; only strings of digits and the like have less. What it
 * costs is estimated elsewhere, and not from above.
 */
export function mostTokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN)
}

export const BYTES_OF_TOKEN = 3
/** What stands around each message and each call in a model's own template. */
const AROUND = 8

/** Messages are looked at with every call of a job and never change. */
const sizes = new WeakMap<object, number>()

export function mostTokensOfMessage(message: PromptMessage): number {
  return remembered(message, () => {
    if (message.role === 'tool') return AROUND + mostTokensOf(message.output)
    if (message.role !== 'assistant') return AROUND + mostTokensOf(message.text)
    return message.toolCalls.reduce(
      (sum, call) => sum + AROUND + mostTokensOf(call.name) + mostTokensOf(JSON.stringify(call.args) ?? ''),
      AROUND + mostTokensOf(message.text) + mostTokensOfSent(message.sent),
    )
  })
}

/** Thinking is counted by providers as it goes back. Of a reply that was shortened, none does. */
function mostTokensOfSent(sent: SentReply | undefined): number {
  if (sent === undefined || sent.changed === 'itself') return 0
  const data = [sent.data, ...sent.parts.map((part) => part.data)].reduce(
    (chars, one) => chars + (one === undefined ? 0 : JSON.stringify(one).length),
    0,
  )
  return mostTokensOf(sent.thinking) + Math.ceil(data / BYTES_OF_TOKEN)
}

export function mostTokensOfTools(tools: readonly ToolDescription[]): number {
  return tools.reduce((sum, tool) => sum + remembered(tool, () => AROUND + mostTokensOf(JSON.stringify(tool))), 0)
}

export function mostTokensOfRequest({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): number {
  return messages.reduce((sum, message) => sum + mostTokensOfMessage(message), mostTokensOfTools(tools))
}

/** The most that is kept free of a window for the answer: as much as any model is asked to write at once. */
const MOST_ROOM = 32_000

/** What of a window the prompt may fill. */
export function roomForPrompt(windowTokens: number): number {
  return windowTokens - Math.min(MOST_ROOM, Math.ceil(windowTokens / 4))
}

function remembered(key: object, measure: () => number): number {
  let size = sizes.get(key)
  if (size === undefined) sizes.set(key, (size = measure()))
  return size
}
