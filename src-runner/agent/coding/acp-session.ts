import type { AnyMessage, NewSessionRequest, PromptRequest, SessionModeState } from '@agentclientprotocol/sdk'
import { isRecord } from '../../lib/json-values.ts'
import { readCall, readUsage, usageOfTurn } from './acp-updates.ts'
import type { CodingProcess } from './coding-process.ts'
import type { CodingSession, CodingStopReason, CodingUsage } from './coding-session.ts'
import type { CodingTurns } from './coding-turns.ts'
import { tooOld } from './coding-ways.ts'
import { answerInTime, createTurnSession, type OpenWith } from './turn-session.ts'

const STOP_REASONS = new Map<unknown, CodingStopReason>([
  ['max_tokens', 'max_tokens'],
  ['max_turn_requests', 'max_turns'],
  ['refusal', 'refusal'],
  ['cancelled', 'cancelled'],
])
const MAX_SESSION_ID_CHARS = 512

/** `id`: empty until the program has opened it. */
type Session = { id: string; readonly folder: string }

/** A session over the Agent Client Protocol, version 1. https://agentclientprotocol.com/protocol/v1/overview */
export async function openAcpSession(options: OpenWith): Promise<CodingSession> {
  const { cli, way, folder, loadSessionId, program, turns } = options
  const inTime = <T>(answer: Promise<T>) => answerInTime(options, answer)
  const { client, methods, PROTOCOL_VERSION } = await import('@agentclientprotocol/sdk')
  const session: Session = { id: loadSessionId ?? '', folder }
  const connection = client({ name: 'deckhand' })
    .onRequest(methods.client.session.requestPermission, asIs, ({ params }) => askPermission(turns, params, session))
    .connect(streamOf(program, turns, session))
  void program.ended.then(() => connection.close(new Error('The program has ended.')))
  void connection.closed.then(() => program.end('exited', 'The connection was closed.'))

  const { agent } = connection
  const began = await inTime(
    agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      // It reads, writes and runs by itself, in the sandbox.
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'deckhand', version: '1' },
    }),
  )
  if (began.protocolVersion !== PROTOCOL_VERSION) throw tooOld(cli, `protocol version ${String(began.protocolVersion)}`)
  const place: NewSessionRequest = { cwd: folder, mcpServers: [], ...(way.sessionMeta === undefined ? {} : { _meta: way.sessionMeta }) }
  const opened = await inTime<{ modes?: SessionModeState | null }>(
    loadSessionId === undefined
      ? agent.request(methods.agent.session.new, place).then((made) => {
          session.id = readSessionId(made)
          return made
        })
      : agent.request(methods.agent.session.load, { ...place, sessionId: loadSessionId }),
  )
  if (way.askingMode !== null && opened.modes != null && opened.modes.currentModeId !== way.askingMode)
    await inTime(agent.request(methods.agent.session.setMode, { sessionId: session.id, modeId: way.askingMode }))

  return createTurnSession(options, {
    session: { id: session.id, canLoad: began.agentCapabilities?.loadSession === true },
    async ask(text) {
      const prompt: PromptRequest = { sessionId: session.id, prompt: [{ type: 'text', text }] }
      const { stopReason } = await agent.request(methods.agent.session.prompt, prompt)
      return STOP_REASONS.get(stopReason) ?? 'end_turn'
    },
    interrupt: () => void agent.notify(methods.agent.session.cancel, { sessionId: session.id }).catch(() => {}),
  })
}

async function askPermission(turns: CodingTurns, params: unknown, session: Session) {
  const cancelled = { outcome: { outcome: 'cancelled' as const } }
  const { toolCall, options, sessionId: ofSession } = isRecord(params) ? params : {}
  const update = readCall(toolCall, session.folder)
  if (update === null || ofSession !== session.id) return cancelled
  const answer = await turns.permission(update)
  if (answer === 'cancelled') return cancelled
  // Never "always": that would be a rule that we do not know of.
  const option = optionOf(options, answer === 'allow' ? 'allow_once' : 'reject_once')
  return option === null ? cancelled : { outcome: { outcome: 'selected' as const, optionId: option } }
}

/** The program names its own options. One that cannot be told by its kind is not chosen. */
function optionOf(options: unknown, kind: 'allow_once' | 'reject_once'): string | null {
  for (const option of Array.isArray(options) ? options.slice(0, 50) : [])
    if (isRecord(option) && option['kind'] === kind && typeof option['optionId'] === 'string') return option['optionId']
  return null
}

/**
 * The messages for the library. Updates and usage are read here: it would handle updates one beside the other, print those that its
 * schema does not know, and leave out what a turn has used. Answers to nothing, which it prints too, are dropped.
 */
function streamOf(program: CodingProcess, turns: CodingTurns, session: Session) {
  const waiting = new Set<unknown>()
  const used: CodingUsage = {}
  // The library stops reading when a message to the program could not be sent.
  let isRead = true
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      program.listen((message) => {
        if (message['method'] === 'session/update') return 'id' in message ? undefined : readUpdate(message['params'], turns, session)
        if (!('method' in message)) {
          if (!waiting.delete(message['id'])) return
          const usage = usageOfTurn(message['result'])
          if (usage !== null) turns.usage(addTo(used, usage))
        } else if (!('id' in message)) return
        if (isRead) controller.enqueue(message as AnyMessage)
      })
      void program.ended.then(() => isRead && controller.close())
    },
    cancel: () => void (isRead = false),
  })
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if ('method' in message && 'id' in message) waiting.add(message.id)
      await program.send(message)
    },
  })
  return { readable, writable }
}

function readUpdate(params: unknown, turns: CodingTurns, session: Session): void {
  if (!isRecord(params) || params['sessionId'] !== session.id || !isRecord(params['update'])) return
  const { update } = params
  const { content } = update
  const text = isRecord(content) && content['type'] === 'text' && typeof content['text'] === 'string' ? content['text'] : ''
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return turns.text(text)
    case 'agent_thought_chunk':
      return turns.thinking(text)
    case 'tool_call':
    case 'tool_call_update': {
      const call = readCall(update, session.folder)
      return call === null ? undefined : turns.call(call)
    }
    case 'usage_update': {
      const usage = readUsage(update)
      return usage === null ? undefined : turns.usage(usage)
    }
  }
}

/** Adapters count by turn. */
function addTo(used: CodingUsage, { inputTokens = 0, outputTokens = 0, cachedTokens = 0, model }: CodingUsage): CodingUsage {
  used.inputTokens = (used.inputTokens ?? 0) + inputTokens
  used.outputTokens = (used.outputTokens ?? 0) + outputTokens
  used.cachedTokens = (used.cachedTokens ?? 0) + cachedTokens
  return model === undefined ? used : { ...used, model }
}

function asIs(params: unknown): unknown {
  return params
}

function readSessionId({ sessionId }: { sessionId: unknown }): string {
  if (typeof sessionId !== 'string' || sessionId === '' || sessionId.length > MAX_SESSION_ID_CHARS)
    throw new Error('It opened a session without a name.')
  return sessionId
}
