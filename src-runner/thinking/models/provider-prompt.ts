import type { JSONSchema7, LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { PromptMessage, PromptToolCall, ToolDescription } from './model.ts'

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]
type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number]

/**
 * Our conversation in the libraries' form. It repairs what would make a provider refuse a conversation for good:
 * ids of another provider's calls, calls without a result, empty texts, broken characters, an end without a question.
 */
export function toProviderPrompt(messages: readonly PromptMessage[]): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  const ids = createSafeIds()
  let open = new Map<string, PromptToolCall>()

  const pushToolPart = (part: ToolPart) => {
    const last = prompt.at(-1)
    if (last?.role === 'tool') last.content.push(part)
    else prompt.push({ role: 'tool', content: [part] })
  }
  const closeOpenCalls = () => {
    for (const call of open.values())
      pushToolPart(resultPart(ids.of(call.callId), call.name, 'No result was recorded for this call.', false))
    open = new Map()
  }

  for (const message of messages) {
    switch (message.role) {
      case 'system':
        closeOpenCalls()
        // Providers take system text at the start only.
        if (prompt.every((earlier) => earlier.role === 'system')) prompt.push({ role: 'system', content: readable(message.text) })
        else pushUser(prompt, message.text)
        break
      case 'user':
        closeOpenCalls()
        pushUser(prompt, message.text)
        break
      case 'assistant': {
        closeOpenCalls()
        const content: AssistantPart[] = []
        if (message.text.trim() !== '') content.push({ type: 'text', text: readable(message.text) })
        for (const call of message.toolCalls) {
          open.set(call.callId, call)
          content.push({ type: 'tool-call', toolCallId: ids.of(call.callId), toolName: call.name, input: argsObject(call.args) })
        }
        if (content.length > 0) prompt.push({ role: 'assistant', content })
        break
      }
      case 'tool':
        // A result without its call would be refused as well.
        if (!open.delete(message.callId)) break
        pushToolPart(resultPart(ids.of(message.callId), message.name, message.output, message.ok))
        break
    }
  }
  closeOpenCalls()
  // Newer models refuse to continue their own last message; asking them to go on means the same.
  const last = prompt.at(-1)
  if (last === undefined || last.role === 'assistant' || last.role === 'system') pushUser(prompt, 'Go on.')
  return prompt
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

/** Half a surrogate pair (text cut in the middle of an emoji) is no valid JSON for some servers. */
function readable(text: string): string {
  return text.toWellFormed()
}

/** Providers take objects only. What the model wrote instead is shown to it as what it was. */
function argsObject(args: unknown): unknown {
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args
  return { invalid_arguments: args ?? null }
}

/** Providers allow 64 characters of `[A-Za-z0-9_-]` and differ in what they send themselves. */
function createSafeIds(): { of(callId: string): string } {
  const safe = new Map<string, string>()
  const taken = new Set<string>()
  return {
    of(callId) {
      let id = safe.get(callId)
      if (id === undefined) {
        const plain = callId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 56) || 'call'
        id = plain
        for (let n = 2; taken.has(id); n++) id = `${plain}_${n}`
        safe.set(callId, id)
        taken.add(id)
      }
      return id
    },
  }
}
