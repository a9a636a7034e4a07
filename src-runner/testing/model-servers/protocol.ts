import type { ServedError, ServedReply, ServedToolCall } from './reply.ts'

/** One event of a stream: lines without the blank line that ends it. */
export type Frame = { lines: string[]; part: 'start' | 'content' | 'tool_args' | 'end' | 'done' }

/** How one provider writes a reply, an error and a list of models. */
export type Protocol = {
  /** Default: an event stream. */
  contentType?: string
  frames(reply: ServedReply, model: string): Frame[]
  errorBody(status: number, error: ServedError): unknown
  errorFrames(error: ServedError): Frame[]
  /** A frame of the protocol that carries one piece of text. */
  textFrame(text: string): Frame
  /** The refusal of a prompt with more tokens than the model holds. */
  tooLong(sent: number, window: number): { status: number; body: unknown }
}

export function data(part: Frame['part'], value: unknown): Frame {
  return { part, lines: [`data: ${typeof value === 'string' ? value : JSON.stringify(value)}`] }
}

export function named(part: Frame['part'], value: { type: string; [field: string]: unknown }): Frame {
  return { part, lines: [`event: ${value.type}`, `data: ${JSON.stringify(value)}`] }
}

export function argsText(call: ServedToolCall): string {
  return call.rawArgs ?? JSON.stringify(call.args ?? {})
}

/** Arguments are sent in two pieces, so that a stream can be cut between them. */
export function argHalves(call: ServedToolCall): [string, string] {
  const text = argsText(call)
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

/** The finish reason in the words of one provider. */
export function stopWord(reply: ServedReply, words: { stop: string; length: string; tools: string; filter: string }): string {
  const { stop } = reply
  if (typeof stop === 'object') return stop.raw
  return words[stop ?? ((reply.toolCalls ?? []).length > 0 ? 'tools' : 'stop')]
}
