import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { SUPPORTED_PROTOCOL_VERSIONS, type CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Caller } from '../caller.ts'
import { errorBody, toAppError } from '../error-response.ts'
import { INSTRUCTIONS, ToolRefusal, type McpTool } from './mcp-tools.ts'

export type McpRequest = { headers: Headers; body: unknown; caller: Caller; tools: McpTool[] }

/** `close` ends the response and aborts its tool. */
export type McpResponse = { response: Response; close(): void }

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/**
 * One request of the Model Context Protocol over streamable HTTP. Nothing is kept between two requests, so a client goes on
 * after a restart, and nothing has to be bounded or expire.
 */
export async function answerMcp({ headers, body, caller, tools }: McpRequest): Promise<McpResponse> {
  const version = headers.get('mcp-protocol-version')
  if (Array.isArray(body)) return refusalOf(-32_600, 'Batches are not supported. Send one message per request.')
  if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    return refusalOf(-32_600, `Unsupported protocol version. Supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}`)
  }
  const server = new McpServer({ name: 'deckhand', title: 'Deckhand', version: '1' }, { instructions: INSTRUCTIONS })
  for (const tool of tools) addTool(server, tool, caller)
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: !isWaiting(body, tools),
    keepAliveMs: 0,
  })
  await server.connect(transport)
  // The address is not read. It only has to be one.
  const request = new Request('http://deckhand.invalid/mcp', { method: 'POST', headers })
  const response = await transport.handleRequest(request, { parsedBody: body ?? null })
  return { response, close: () => void server.close() }
}

function isWaiting(body: unknown, tools: McpTool[]): boolean {
  if (!isObject(body) || body['method'] !== 'tools/call' || !isObject(body['params'])) return false
  const { name } = body['params']
  return tools.some((tool) => tool.waits && tool.name === name)
}

function refusalOf(code: number, message: string): McpResponse {
  return { response: Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status: 400 }), close: () => {} }
}

function addTool(server: McpServer, { name, title, description, input, readOnly, run }: McpTool, caller: Caller): void {
  const annotations = { title, readOnlyHint: readOnly, destructiveHint: !readOnly, openWorldHint: !readOnly }
  server.registerTool(name, { title, description, inputSchema: input, annotations }, async (args, { signal, _meta, sendNotification }) => {
    let count = 0
    const progressToken = _meta?.progressToken
    const progress = (message: string) => {
      if (progressToken === undefined || signal.aborted) return
      // A client that is gone needs no progress.
      sendNotification({ method: 'notifications/progress', params: { progressToken, progress: ++count, message } }).catch(() => {})
    }
    try {
      return textOf(await run(args as never, { caller, signal, progress }), false)
    } catch (error) {
      return textOf(error instanceof ToolRefusal ? { message: error.message } : errorBody(toAppError(error)), true)
    }
  })
}

function textOf(value: object, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], ...(isError ? { isError } : {}) }
}
