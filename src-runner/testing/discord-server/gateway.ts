import type { Server } from 'node:http'
import { WebSocketServer, type WebSocket } from 'ws'

const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalidSession: 9, hello: 10, ack: 11 } as const

/** Messages in which the account is not mentioned have no text without the intent `MESSAGE_CONTENT`. */
export const MESSAGE_CONTENT = 1 << 15

type Payload = { op: number; d: unknown; s?: number; t?: string }
type Session = { id: string; intents: number; sequence: number; log: Payload[]; socket: WebSocket | null }

export type Gateway = {
  /** Sends an event to all sessions. One without a connection gets it when it resumes. */
  dispatch(event: string, data: Record<string, unknown>): void
  /** Whether a session is connected and ready. */
  isReady(): boolean
  /** Asks all connections to reconnect (op 7) and closes them. */
  askToReconnect(): void
  /** Ends all sessions (op 9). */
  invalidate(isResumable: boolean): void
  /** Closes all connections with this code. Codes of 4000 and more leave the sessions, unless they end them. */
  disconnect(code: number): void
  /** Cuts the connections without a word. */
  cut(): void
  /** Sends this to all connections as it is. */
  sendText(text: string): void
  /** From now on heartbeats are not acknowledged, or are again. */
  acknowledge(does: boolean): void
  /** The next connections get this instead of a hello. */
  greetWith(text: string | null): void
  /** From now on, identifying with other intents ends with 4014. */
  allowIntents(intents: number): void
  /** When sessions were begun, by the clock of the server. */
  identifies: { at: number; intents: number }[]
  resumes: { at: number }[]
  connections: { at: number }[]
  heartbeats: number
  close(): Promise<void>
}

type GatewayDeps = {
  now: () => number
  heartbeatMs: number
  url: () => string
  isToken: (token: unknown) => boolean
  account: () => { user: Record<string, unknown>; application: Record<string, unknown> }
  look: () => void
}

export function createGateway(server: Server, { now, heartbeatMs, url, isToken, account, look }: GatewayDeps): Gateway {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 4096 })
  const sessions = new Map<string, Session>()
  const connected = new Set<WebSocket>()
  const CODES_THAT_END_SESSIONS = [1000, 1001, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014]
  let allowed = ~0
  let acknowledges = true
  let greeting: string | null = null

  const send = (socket: WebSocket, payload: Payload) => socket.send(JSON.stringify({ s: null, t: null, ...payload }))

  function closeWith(socket: WebSocket, code: number): void {
    const session = sessionOf(socket)
    if (session !== undefined) {
      session.socket = null
      if (CODES_THAT_END_SESSIONS.includes(code)) sessions.delete(session.id)
    }
    socket.close(code)
  }

  function sessionOf(socket: WebSocket): Session | undefined {
    return [...sessions.values()].find((session) => session.socket === socket)
  }

  function dispatchTo(session: Session, t: string, d: unknown): void {
    const payload = { op: OP.dispatch, s: ++session.sequence, t, d }
    session.log.push(payload)
    if (session.socket !== null) send(session.socket, payload)
  }

  function identify(socket: WebSocket, { token, intents }: { token?: unknown; intents?: number }): void {
    if (!isToken(token)) return closeWith(socket, 4004)
    gateway.identifies.push({ at: now(), intents: intents ?? 0 })
    if (typeof intents !== 'number') return closeWith(socket, 4013)
    if ((intents & ~allowed) !== 0) return closeWith(socket, 4014)
    const session: Session = { id: `session-${gateway.identifies.length}`, intents, sequence: 0, log: [], socket }
    sessions.set(session.id, session)
    const ready = { v: 10, ...account(), guilds: [], session_id: session.id, resume_gateway_url: url() }
    dispatchTo(session, 'READY', ready)
  }

  function resume(socket: WebSocket, given: { token?: unknown; session_id?: string; seq?: number }): void {
    if (!isToken(given.token)) return closeWith(socket, 4004)
    gateway.resumes.push({ at: now() })
    const session = sessions.get(given.session_id ?? '')
    if (session === undefined || typeof given.seq !== 'number' || given.seq > session.sequence)
      return send(socket, { op: OP.invalidSession, d: false })
    session.socket?.terminate()
    session.socket = socket
    for (const payload of session.log) if (payload.s! > given.seq) send(socket, payload)
    dispatchTo(session, 'RESUMED', {})
  }

  function take(socket: WebSocket, text: string): void {
    const { op, d } = JSON.parse(text) as Payload
    if (op === OP.heartbeat) {
      gateway.heartbeats++
      if (acknowledges) send(socket, { op: OP.ack, d: null })
    } else if (op === OP.identify) {
      if (sessionOf(socket) === undefined) identify(socket, d as never)
      else closeWith(socket, 4005)
    } else if (op === OP.resume) resume(socket, d as never)
    else closeWith(socket, 4001)
    look()
  }

  server.on('upgrade', (request, stream, head) => {
    if (!/^\/gateway\/?\?v=10&encoding=json$/.test(request.url!)) return void stream.end('HTTP/1.1 404 Not Found\r\n\r\n')
    sockets.handleUpgrade(request, stream, head, (socket) => {
      connected.add(socket)
      gateway.connections.push({ at: now() })
      socket.on('error', () => {})
      socket.on('message', (data) => {
        try {
          take(socket, (data as Buffer).toString('utf8'))
        } catch {
          closeWith(socket, 4002)
        }
      })
      socket.on('close', () => {
        connected.delete(socket)
        const session = sessionOf(socket)
        if (session !== undefined) session.socket = null
        look()
      })
      if (greeting === null) send(socket, { op: OP.hello, d: { heartbeat_interval: heartbeatMs } })
      else socket.send(greeting)
      look()
    })
  })

  const gateway: Gateway = {
    dispatch(event, data) {
      for (const session of sessions.values()) dispatchTo(session, event, data)
      look()
    },
    isReady: () => [...sessions.values()].some(({ socket }) => socket !== null),
    askToReconnect() {
      for (const socket of connected) {
        send(socket, { op: OP.reconnect, d: null })
        closeWith(socket, 4000)
      }
    },
    invalidate(isResumable) {
      if (!isResumable) sessions.clear()
      for (const socket of connected) {
        send(socket, { op: OP.invalidSession, d: isResumable })
        closeWith(socket, 4000)
      }
    },
    disconnect: (code) => connected.forEach((socket) => closeWith(socket, code)),
    cut: () => connected.forEach((socket) => socket.terminate()),
    sendText: (text) => connected.forEach((socket) => socket.send(text)),
    acknowledge: (does) => void (acknowledges = does),
    greetWith: (text) => void (greeting = text),
    allowIntents: (intents) => void (allowed = intents),
    identifies: [],
    resumes: [],
    connections: [],
    heartbeats: 0,
    async close() {
      for (const socket of connected) socket.terminate()
      await new Promise((resolve) => sockets.close(resolve))
    },
  }
  return gateway
}
