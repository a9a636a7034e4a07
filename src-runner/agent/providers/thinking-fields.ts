import type { OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible'
import type { SentReply } from './model.ts'
import type { AssistantMessage, ThinkingRules } from './provider-driver.ts'

type Delta = { reasoning_content?: unknown; reasoning?: unknown; reasoning_details?: unknown }
type Detail = Record<string, unknown>

/**
 * Notes in which field a server sends thinking: it accepts it back only there. OpenRouter also sends a list of details
 * with signatures, which goes back unchanged.
 */
export const THINKING_FIELDS: OpenAICompatibleProviderSettings['metadataExtractor'] = {
  extractMetadata: () => Promise.resolve(undefined),
  createStreamExtractor() {
    let field: string | undefined
    const details: Detail[] = []
    return {
      processChunk(chunk) {
        const delta = (chunk as { choices?: { delta?: Delta | null }[] } | null)?.choices?.[0]?.delta
        if (delta === undefined || delta === null) return
        if (typeof delta.reasoning_content === 'string') field = 'reasoning_content'
        else if (typeof delta.reasoning === 'string') field ??= 'reasoning'
        if (Array.isArray(delta.reasoning_details)) for (const detail of delta.reasoning_details) addDetail(details, detail)
      },
      buildMetadata() {
        if (field === undefined && details.length === 0) return undefined
        return { reply: { ...(field === undefined ? {} : { field }), ...(details.length === 0 ? {} : { details: details as never }) } }
      },
    }
  },
}

/** Joins the pieces of one detail. */
function addDetail(details: Detail[], piece: unknown): void {
  if (typeof piece !== 'object' || piece === null || Array.isArray(piece)) return
  const next = piece as Detail
  const last = details.at(-1)
  if (last === undefined || last['type'] !== next['type'] || last['index'] !== next['index'] || last['type'] === 'reasoning.encrypted') {
    details.push({ ...next })
    return
  }
  for (const [name, value] of Object.entries(next)) {
    const before = last[name]
    const isText = (name === 'text' || name === 'summary') && typeof before === 'string' && typeof value === 'string'
    if (isText) last[name] = before + value
    else if (value !== null && value !== undefined) last[name] = value
  }
}

/** Google's own value for calls of other models, which have no signature. */
const NO_SIGNATURE = 'skip_thought_signature_validator'

/**
 * DeepSeek and Kimi require the thinking of every reply with tool calls, and refuse a conversation without it. An empty
 * text replaces thinking by another model, or that was left out to save room.
 */
export const COMPATIBLE_THINKING: ThinkingRules = {
  reach: 'conversation',
  inText: true,
  ofReply: ({ reply }) => (reply === undefined ? undefined : { reply }),
  finish(message, sent, requiredFields) {
    const thinking = message.content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
    const rest = { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') }
    const calls = rest.content.some(({ type }) => type === 'tool-call')
    const own = sent === null ? {} : fieldsOf(sent, thinking)
    const missing = calls && requiredFields.has('reasoning_content') && !('reasoning_content' in own) ? { reasoning_content: thinking } : {}
    const signed = calls && requiredFields.has('thought_signature') ? withSignature(rest) : rest
    const fields = { ...own, ...missing }
    if (Object.keys(fields).length === 0) return signed
    return { ...signed, providerOptions: { openaiCompatible: fields } }
  },
}

function fieldsOf({ data, changed }: SentReply, thinking: string): Record<string, unknown> {
  const { field, details } = data?.['reply'] ?? {}
  if (details !== undefined && changed !== 'itself') return { reasoning_details: details }
  return typeof field === 'string' ? { [field]: thinking } : {}
}

/** One signature for all calls of a reply, at the first. */
function withSignature(message: AssistantMessage): AssistantMessage {
  const at = message.content.findIndex(({ type }) => type === 'tool-call')
  const call = message.content[at]!
  if (call.type !== 'tool-call' || message.content.some((part) => hasSignature(part))) return message
  const signed = { ...call, providerOptions: { ...call.providerOptions, google: { thoughtSignature: NO_SIGNATURE } } }
  return { ...message, content: message.content.with(at, signed) }
}

function hasSignature({ providerOptions = {} }: AssistantMessage['content'][number]): boolean {
  return Object.values(providerOptions).some((fields) => fields['thoughtSignature'] !== undefined)
}
