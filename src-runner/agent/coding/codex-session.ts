import { isRecord } from '../../lib/json-values.ts'
import { messageOf } from '../../lib/errors.ts'
import { readTokens } from './acp-updates.ts'
import type { CodingCall, CodingSession, CodingStopReason } from './coding-session.ts'
import type { CallUpdate } from './coding-turns.ts'
import { createTurnSession, type OpenWith } from './turn-session.ts'

export const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MAX_CHANGES = 1_000
const STATUSES = new Set<unknown>(['in_progress', 'completed', 'failed'] satisfies CodingCall['status'][])

/**
 * A session with `codex exec --json`: one turn, told as the events and items in the types of `@openai/codex-sdk`. It asks for nothing,
 * and names its session only when the turn begins.
 */
export function openCodexSession(options: OpenWith): CodingSession {
  const { program, turns, loadSessionId } = options
  const session = { id: loadSessionId ?? '', canLoad: loadSessionId !== undefined }
  const turn = Promise.withResolvers<CodingStopReason>()
  turn.promise.catch(() => {})
  let hasText = false
  /** It tries again by itself after most errors. The last one counts if it ends. */
  let problem = 'The program has ended.'

  function takeItem(item: Record<string, unknown>, isDone: boolean): void {
    const { type, text } = item
    if (type === 'agent_message' || type === 'reasoning') {
      if (!isDone || typeof text !== 'string') return
      if (type === 'reasoning') return turns.thinking(text)
      turns.text(hasText ? `\n\n${text}` : text)
      hasText = true
      return
    }
    const update = codexCall(item)
    if (update !== null) turns.call(isDone && update.status === 'in_progress' ? { ...update, status: 'completed' } : update)
  }

  program.listen((event) => {
    const { type, item, thread_id: threadId, error, message } = event
    if (type === 'thread.started' && typeof threadId === 'string' && SESSION_ID.test(threadId)) {
      session.id = threadId
      session.canLoad = true
    } else if ((type === 'item.started' || type === 'item.updated' || type === 'item.completed') && isRecord(item))
      takeItem(item, type === 'item.completed')
    else if (type === 'turn.completed') {
      const usage = isRecord(event['usage']) ? event['usage'] : {}
      turns.usage(readTokens(usage['input_tokens'], usage['output_tokens'], usage['cached_input_tokens']))
      turn.resolve('end_turn')
    } else if (type === 'turn.failed') turn.reject(new Error(isRecord(error) ? messageIn(error) : 'It failed.'))
    else if (type === 'error' && typeof message === 'string') problem = message
  })
  void program.ended.then(() => turn.reject(new Error(problem)))

  return createTurnSession(options, {
    session,
    async ask(text) {
      await program.send(text, { isLast: true })
      return turn.promise.catch((thrown: unknown) => Promise.reject(new Error(messageOf(thrown))))
    },
    interrupt: () => void program.end('stopped', 'cancelled'),
  })
}

function messageIn({ message }: Record<string, unknown>): string {
  return typeof message === 'string' ? message : 'It failed.'
}

/** null: it is no call. */
function codexCall(item: Record<string, unknown>): CallUpdate | null {
  const { id, type } = item
  if (typeof id !== 'string' || id === '') return null
  const status = STATUSES.has(item['status']) ? (item['status'] as CodingCall['status']) : 'in_progress'
  switch (type) {
    case 'command_execution': {
      const { command, aggregated_output: output, exit_code: exitCode } = item
      if (typeof command !== 'string') return null
      return {
        id,
        kind: 'execute',
        title: command,
        command,
        status,
        rawInput: { command },
        ...(typeof output === 'string' && output !== '' ? { output } : {}),
        ...(Number.isSafeInteger(exitCode) ? { exitCode: exitCode as number } : {}),
      }
    }
    case 'file_change': {
      const changes = Array.isArray(item['changes']) ? item['changes'].slice(0, MAX_CHANGES).filter(isRecord) : []
      const paths = changes.flatMap(({ path }) => (typeof path === 'string' ? [path] : []))
      const isDeletion = changes.length > 0 && changes.every(({ kind }) => kind === 'delete')
      return { id, kind: isDeletion ? 'delete' : 'edit', title: paths.join(', '), paths, status, rawInput: { changes } }
    }
    case 'mcp_tool_call':
      return { id, kind: 'other', title: `${String(item['server'])} ${String(item['tool'])}`, status, rawInput: item['arguments'] }
    case 'web_search':
      return { id, kind: 'fetch', title: String(item['query']), status, rawInput: { query: item['query'] } }
    default:
      return null
  }
}
