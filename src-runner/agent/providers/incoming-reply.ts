import { createMessage } from '../../lib/messages.ts'
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import { z } from 'zod'
import { failure } from './failures.ts'
import type { ModelEvent, ProviderData, ReplyPart, ReplyParts, Usage } from './model.ts'
import type { ThinkingRules } from './provider-driver.ts'
import { ThinkTags } from './think-tags.ts'

const MAX_BELIEVABLE_TOKENS = 100_000_000
/** The limit for data beside text and thinking. No provider needs more; above it, none is kept. */
export const MAX_DATA_CHARS = 1_000_000
/** Ids that are recorded unchanged (agent/loop/normalize-call.ts). */
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,64}$/

/** Marks thinking that came in the text, and goes back there. */
export const IN_TEXT: ProviderData = { reply: { thinkingInText: true } }

type TextPart = Extract<ReplyPart, { chars: number }>

/** Collects a reply from the parts of the library's stream. */
export class IncomingReply {
  usage: Usage | null = null
  readonly #rules: ThinkingRules
  readonly #tags: ThinkTags | null
  #finish: LanguageModelV4FinishReason | null = null
  #calls: { id: string; name: string; input: string; data: ProviderData | undefined }[] = []
  #endedInCall = false
  readonly #begunCalls = new Set<string>()

  /** null: parts overlapped, so lengths cannot describe their order. */
  #parts: ReplyPart[] | null = []
  #open = new Map<string, TextPart>()
  #data: ProviderData | undefined
  #dataChars = 0
  #hasThinking = false

  constructor(rules: ThinkingRules) {
    this.#rules = rules
    this.#tags = rules.inText ? new ThinkTags() : null
  }

  /** Yields text at once, but no tool calls before the end: only a reply that ended well has complete ones. */
  *take(part: LanguageModelV4StreamPart): Iterable<ModelEvent> {
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        return this.#note('text', part.id, part.providerMetadata, part.type === 'text-end')
      case 'reasoning-start':
      case 'reasoning-end':
        return this.#note('thinking', part.id, part.providerMetadata, part.type === 'reasoning-end')
      case 'text-delta': {
        const { thinking, text } = this.#tags?.take(part.delta) ?? { thinking: '', text: part.delta }
        yield* this.#think('in text', thinking, undefined)
        return yield* this.#say(part.id, text, part.providerMetadata)
      }
      case 'reasoning-delta':
        return yield* this.#think(part.id, part.delta, part.providerMetadata)
      case 'tool-input-start':
        if (part.providerExecuted === true) return
        this.#begunCalls.add(part.id)
        return yield { type: 'call_piece', begins: true, chars: part.toolName.length }
      case 'tool-input-delta':
        return yield { type: 'call_piece', begins: false, chars: part.delta.length }
      case 'tool-call': {
        if (part.providerExecuted === true) return
        const data = this.#kept('call', part.providerMetadata)
        this.#parts?.push({ kind: 'call', index: this.#calls.length })
        this.#calls.push({ id: part.toolCallId, name: part.toolName, input: part.input, data })
        this.#endedInCall = true
        // Some providers send a call in one piece.
        if (!this.#begunCalls.has(part.toolCallId)) yield { type: 'call_piece', begins: true, chars: part.input.length }
        return
      }
      case 'finish':
        this.#finish = part.finishReason
        this.usage = readUsage(part.usage)
        if (part.providerMetadata !== undefined) this.#data = this.#counted(this.#rules.ofReply?.(part.providerMetadata))
        return
      default:
        return
    }
  }

  *end(providerName: string): Iterable<ModelEvent> {
    const rest = this.#tags?.end()
    if (rest !== undefined) {
      yield* this.#think('in text', rest.thinking, undefined)
      yield* this.#say('rest', rest.text, undefined)
    }
    const finish = this.#finish
    if (finish === null || finish.unified === 'interrupted' || finish.unified === 'error') {
      yield { type: 'failed', failure: failure('network', createMessage('model_broke_off', { provider: providerName })), usage: this.usage }
      return
    }
    const endedWell = finish.unified === 'stop' || finish.unified === 'tool-calls'
    // At the token limit, the last call may look complete and not be.
    const calls = finish.unified === 'length' && this.#endedInCall ? this.#calls.slice(0, -1) : this.#calls
    const ids = new Set<string>()
    for (const call of calls) {
      const args = parseArgs(call.input)
      if (!args.valid && !endedWell) continue
      yield { type: 'tool_call', callId: uniqueId(call.id, ids), name: call.name, args: args.value, argsValid: args.valid }
    }
    const sent = ids.size === this.#calls.length ? this.#sent() : null
    yield { type: 'finish', reason: reasonOf(finish, ids.size > 0), usage: this.usage, ...(sent === null ? {} : { sent }) }
  }

  *#say(id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): Iterable<ModelEvent> {
    this.#add('text', id, text, metadata)
    if (text === '') return
    this.#endedInCall = false
    yield { type: 'text', text }
  }

  *#think(id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): Iterable<ModelEvent> {
    this.#add('thinking', id, text, metadata)
    if (text !== '') yield { type: 'reasoning', text }
  }

  #note(kind: TextPart['kind'], id: string, metadata: SharedV4ProviderMetadata | undefined, isEnd: boolean): void {
    this.#add(kind, id, '', metadata)
    if (isEnd) this.#open.delete(`${kind}:${id}`)
  }

  #add(kind: TextPart['kind'], id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const data = this.#kept(kind, metadata)
    if (this.#parts === null || (text === '' && data === undefined)) return
    const key = `${kind}:${id}`
    let part = this.#open.get(key)
    if (part === undefined || (this.#rules.signsPieces && data !== undefined && part.chars > 0)) {
      part = { kind, chars: 0 }
      this.#parts.push(part)
      this.#open.set(key, part)
    }
    // Lengths describe the order, so each text must be complete before the next one begins.
    if (text !== '' && this.#parts.findLast((one) => one.kind === kind) !== part) {
      this.#parts = null
      return
    }
    part.chars += text.length
    if (kind === 'thinking' && (text !== '' || data !== undefined)) this.#hasThinking = true
    if (kind === 'thinking' && id === 'in text') part.data = IN_TEXT
    if (data !== undefined) part.data = merged(part.data, data)
    if (data !== undefined && text !== '' && this.#rules.signsPieces) this.#open.delete(key)
  }

  #kept(kind: ReplyPart['kind'], metadata: SharedV4ProviderMetadata | undefined): ProviderData | undefined {
    const data = metadata === undefined ? undefined : withoutNothing(metadata)
    return data === undefined ? undefined : this.#counted(this.#rules.keep === undefined ? data : this.#rules.keep(kind, data))
  }

  /** Counts before keeping, so that a stream of signatures cannot fill the memory. */
  #counted(data: ProviderData | undefined): ProviderData | undefined {
    if (data === undefined || this.#dataChars > MAX_DATA_CHARS) return undefined
    this.#dataChars += JSON.stringify(data).length
    return this.#dataChars > MAX_DATA_CHARS ? undefined : data
  }

  /** null: nothing beyond text and calls. */
  #sent(): ReplyParts | null {
    if (this.#parts === null || this.#dataChars > MAX_DATA_CHARS) return null
    const hasData = this.#calls.some(({ data }) => data !== undefined) || this.#parts.some((part) => part.kind !== 'call' && part.data)
    const hasOddId = this.#calls.some(({ id }) => !PLAIN_ID.test(id))
    if (!this.#hasThinking && !hasData && !hasOddId && this.#data === undefined) return null
    const parts = this.#parts.map((part): ReplyPart => {
      if (part.kind !== 'call') return part
      const { id, data } = this.#calls[part.index]!
      return { ...part, ...(PLAIN_ID.test(id) ? {} : { id: id.slice(0, 200) }), ...(data === undefined ? {} : { data }) }
    })
    return { parts, ...(this.#data === undefined ? {} : { data: this.#data }) }
  }
}

function merged(before: ProviderData | undefined, data: ProviderData): ProviderData {
  const all: ProviderData = { ...before }
  for (const [library, fields] of Object.entries(data)) all[library] = { ...all[library], ...fields }
  return all
}

/** Libraries send null for fields that come later. */
function withoutNothing(metadata: SharedV4ProviderMetadata): ProviderData | undefined {
  const data: ProviderData = {}
  for (const [library, fields] of Object.entries(metadata)) {
    const there = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
    if (there.length > 0) data[library] = Object.fromEntries(there)
  }
  return Object.keys(data).length === 0 ? undefined : data
}

function reasonOf(finish: LanguageModelV4FinishReason, hasCalls: boolean): Extract<ModelEvent, { type: 'finish' }>['reason'] {
  switch (finish.unified) {
    case 'length':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    case 'tool-calls':
      return 'tool_calls'
    case 'stop':
      // Many local servers say "stop" after tool calls.
      return hasCalls ? 'tool_calls' : 'stop'
    default:
      return 'other'
  }
}

function uniqueId(id: string, taken: Set<string>): string {
  const base = id.trim() === '' ? 'call' : id
  let unique = base
  for (let n = 2; taken.has(unique); n++) unique = `${base}_${n}`
  taken.add(unique)
  return unique
}

/** Small models leave arguments out, or write the JSON object as a JSON string. */
function parseArgs(input: string): { value: unknown; valid: boolean } {
  if (input.trim() === '') return { value: {}, valid: true }
  try {
    const value: unknown = JSON.parse(input)
    if (typeof value !== 'string') return { value, valid: true }
    const inner: unknown = JSON.parse(value)
    return typeof inner === 'object' && inner !== null ? { value: inner, valid: true } : { value: input, valid: false }
  } catch {
    return { value: input, valid: false }
  }
}

/** null: no numbers, or impossible ones. The libraries count cached tokens as input. */
function readUsage(usage: LanguageModelV4Usage): Usage | null {
  const input = usage.inputTokens.total
  const output = outputTokensOf(usage)
  if (!isPlausible(input) || !isPlausible(output) || input === 0) return null
  const cached = usage.inputTokens.cacheRead ?? 0
  const cacheWrite = usage.inputTokens.cacheWrite ?? 0
  if (!isPlausible(cached) || !isPlausible(cacheWrite) || cached + cacheWrite > input) return null
  return cacheWrite > 0 ? { input, output, cached, cacheWrite } : { input, output, cached }
}

/**
 * xAI counts thinking in the total, but not in the completion
 * (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/grok/capabilities/reasoning).
 */
function outputTokensOf({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): number | undefined {
  const { total: written, reasoning = 0 } = outputTokens
  if (inputTokens.total === undefined || written === undefined || reasoning <= 0) return written
  return raw?.['total_tokens'] === inputTokens.total + written + reasoning ? written + reasoning : written
}

function isPlausible(tokens: number | undefined): tokens is number {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= MAX_BELIEVABLE_TOKENS
}

const Data = z.record(z.string(), z.record(z.string(), z.unknown()))
const Recorded = z.object({
  parts: z.array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.enum(['text', 'thinking']), chars: z.number().int().min(0), data: Data.optional() }),
      z.object({ kind: z.literal('call'), index: z.number().int().min(0), id: z.string().optional(), data: Data.optional() }),
    ]),
  ),
  data: Data.optional(),
  server: z.string().optional(),
})

/** null: nothing recorded, or by another version. */
export function readReplyParts(recorded: unknown): ReplyParts | null {
  return Recorded.safeParse(recorded).data ?? null
}
