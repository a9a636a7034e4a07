import { createHash } from 'node:crypto'
import type {
  JSONSchema7,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { IN_TEXT } from './incoming-reply.ts'
import type { PromptMessage, PromptToolCall, ProviderData, SentReply, ToolDescription } from './model.ts'
import type { AssistantMessage, ThinkingRules } from './provider-driver.ts'

type AssistantPart = AssistantMessage['content'][number]
type Reply = Extract<PromptMessage, { role: 'assistant' }>
type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number]

export type ReturnRules = {
  rules: ThinkingRules
  /** Replies whose thinking the provider refused. */
  refusedThinking: { has(sent: SentReply): boolean }
  /** Fields that the provider requires in replies with tool calls. */
  requiredFields: ReadonlySet<string>
  /** The provider accepts only ids of nine letters and digits. */
  shortIds: boolean
}

/**
 * Converts the conversation for the libraries. Repairs what a provider would refuse: ids of another provider, calls
 * without results, empty texts, broken characters, a last message that is not a question.
 */
export function toProviderPrompt(messages: readonly PromptMessage[], returns: ReturnRules): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  const turnFrom = messages.findLastIndex(({ role }) => role === 'user')
  const safeId: SafeId = returns.shortIds ? shortIdOf : createSafeIds()
  let open = new Map<string, PromptToolCall>()

  const pushToolPart = (part: ToolPart) => {
    const last = prompt.at(-1)
    if (last?.role === 'tool') last.content.push(part)
    else prompt.push({ role: 'tool', content: [part] })
  }
  const closeOpenCalls = () => {
    for (const call of open.values())
      pushToolPart(resultPart(safeId(call.callId), call.name, 'No result was recorded for this call.', false))
    open = new Map()
  }

  for (const [at, message] of messages.entries()) {
    switch (message.role) {
      case 'system':
        closeOpenCalls()
        // Providers accept system text only at the start.
        if (prompt.every((earlier) => earlier.role === 'system')) prompt.push({ role: 'system', content: readable(message.text) })
        else pushUser(prompt, message.text)
        break
      case 'user':
        closeOpenCalls()
        pushUser(prompt, message.text)
        break
      case 'assistant': {
        closeOpenCalls()
        const sent = sentFor(message, at > turnFrom, returns)
        const calls = message.toolCalls.map((call, index): AssistantPart => {
          open.set(call.callId, call)
          const part = sent?.parts.find((one) => one.kind === 'call' && one.index === index)
          const id = part?.kind === 'call' ? part.id : undefined
          return {
            type: 'tool-call',
            toolCallId: safeId(call.callId, id),
            toolName: call.name,
            input: argsObject(call.args),
            ...optionsOf(part?.data),
          }
        })
        const content = sent === null ? [...plainText(message.text), ...calls] : inOrder(message.text, calls, sent, at > turnFrom)
        if (content.length === 0) break
        const reply: AssistantMessage = { role: 'assistant', content }
        prompt.push(returns.rules.finish?.(reply, sent, returns.requiredFields) ?? reply)
        break
      }
      case 'tool':
        // A result without its call would be refused.
        if (!open.delete(message.callId)) break
        pushToolPart(resultPart(safeId(message.callId), message.name, message.output, message.ok))
        break
    }
  }
  closeOpenCalls()
  // Newer models refuse to continue their own last message.
  const last = prompt.at(-1)
  if (last === undefined || last.role === 'assistant' || last.role === 'system') pushUser(prompt, 'Go on.')
  return prompt
}

/** What goes back with a reply now. null: only text and calls. */
function sentFor({ sent, text, toolCalls }: Reply, isOfTurn: boolean, { rules, refusedThinking }: ReturnRules): SentReply | null {
  if (sent === undefined || refusedThinking.has(sent)) return null
  if (!isOfTurn && (rules.reach === 'turn' || toolCalls.length === 0)) return null
  if (sent.changed !== undefined && rules.boundToPrompt) return null
  const chars = sent.parts.reduce((sum, part) => sum + (part.kind === 'text' ? part.chars : 0), 0)
  // The text was changed, so its signatures are void.
  return sent.changed !== 'itself' && chars !== text.length ? { ...sent, changed: 'itself' } : sent
}

function inOrder(text: string, calls: AssistantPart[], sent: SentReply, isOfTurn: boolean): AssistantPart[] {
  if (sent.changed === 'itself') return [...plainText(text), ...calls]
  const content: AssistantPart[] = []
  let textAt = 0
  let thinkingAt = 0
  for (const part of sent.parts) {
    if (part.kind === 'call') {
      const call = calls[part.index]
      if (call !== undefined) content.push(call)
    } else if (part.kind === 'text') {
      const piece = text.slice(textAt, (textAt += part.chars))
      if (piece.trim() !== '' || part.data !== undefined) content.push({ type: 'text', text: readable(piece), ...optionsOf(part.data) })
    } else {
      const piece = sent.thinking.slice(thinkingAt, (thinkingAt += part.chars))
      const isInText = part.data?.['reply']?.['thinkingInText'] === IN_TEXT['reply']!['thinkingInText']
      if (!isInText) content.push({ type: 'reasoning', text: readable(piece), ...optionsOf(part.data) })
      else if (isOfTurn) content.push({ type: 'text', text: `<think>${readable(piece)}</think>\n\n` })
    }
  }
  return content
}

function plainText(text: string): AssistantPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text: readable(text) }]
}

function optionsOf(data: ProviderData | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return data === undefined ? {} : { providerOptions: data as SharedV4ProviderOptions }
}

export function toProviderTools(tools: readonly ToolDescription[]): LanguageModelV4FunctionTool[] {
  return tools.map((tool) => ({
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters as JSONSchema7,
  }))
}

function pushUser(prompt: LanguageModelV4Prompt, text: string): void {
  prompt.push({ role: 'user', content: [{ type: 'text', text: text.trim() === '' ? '(empty message)' : readable(text) }] })
}

function resultPart(toolCallId: string, toolName: string, output: string, ok: boolean): ToolPart {
  const value = output === '' ? '(no output)' : readable(output)
  return { type: 'tool-result', toolCallId, toolName, output: { type: ok ? 'text' : 'error-text', value } }
}

/** Some servers refuse half a surrogate pair as invalid JSON. */
function readable(text: string): string {
  return text.toWellFormed()
}

/** Providers accept only objects. */
function argsObject(args: unknown): unknown {
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args
  return { invalid_arguments: args ?? null }
}

type SafeId = (callId: string, own?: string) => string

/** The same for a call and its result, and in each request. */
function shortIdOf(callId: string): string {
  return createHash('sha256')
    .update(callId)
    .digest('base64')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 9)
}

/** Providers accept 64 characters of `[A-Za-z0-9_-]`. The provider that wrote a call gets its own id back. */
function createSafeIds(): SafeId {
  const safe = new Map<string, string>()
  const taken = new Set<string>()
  return (callId, own) => {
    let id = safe.get(callId)
    if (id === undefined) {
      const plain = own !== undefined && !taken.has(own) ? own : callId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 56) || 'call'
      id = plain
      for (let n = 2; taken.has(id); n++) id = `${plain}_${n}`
      safe.set(callId, id)
      taken.add(id)
    }
    return id
  }
}
