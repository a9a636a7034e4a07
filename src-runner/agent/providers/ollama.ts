import { ReadableStream as NodeStream } from 'node:stream/web'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider'
import { OLLAMA_URL } from './base-url.ts'
import { ModelCallError } from './failures.ts'
import type { ListedModel } from './model.ts'
import { largestWindow, readFacts, windowBelow, windowFor, type OllamaFacts } from './ollama-context-window.ts'
import { maxTokensOf } from './prompt-size.ts'
import type { DriverAccess, ProviderDriver } from './provider-driver.ts'

type OllamaModel = LanguageModelV4 & { readWindow(signal: AbortSignal): Promise<number> }

/** Ollama through its own API: only `/api/chat` takes the window size that a prompt needs. */
export const ollama: ProviderDriver = {
  defaultBaseUrl: OLLAMA_URL,
  apiPath: '',
  needsKey: false,
  contentTypes: ['application/x-ndjson', 'application/json'],
  load: async (access) => (model) => createOllamaModel(access, rootOf(access.baseUrl), model),
  thinking: { reach: 'turn', inText: true },
  readWindow: (model, signal) => (model as OllamaModel).readWindow(signal),
  getModelCommand: (model) => `ollama pull ${model}`,
  list: {
    url: (baseUrl) => `${rootOf(baseUrl)}/api/tags`,
    headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
    read: readOllamaTags,
  },
}

/** People paste the address with or without /v1 or /api. */
function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/(v1|api)$/, '')
}

export function readOllamaTags(body: unknown): ListedModel[] {
  const { models } = body as { models: { name?: string; model?: string; details?: { family?: string } | null }[] }
  return models
    .filter((entry) => !/bert/i.test(entry.details?.family ?? ''))
    .map((entry) => entry.name ?? entry.model)
    .filter((name) => typeof name === 'string' && name !== '')
    .map((name) => ({ model: name!, label: name!, contextTokens: null }))
}

/** Without a window size Ollama takes a few thousand tokens, and silently drops the beginning of a longer prompt. */
function createOllamaModel(access: DriverAccess, root: string, model: string): OllamaModel {
  let known: OllamaFacts | null = null
  let lastWindow = 0
  /** The largest window for which there was memory. */
  let affordable = Infinity

  const readFactsOnce = async (signal: AbortSignal): Promise<OllamaFacts> => {
    if (known !== null) return known
    const show = (await access.getJson(`${root}/api/show`, signal, { model })) ?? null
    const running = show === null ? null : await access.getJson(`${root}/api/ps`, signal)
    const facts = readFacts(model, show, running)
    // Ask again if the server is not there, or has no such model yet.
    if (show !== null) known = facts
    lastWindow = Math.max(lastWindow, facts.ownTokens ?? 0, facts.loadedTokens ?? 0)
    return facts
  }
  const readWindow = async (signal: AbortSignal) => Math.min(affordable, largestWindow(await readFactsOnce(signal), access.memoryBytes))

  const post = (body: object, signal: AbortSignal) =>
    access.fetch(`${root}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(access.apiKey === null ? {} : { authorization: `Bearer ${access.apiKey}` }) },
      body: JSON.stringify(body),
      signal,
    })

  return {
    specificationVersion: 'v4',
    provider: 'ollama',
    modelId: model,
    supportedUrls: {},
    readWindow,
    doGenerate: () => Promise.reject(new Error('replies are streamed')),
    async doStream(options) {
      const signal = options.abortSignal ?? new AbortController().signal
      const messages = messagesOf(options.prompt)
      const tools = toolsOf(options)
      const tokens = maxTokensOf(JSON.stringify(tools)) + messages.reduce((sum, message) => sum + tokensOf(message), 0)
      for (;;) {
        const largest = await readWindow(signal)
        // Versions before 0.12.6 do not know `truncate`, and would drop the beginning.
        if (tokens > largest) throw new TooLongForWindow(tokens, largest)
        lastWindow = windowFor(tokens, largest, lastWindow)
        const body = {
          model,
          messages,
          ...(tools.length > 0 ? { tools } : {}),
          stream: true,
          // Refuse rather than drop part of the prompt, before or during the reply.
          truncate: false,
          shift: false,
          options: { num_ctx: lastWindow, ...(options.maxOutputTokens === undefined ? {} : { num_predict: options.maxOutputTokens }) },
        }
        try {
          // Node and the browser name two types for the same streams.
          const stream: unknown = NodeStream.from(partsOf(linesOf(await post(body, signal))))
          return { stream: stream as LanguageModelV4StreamResult['stream'] }
        } catch (thrown) {
          const smaller = windowBelow(lastWindow)
          if (smaller === null || !(thrown instanceof ModelCallError) || thrown.failure.outOfMemory === undefined) throw thrown
          affordable = smaller
        }
      }
    },
  }
}

/** The wording of Ollama's own engine. */
class TooLongForWindow extends Error {
  readonly statusCode = 400
  constructor(tokens: number, window: number) {
    super(`request (${tokens} tokens) exceeds the available context size (${window} tokens)`)
  }
}

type OllamaMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  thinking?: string
  tool_calls?: { id: string; function: { name: string; arguments: unknown } }[]
  tool_name?: string
  tool_call_id?: string
}

function messagesOf(prompt: LanguageModelV4Prompt): OllamaMessage[] {
  return prompt.flatMap((message): OllamaMessage[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.content }]
      case 'user':
        return [{ role: 'user', content: textOf(message.content, 'text') }]
      case 'assistant': {
        const calls = message.content.flatMap((part) =>
          part.type === 'tool-call' ? [{ id: part.toolCallId, function: { name: part.toolName, arguments: part.input } }] : [],
        )
        const [content, thinking] = [textOf(message.content, 'text'), textOf(message.content, 'reasoning')]
        return [
          { role: 'assistant', content, ...(thinking === '' ? {} : { thinking }), ...(calls.length > 0 ? { tool_calls: calls } : {}) },
        ]
      }
      case 'tool':
        return message.content.flatMap((part) => {
          if (part.type !== 'tool-result') return []
          const { output } = part
          const content = output.type === 'text' || output.type === 'error-text' ? output.value : JSON.stringify(output)
          return [{ role: 'tool', content, tool_name: part.toolName, tool_call_id: part.toolCallId }]
        })
    }
  })
}

function textOf(content: readonly { type: string; text?: string }[], type: 'text' | 'reasoning'): string {
  return content.map((part) => (part.type === type ? part.text : '')).join('')
}

function toolsOf({ tools = [] }: LanguageModelV4CallOptions): object[] {
  return tools.flatMap((tool) =>
    tool.type === 'function'
      ? [{ type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.inputSchema } }]
      : [],
  )
}

function tokensOf({ content, thinking = '', tool_calls: calls }: OllamaMessage): number {
  return maxTokensOf(content) + maxTokensOf(thinking) + (calls === undefined ? 0 : maxTokensOf(JSON.stringify(calls)))
}

type Line = {
  message?: { content?: string; thinking?: string; tool_calls?: { id?: string; function?: { name?: string; arguments?: unknown } }[] }
  done?: boolean
  done_reason?: string
  prompt_eval_count?: number
  eval_count?: number
  error?: unknown
}

async function* linesOf(response: Response): AsyncGenerator<Line> {
  let rest: string[] = []
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = text.split('\n')
    for (const part of parts.slice(0, -1)) {
      const line = [...rest, part].join('').trim()
      rest = []
      if (line !== '') yield JSON.parse(line) as Line
    }
    rest.push(parts.at(-1)!)
  }
  const last = rest.join('').trim()
  if (last !== '') yield JSON.parse(last) as Line
}

async function* partsOf(lines: AsyncIterable<Line>): AsyncGenerator<LanguageModelV4StreamPart> {
  let callCount = 0
  for await (const line of lines) {
    if (line.error !== undefined) yield { type: 'error', error: { error: line.error } }
    const { content = '', thinking = '', tool_calls: calls = [] } = line.message ?? {}
    if (thinking !== '') yield { type: 'reasoning-delta', id: 'reasoning', delta: thinking }
    if (content !== '') yield { type: 'text-delta', id: 'text', delta: content }
    for (const { id, function: called } of calls) {
      const input = JSON.stringify(called?.arguments ?? {})
      yield { type: 'tool-call', toolCallId: id ?? `call_${++callCount}`, toolName: called?.name ?? '', input }
    }
    if (line.done !== true) continue
    yield {
      type: 'finish',
      finishReason: { unified: reasonOf(line.done_reason), raw: line.done_reason },
      usage: {
        inputTokens: { total: line.prompt_eval_count, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: line.eval_count, text: undefined, reasoning: undefined },
      },
    }
  }
}

function reasonOf(reason: string | undefined): LanguageModelV4FinishReason['unified'] {
  return reason === 'length' ? 'length' : reason === undefined || reason === 'stop' ? 'stop' : 'other'
}
