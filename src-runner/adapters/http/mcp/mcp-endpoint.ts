import { createHash } from 'node:crypto'
import { clientOf, type Caller } from '../caller.ts'
import type { OpenStream } from '../handler.ts'
import type { McpResponse } from './mcp-protocol.ts'
import { createMcpTools, type McpToolDeps } from './mcp-tools.ts'

/**
 * Deckhand as a server of the Model Context Protocol. It is no row of the route table, because JSON-RPC has one address for
 * everything, answers with JSON or a stream as it likes, and reports its errors inside the response. Gate, authentication and
 * body limits are those of the table, and its tools are calls of routes (`perform`).
 */
export const MCP_ROUTE = { method: 'POST', path: '/mcp', access: 'runner', reach: 'workspace' } as const

export type McpEndpointDeps = McpToolDeps & { newSessionId(): string }

/** `json`: the whole body. `stream`: server-sent events. Neither: the response has no body. */
export type McpAnswer = { status: number; headers: Record<string, string>; json?: string; stream?: OpenStream }

type McpCall = { headers: Record<string, string | string[] | undefined>; body: unknown; caller: Caller }

const FORWARDED = ['accept', 'mcp-protocol-version']
const LONGEST_SESSION_ID = 200

export function createMcpEndpoint(deps: McpEndpointDeps) {
  const toolsFor = createMcpTools(deps)
  /** Requests whose response is a stream, by caller, session and request id: a cancellation comes in a request of its own. */
  const open = new Map<string, () => void>()

  return async ({ headers, body, caller }: McpCall): Promise<McpAnswer> => {
    const { answerMcp } = await import('./mcp-protocol.ts')
    const session = sessionOf(headers)
    cancelNamed(body, caller, session)
    const given = new Headers({ 'content-type': 'application/json' })
    for (const name of FORWARDED) if (typeof headers[name] === 'string') given.set(name, headers[name])
    const answer = await answerMcp({ headers: given, body, caller, tools: toolsFor(caller) })
    const { response } = answer
    const contentType = response.headers.get('content-type')
    if (contentType?.startsWith('text/event-stream') === true) {
      return { status: response.status, headers: {}, stream: openResponse(answer, keyOf(caller, session, fieldOf(body, 'id'))) }
    }
    answer.close()
    const isStart = response.status === 200 && fieldOf(body, 'method') === 'initialize'
    return {
      status: response.status,
      headers: isStart ? { 'mcp-session-id': deps.newSessionId() } : {},
      ...(response.body === null ? {} : { json: await response.text() }),
    }
  }

  function cancelNamed(body: unknown, caller: Caller, session: string | null): void {
    if (fieldOf(body, 'method') !== 'notifications/cancelled') return
    const key = keyOf(caller, session, fieldOf(fieldOf(body, 'params'), 'requestId'))
    if (key !== null) open.get(key)?.()
  }

  function openResponse({ response, close }: McpResponse, key: string | null): OpenStream {
    return (sink) => {
      const reader = response.body!.getReader()
      const decoder = new TextDecoder()
      const stop = () => {
        if (key !== null && open.get(key) === stop) open.delete(key)
        close()
      }
      if (key !== null) open.set(key, stop)
      const forward = async (): Promise<void> => {
        for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
          sink.send(decoder.decode(chunk.value, { stream: true }))
        }
      }
      forward().then(sink.end, sink.end)
      return stop
    }
  }
}

/** The client's session. It names no state and proves nothing: it only tells the requests of two clients apart. */
function sessionOf(headers: McpCall['headers']): string | null {
  const id = headers['mcp-session-id']
  return typeof id === 'string' && id.length <= LONGEST_SESSION_ID ? id : null
}

/** null: the request cannot be cancelled. */
function keyOf(caller: Caller, session: string | null, requestId: unknown): string | null {
  if (session === null || (typeof requestId !== 'string' && typeof requestId !== 'number')) return null
  return createHash('sha256')
    .update(JSON.stringify([clientOf(caller), session, requestId]))
    .digest('base64')
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}
