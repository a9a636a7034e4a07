import { channel } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { buildConnector, WebSocket } from 'undici'
import { loadUndici, ONLY_HTTP_1, OutboundError, troubleFrom } from './outbound.ts'

export type WebSocketEvents = {
  onOpen(): void
  onMessage(text: string): void
  /** The other side has answered a ping. */
  onPong(): void
  /** Called once, and nothing after it. `code`: the one that the other side gave, if it closed the connection. */
  onClose(trouble: OutboundError, code: number | null): void
}

export type OpenedSocket = {
  /** Does nothing once the socket is closed. */
  send(text: string): void
  ping(): void
  /** Ends the connection at once, by default with the code of a normal end. `onClose` is not called. */
  close(code?: number): void
}

export type WebSocketOptions = { maxMessageBytes: number; connectTimeoutMs?: number }

const CONNECT_TIMEOUT_MS = 20_000
const NORMAL_CLOSURE = 1000

/**
 * Opens a WebSocket to a service that the person chose. Like `createOutbound`, it has its own agent and follows no redirect.
 * Throws OutboundError `bad_url`.
 */
export async function openWebSocket(url: string, events: WebSocketEvents, options: WebSocketOptions): Promise<OpenedSocket> {
  const { Agent, buildConnector, ping, WebSocket } = await loadUndici()
  checkUrl(url)
  const open = buildConnector({ timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS, allowH2: false })
  let connection: Socket | null = null
  let connectError: unknown = null
  const agent = new Agent({
    ...ONLY_HTTP_1,
    webSocket: { maxPayloadSize: options.maxMessageBytes },
    connect: (target, done) =>
      open(target, (...[error, socket]: buildConnector.CallbackArgs) => {
        // undici hides the connection of a WebSocket, which must be destroyed if the other side does not close it.
        connection = socket
        connectError = error
        if (error !== null) done(error, null)
        else done(null, socket)
      }),
  })
  const socket = new WebSocket(url, { dispatcher: agent })
  let isOpen = false
  let isEnded = false

  function end(code = NORMAL_CLOSURE): boolean {
    if (isEnded) return false
    isEnded = true
    PONGS.unsubscribe(onPong)
    if (socket.readyState === WebSocket.OPEN) socket.close(code)
    connection?.destroySoon()
    void agent.destroy()
    return true
  }

  function onPong(message: unknown): void {
    if ((message as { websocket?: WebSocket }).websocket === socket) events.onPong()
  }

  function fail(thrown: unknown, code: number | null = null): void {
    if (end()) events.onClose(thrown instanceof OutboundError ? thrown : troubleFrom(thrown), code)
  }

  PONGS.subscribe(onPong)
  socket.addEventListener('open', () => {
    isOpen = true
    if (!isEnded) events.onOpen()
  })
  socket.addEventListener('message', ({ data }) => isEnded || typeof data !== 'string' || events.onMessage(data))
  socket.addEventListener('error', ({ error }) => fail(connectError ?? (isOpen ? lost() : notOpened(error))))
  socket.addEventListener('close', ({ code }) => fail(new OutboundError('reset', `it closed the connection (${code})`), code))
  return {
    send: (text) => void (!isEnded && socket.readyState === WebSocket.OPEN && socket.send(text)),
    ping: () => void (!isEnded && socket.readyState === WebSocket.OPEN && ping(socket, Buffer.alloc(0))),
    close: (code) => void end(code),
  }
}

/** undici tells of frames in this way only, for all sockets of the process. */
const PONGS = channel('undici:websocket:pong')

const lost = () => new OutboundError('reset', 'the connection was lost')

/** undici hides the response behind an error of its own. */
function notOpened(error: unknown): OutboundError {
  return new OutboundError('protocol', error instanceof Error && error.message !== '' ? error.message : 'the server opens no WebSocket')
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'wss:' && url.protocol !== 'ws:') || url.username !== '' || url.password !== '') {
    throw new OutboundError('bad_url', 'only wss and ws addresses are opened')
  }
}
