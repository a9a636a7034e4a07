import type { Translate } from '../../../../resources/locales/translate.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage, type Speech } from '../../../lib/messages.ts'
import { CHAT_COMMANDS } from '../../../domain/channels/commands.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import type { RunnerOfChannel } from '../channel.ts'
import { pauseAfter, trouble } from '../service-calls.ts'
import { isOfService, type DiscordApi, type Trouble } from './discord-api.ts'
import { runGateway, type GatewayEnd, type GatewaySession, type Ready } from './gateway.ts'
import { createHealth } from './health.ts'
import { createInbox } from './inbox.ts'
import type { Presses } from './presses.ts'

/** Messages in servers, private messages, and the text of all of them. The last one must be allowed on the page of the bot. */
const INTENTS = { guildMessages: 1 << 9, directMessages: 1 << 12, messageContent: 1 << 15 }
/** The service takes one identification in five seconds. */
const IDENTIFY_EVERY_MS = 5_500
/** A connection that lasted this long was well, so the next one may follow at once. */
const STEADY_MS = 60_000
/** A session that cannot be resumed so often is given up. */
const MAX_RESUMES = 3

export type ListenDeps = {
  api: DiscordApi
  access: ChannelAccess
  clock: Clock
  speech: Speech
  random: () => number
  runner: RunnerOfChannel
  presses: Presses
  closing: AbortSignal
}

/** Receives messages and hands them over, until `closing` aborts or the service refuses the token. Rejects when `closing` aborts. */
export async function listen(deps: ListenDeps, position: string | null): Promise<void> {
  const stopping = new AbortController()
  const signal = AbortSignal.any([deps.closing, stopping.signal])
  const health = createHealth(deps.runner)
  const inbox = createInbox({ ...deps, health, signal }, position)
  let mayReadContent = true
  let hasCommands = false

  function onReady(ready: Ready | null): void {
    if (ready !== null) {
      deps.api.applicationId = ready.applicationId
      const link = `https://discord.com/developers/applications/${ready.applicationId}/bot`
      health.warn(mayReadContent ? null : createMessage('discord_intents', { link }))
      // The next session may ask for it again.
      mayReadContent ||= ready.mayReadContent
      inbox.onReady(ready.userId)
    }
    inbox.addLast(async () => void (hasCommands ||= await offerCommands(deps.api, deps.speech(), signal)))
    health.set('connecting', null)
  }

  function openGateway(address: string, session: GatewaySession | null, onIdentify: () => void): Promise<GatewayEnd> {
    const intents = INTENTS.guildMessages | INTENTS.directMessages | (mayReadContent ? INTENTS.messageContent : 0)
    const { token, baseUrl } = deps.access
    const { onEvent } = inbox
    const events = { onIdentify, onReady, onEvent, onRoundTrip: deps.runner.roundTrip }
    const gateway = { ...deps, token, intents, server: deps.api.server, isOfService: (url: string) => isOfService(url, baseUrl) }
    return runGateway({ ...gateway, ...events }, address, session, signal)
  }

  function onEnd({ reason }: GatewayEnd): void {
    if (reason === 'intents') mayReadContent = false
  }

  const staying = stayConnected(
    { ...deps, closing: signal },
    { openGateway, onEnd, onProblem: (problem) => health.set('connecting', problem) },
  )
  const working = inbox.run()
  try {
    const refusal = await Promise.race([staying, working])
    deps.runner.status('logged_out', refusal)
  } finally {
    stopping.abort(new Error('the connection has ended'))
    await Promise.allSettled([staying, working])
  }
}

type Staying = {
  openGateway(address: string, session: GatewaySession | null, onIdentify: () => void): Promise<GatewayEnd>
  onEnd(end: GatewayEnd): void
  onProblem(problem: Message): void
}

/** Connects again and again. Resolves with the reason when the service refuses the token. */
async function stayConnected(deps: ListenDeps, { openGateway, onEnd, onProblem }: Staying): Promise<Message> {
  const { clock, random, closing } = deps
  const begins = createSessionBegins(deps)
  let session: GatewaySession | null = null
  for (let failures = 0; ; failures++) {
    const startedAt = clock.monotonic()
    const found: { address: string } | Trouble = session === null ? await begins.findAddress() : { address: session.url }
    const end: GatewayEnd | Trouble = 'address' in found ? await openGateway(found.address, session, begins.note) : found
    closing.throwIfAborted()
    if ('kind' in end ? end.kind === 'token' : end.reason === 'token') return end.problem
    if (clock.monotonic() - startedAt >= STEADY_MS) failures = 0
    if ('kind' in end) {
      onProblem(end.problem)
      await clock.sleep(pauseAfter(end, failures, random), closing)
      // It has said how long to wait, so it need not be longer the next time.
      if (end.retryAfterMs !== null) failures--
      continue
    }
    onEnd(end)
    session = end.wasReady || failures < MAX_RESUMES ? end.session : null
    // Connections end for ordinary reasons too. Only when it happens again, it is a problem.
    if (failures === 0) continue
    onProblem(end.problem)
    await clock.sleep(pauseAfter({ retryAfterMs: null }, failures - 1, random), closing)
  }
}

/** Where to begin a session, at most as often as the service lets sessions begin. */
function createSessionBegins({ api, access, clock, closing }: ListenDeps) {
  let lastAt: number | null = null
  const note = () => void (lastAt = clock.monotonic())

  async function findAddress(): Promise<{ address: string } | Trouble> {
    const waitMs = lastAt === null ? 0 : lastAt + IDENTIFY_EVERY_MS - clock.monotonic()
    if (waitMs > 0) await clock.sleep(waitMs, closing)
    const result = await api.call('GET', '/gateway/bot', { signal: closing })
    if (!result.ok) return result
    const { server } = api
    const { url, session_start_limit: limit } = (result.value ?? {}) as { url?: unknown; session_start_limit?: Record<string, unknown> }
    if (typeof url !== 'string' || !isOfService(url, access.baseUrl)) {
      return trouble('unreachable', createMessage('chat_not_understood', { server }))
    }
    if (limit?.['remaining'] === 0) {
      const resetMs = Number(limit['reset_after'])
      return trouble('slow_down', createMessage('chat_slow_down', { server }), { retryAfterMs: resetMs > 0 ? resetMs : null })
    }
    note()
    return { address: url }
  }

  /** `note`: a session begins now, which may be long after its address was found. */
  return { findAddress, note }
}

/** Shows the commands in the menu of every chat. Returns false if it should be tried again. */
async function offerCommands(api: DiscordApi, t: Translate, signal: AbortSignal): Promise<boolean> {
  const body = CHAT_COMMANDS.map((name) => {
    const does = t(`outbound.command.${name}`)
    return { name, type: 1, description: (does[0]!.toUpperCase() + does.slice(1)).slice(0, 100) }
  })
  const result = await api.call('PUT', `/applications/${api.applicationId}/commands`, { signal, body })
  return result.ok || result.kind === 'refused' || result.kind === 'forbidden'
}
