import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFields, type UploadedFile } from '../bot-api-server/request-fields.ts'
import { createGateway, MESSAGE_CONTENT, type Gateway } from './gateway.ts'
import { createRateLimits, type RateLimits } from './rate-limits.ts'
import { shownText } from './shown-text.ts'
import { compareIds, createSnowflakes } from './snowflakes.ts'

export type DiscordUser = { id: string; username: string; global_name: string | null }

export type SentMessage = {
  id: string
  channelId: string
  content: string
  /** As a person sees it. */
  text: string
  buttons: { label: string; custom_id: string }[]
  file: UploadedFile | null
  flags: number
}

export type DiscordFault =
  /** The service answers with an error in its own form. */
  | { kind: 'error'; status: number; code?: number; message: string; errors?: object; retryAfter?: number; isGlobal?: boolean }
  /** It accepts the call and never responds. */
  | { kind: 'stall' }
  /** A response that the service would not send. */
  | { kind: 'garbage'; body?: string; status?: number }
  /** The connection breaks before the call takes effect. */
  | { kind: 'reset' }
  /** The call takes effect, and the connection breaks before the response. */
  | { kind: 'lost_answer' }

export type SayOptions = {
  /** Where it is written. Without it, in the private chat. */
  channelId?: string
  replyTo?: string
  forwarded?: { content: string; files?: { name: string; bytes: Uint8Array }[] }
  files?: { name: string; bytes: Uint8Array; size?: number }[]
  /** Fields of the message as the service has them. */
  fields?: Record<string, unknown>
}

export type DiscordServer = {
  /** The base of the REST API. */
  url: string
  readonly token: string
  bot: { id: string; username: string }
  applicationId: string
  guild: { id: string; name: string }
  /** A text channel of the guild. */
  roomId: string
  gateway: Gateway
  limits: RateLimits
  /** All messages of the bot, in order. */
  sent: SentMessage[]
  /** Every call, with the body that it carried. */
  calls: { call: string; body: Record<string, unknown> }[]
  /** Notes that only the person who pressed a button or wrote a command sees. */
  notes: { interactionId: string; text: string }[]
  commands: { name: string; description: string }[]
  /** The private chat of a person with the bot. */
  chatOf(user: DiscordUser): string
  /** Somebody writes. Returns the id of the message. */
  say(user: DiscordUser, text: string, options?: SayOptions): string
  /** Somebody presses the button with this id. Returns the id of the press. */
  press(user: DiscordUser, customId: string, channelId?: string): string
  /** Somebody chooses a command in the menu. */
  command(user: DiscordUser, name: string, channelId?: string): string
  block(user: DiscordUser): void
  /** The bot may no longer write in this channel. */
  forbid(channelId: string): void
  /** The next calls whose `METHOD /path` matches fail like this. With a file, ` with a file` follows. */
  fault(call: RegExp, fault: DiscordFault, times?: number): void
  clearFaults(): void
  /** From now on the token is refused. */
  revokeToken(): void
  acceptToken(token: string): void
  /** What is left of the sessions that may be begun today. */
  sessionsLeft: { remaining: number; resetAfterMs: number }
  /** Whether the application has the intent `MESSAGE_CONTENT`. */
  allowMessageContent(does: boolean): void
  /** Resolves when this is true. Checked after every call and frame. */
  until(isTrue: () => boolean): Promise<void>
  untilSent(count: number): Promise<void>
  /** Called at each step of receiving and sending: `MESSAGE_CREATE dispatched`, `POST messages done`. */
  watchSteps(watcher: (step: string) => void): void
  /** Resolves when the bot is connected and has read what it missed. */
  untilListening(): Promise<void>
  close(): Promise<void>
}

export type DiscordServerOptions = { now?: () => number; heartbeatMs?: number; port?: number }

const MAX_CONTENT = 2000
const MAX_FILE_BYTES = 10_000_000
const MESSAGE_CONTENT_LIMITED = 1 << 19
const DM_PERMISSION_TYPES = { dm: 1, text: 0 }

/** A refusal in the service's own form. */
class Refused extends Error {
  readonly status: number
  readonly code: number
  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

type StoredMessage = Record<string, unknown> & { id: string; channel_id: string; content: string; author: Record<string, unknown> }
type Interaction = { id: string; token: string; channelId: string; isAnswered: boolean }
type Call = { params: string[]; query: URLSearchParams; body: Record<string, unknown>; uploads: Map<string, UploadedFile> }

/**
 * A local server that speaks the REST API and the gateway of Discord, version 10. Like the real one, it validates calls, keeps
 * the history of channels, replays missed events, and recognises a message that is sent twice by its nonce.
 */
export async function startDiscordServer({ now = Date.now, heartbeatMs = 41_250, port = 0 }: DiscordServerOptions = {}) {
  const ids = createSnowflakes(now)
  const bot = { id: '1100000000000000001', username: 'deckhand_test' }
  const applicationId = '1100000000000000000'
  const guild = { id: '1200000000000000000', name: 'The crew' }
  const roomId = '1200000000000000001'
  const limits = createRateLimits(now)
  const sent: SentMessage[] = []
  const calls: DiscordServer['calls'] = []
  const notes: DiscordServer['notes'] = []
  const channels = new Map<string, { id: string; type: number; name?: string; guild_id?: string; messages: StoredMessage[] }>()
  const chats = new Map<string, string>()
  const closed = new Set<string>()
  const nonces = new Map<string, StoredMessage>()
  const interactions = new Map<string, Interaction>()
  const files = new Map<string, Uint8Array>()
  const faults: { call: RegExp; fault: DiscordFault; times: number }[] = []
  const watchers = new Set<() => void>()
  let onStep: (step: string) => void = () => {}
  let token = 'MTEwMDAwMDAwMDAwMDAwMDAwMQ.GdTest.dGhpcy1pcy1hLXRlc3QtdG9rZW4tb2YtdGhlLWxvY2Fs'
  let isRevoked = false
  let hasMessageContent = true
  channels.set(roomId, { id: roomId, type: DM_PERMISSION_TYPES.text, name: 'general', guild_id: guild.id, messages: [] })

  const look = () => [...watchers].forEach((watcher) => watcher())
  const isToken = (given: unknown) => !isRevoked && given === token

  function chatOf(user: DiscordUser): string {
    const known = chats.get(user.id)
    if (known !== undefined) return known
    const id = ids.next()
    chats.set(user.id, id)
    channels.set(id, { id, type: DM_PERMISSION_TYPES.dm, messages: [] })
    return id
  }

  function channelOf(id: string | undefined) {
    const channel = channels.get(id ?? '')
    if (channel === undefined) throw new Refused(404, 10_003, 'Unknown Channel')
    return channel
  }

  function attach(file: { name: string; bytes: Uint8Array; size?: number }): Record<string, unknown> {
    const id = ids.next()
    files.set(id, file.bytes)
    const { name: filename, size = file.bytes.length } = file
    return { id, filename, size, url: `${root()}/attachments/${id}/${encodeURIComponent(filename)}?ex=1&is=2&hm=3`, proxy_url: 'x' }
  }

  function post(channelId: string, author: Record<string, unknown>, fields: Record<string, unknown>): StoredMessage {
    const channel = channelOf(channelId)
    const message: StoredMessage = {
      id: ids.next(),
      channel_id: channelId,
      author,
      content: '',
      timestamp: new Date(now()).toISOString(),
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      attachments: [],
      embeds: [],
      pinned: false,
      type: 0,
      ...fields,
    }
    channel.messages.push(message)
    const place = channel.guild_id === undefined ? {} : { guild_id: channel.guild_id, member: { nick: null, roles: [] } }
    gateway.dispatch('MESSAGE_CREATE', { ...visible(message), ...place })
    if (author['id'] !== bot.id) onStep('MESSAGE_CREATE dispatched')
    return message
  }

  /** In a guild, the text of a message that does not mention the bot is empty without the intent. */
  function visible(message: StoredMessage): StoredMessage {
    const isOpen = hasMessageContent || channels.get(message.channel_id)?.guild_id === undefined || message.author['id'] === bot.id
    const isMentioned = (message['mentions'] as { id: string }[]).some(({ id }) => id === bot.id)
    return isOpen || isMentioned ? message : { ...message, content: '', attachments: [] }
  }

  function sendMessage({ params: [channelId], body, uploads }: Call): unknown {
    const channel = channelOf(channelId)
    if (closed.has(channel.id))
      throw channel.guild_id === undefined
        ? new Refused(403, 50_007, 'Cannot send messages to this user')
        : new Refused(403, 50_013, 'Missing Permissions')
    const fields = (body['payload_json'] ?? body) as Record<string, unknown>
    const content = textOf(fields['content'])
    const file = [...uploads.values()][0] ?? null
    if (content.trim() === '' && file === null) throw new Refused(400, 50_006, 'Cannot send an empty message')
    if ([...content].length > MAX_CONTENT || !content.isWellFormed()) throw invalid('content', 'Must be 2000 or fewer in length.')
    if (file !== null && file.bytes.length > MAX_FILE_BYTES) throw new Refused(413, 40_005, 'Request entity too large')
    const parse = (fields['allowed_mentions'] as { parse?: unknown[] } | undefined)?.parse
    if (parse?.length !== 0) throw new Refused(400, 50_035, 'The test expects a message that can mention nobody')
    const buttons = buttonsOf(fields['components'])
    const nonce = textOf(fields['nonce'])
    if (nonce.length > 25) throw invalid('nonce', 'Must be 25 or fewer in length.')
    const known = nonces.get(`${channelId}:${nonce}`)
    if (nonce !== '' && fields['enforce_nonce'] === true && known !== undefined) return known
    const attachments = file === null ? [] : [attach(file)]
    const message = post(channel.id, { ...bot, bot: true }, { content, attachments, components: fields['components'] ?? [] })
    nonces.set(`${channelId}:${nonce}`, message)
    const flags = Number(fields['flags'] ?? 0)
    sent.push({ id: message.id, channelId: channel.id, content, text: shownText(content), buttons, file, flags })
    return message
  }

  function answerInteraction({ params: [id, given], body }: Call): unknown {
    const interaction = interactions.get(id ?? '')
    if (interaction === undefined || interaction.token !== given) throw new Refused(404, 10_062, 'Unknown interaction')
    if (interaction.isAnswered) throw new Refused(400, 40_060, 'Interaction has already been acknowledged.')
    interaction.isAnswered = true
    const note = (body['data'] as { content?: string } | undefined)?.content
    if (note !== undefined) notes.push({ interactionId: interaction.id, text: shownText(note) })
    return null
  }

  function followUp({ params: [, given], body }: Call): unknown {
    const interaction = [...interactions.values()].find((one) => one.token === given)
    if (interaction === undefined || !interaction.isAnswered) throw new Refused(404, 10_015, 'Unknown Webhook')
    notes.push({ interactionId: interaction.id, text: shownText(textOf(body['content'])) })
    return { id: ids.next() }
  }

  function listMessages({ params: [channelId], query }: Call): unknown {
    const { messages } = channelOf(channelId)
    const after = query.get('after') ?? '0'
    const following = messages.filter((message) => compareIds(message.id, after) > 0).slice(0, Number(query.get('limit') ?? 50))
    return following.map(visible).reverse()
  }

  function removeButtons({ params: [channelId, id], body }: Call): unknown {
    channelOf(channelId)
    const message = sent.find((one) => one.channelId === channelId && one.id === id)
    if (message === undefined) throw new Refused(404, 10_008, 'Unknown Message')
    message.buttons = buttonsOf(body['components'])
    return { id }
  }

  const application = () => ({ id: applicationId, name: bot.username, flags: hasMessageContent ? MESSAGE_CONTENT_LIMITED : 0 })
  const routes: [pattern: RegExp, run: (call: Call) => unknown][] = [
    [/^GET \/gateway\/bot$/, () => gatewayInformation()],
    [/^GET \/users\/@me$/, () => ({ ...bot, bot: true, discriminator: '0001' })],
    [/^GET \/applications\/@me$/, application],
    [
      /^PUT \/applications\/(\d+)\/commands$/,
      ({ body }) => (result.commands = commandsOf(body)).map(({ name }) => ({ id: ids.next(), name })),
    ],
    [
      /^GET \/guilds\/(\d+)$/,
      ({ params }) => (params[0] === guild.id ? { ...guild, roles: [{ id: guild.id, name: '@everyone' }] } : unknownGuild()),
    ],
    [/^GET \/channels\/(\d+)$/, ({ params }) => channelOf(params[0])],
    [/^GET \/channels\/(\d+)\/messages$/, listMessages],
    [/^POST \/channels\/(\d+)\/messages$/, sendMessage],
    [/^PATCH \/channels\/(\d+)\/messages\/(\d+)$/, removeButtons],
    [/^POST \/channels\/(\d+)\/typing$/, ({ params }) => (channelOf(params[0]), null)],
    [/^POST \/interactions\/(\d+)\/([\w-]+)\/callback$/, answerInteraction],
    [/^POST \/webhooks\/(\d+)\/([\w-]+)$/, followUp],
  ]

  function gatewayInformation(): unknown {
    const { remaining, resetAfterMs } = result.sessionsLeft
    return {
      url: gatewayUrl(),
      shards: 1,
      session_start_limit: { total: 1000, remaining, reset_after: resetAfterMs, max_concurrency: 1 },
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    const file = /^\/api\/attachments\/(\d+)\//.exec(pathname)
    if (file !== null) return void response.writeHead(files.has(file[1]!) ? 200 : 404).end(files.get(file[1]!))
    if (!pathname.startsWith('/api/v10/')) return answer(response, 404, { message: '404: Not Found', code: 0 })
    const path = pathname.slice('/api/v10'.length)
    const call = `${request.method} ${path}`
    const { fields: body, uploads } = await readFields(request)
    calls.push({ call, body })
    const named = uploads.size > 0 ? `${call} with a file` : call
    const planned = faults.find((one) => one.times > 0 && one.call.test(named))
    if (planned !== undefined) planned.times--
    try {
      const isOpen = /^POST \/(interactions|webhooks)\//.test(call)
      if (!isOpen && !isToken(request.headers.authorization?.replace(/^Bot /, ''))) throw new Refused(401, 0, '401: Unauthorized')
      if (planned !== undefined && planned.fault.kind !== 'lost_answer') return show(planned.fault, response)
      const wait = limits.take(request, path, response)
      if (wait !== null) return show({ kind: 'error', status: 429, message: 'You are being rate limited.', retryAfter: wait }, response)
      const [pattern, run] = routes.find(([known]) => known.test(call)) ?? []
      if (run === undefined) throw new Refused(404, 0, '404: Not Found')
      // `POST messages`, `POST callback`: without ids and tokens.
      const name = `${request.method} ${/\/([a-z]+)(?:\/\d+)?$/.exec(path)?.[1] ?? path}`
      onStep(`${name} received`)
      const done = run({ params: pattern!.exec(call)!.slice(1), query: searchParams, body, uploads })
      onStep(`${name} done`)
      response.once('finish', () => onStep(`${name} answered`))
      if (planned !== undefined) return void response.destroy()
      answer(response, done === null ? 204 : 200, done)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      answer(response, error.status, { message: error.message, code: error.code })
    } finally {
      look()
    }
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const root = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  const gatewayUrl = () =>
    `${root()
      .replace('http', 'ws')
      .replace(/\/api$/, '')}/gateway`
  const gateway = createGateway(server, {
    now,
    heartbeatMs,
    look,
    isToken,
    url: gatewayUrl,
    account: () => ({ user: { ...bot, bot: true }, application: { id: applicationId, flags: application().flags } }),
  })

  function until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const watcher = () => {
        if (!isTrue()) return
        watchers.delete(watcher)
        resolve()
      }
      watchers.add(watcher)
      watcher()
    })
  }

  function interact(user: DiscordUser, channelId: string, type: number, data: Record<string, unknown>): string {
    const interaction = { id: ids.next(), token: `aW50ZXJhY3Rpb24-${interactions.size}`, channelId, isAnswered: false }
    interactions.set(interaction.id, interaction)
    const isPrivate = channelOf(channelId).guild_id === undefined
    const who = isPrivate ? { user } : { guild_id: guild.id, member: { user } }
    const { id, token: secret } = interaction
    gateway.dispatch('INTERACTION_CREATE', {
      id,
      token: secret,
      application_id: applicationId,
      type,
      version: 1,
      channel_id: channelId,
      data,
      ...who,
    })
    onStep('INTERACTION_CREATE dispatched')
    return id
  }

  const result: DiscordServer = {
    url: root(),
    get token() {
      return token
    },
    bot,
    applicationId,
    guild,
    roomId,
    gateway,
    limits,
    sent,
    calls,
    notes,
    chatOf,
    until,
    commands: [],
    sessionsLeft: { remaining: 1000, resetAfterMs: 86_400_000 },
    say(user, text, { channelId = chatOf(user), replyTo, forwarded, files: attached = [], fields = {} } = {}) {
      const known = channelOf(channelId).messages.find(({ id }) => id === replyTo)
      const reply =
        replyTo === undefined
          ? {}
          : { type: 19, message_reference: { type: 0, message_id: replyTo, channel_id: channelId }, referenced_message: known ?? null }
      const forward =
        forwarded === undefined
          ? {}
          : {
              message_reference: { type: 1, message_id: ids.next(), channel_id: ids.next() },
              message_snapshots: [{ message: { content: forwarded.content, attachments: (forwarded.files ?? []).map(attach) } }],
            }
      const mentions = text.includes(`<@${bot.id}>`) ? [{ ...bot, bot: true }] : []
      return post(channelId, user, { content: text, attachments: attached.map(attach), mentions, ...reply, ...forward, ...fields }).id
    },
    press: (user, customId, channelId = chatOf(user)) => interact(user, channelId, 3, { custom_id: customId, component_type: 2 }),
    command: (user, name, channelId = chatOf(user)) => interact(user, channelId, 2, { id: ids.next(), name, type: 1 }),
    block: (user) => void closed.add(chatOf(user)),
    forbid: (channelId) => void closed.add(channelId),
    fault: (call, fault, times = 1) => void faults.push({ call, fault, times }),
    clearFaults: () => void faults.splice(0),
    revokeToken() {
      isRevoked = true
      gateway.disconnect(4004)
    },
    acceptToken(accepted) {
      token = accepted
      isRevoked = false
    },
    allowMessageContent(does) {
      hasMessageContent = does
      gateway.allowIntents(does ? ~0 : ~MESSAGE_CONTENT)
    },
    watchSteps: (watcher) => void (onStep = watcher),
    untilSent: (count) => until(() => sent.length >= count),
    untilListening: () => until(() => gateway.isReady() && calls.some(({ call }) => /^PUT .*commands$/.test(call))),
    async close() {
      await gateway.close()
      const done = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await done
    },
  }
  return result
}

function unknownGuild(): never {
  throw new Refused(404, 10_004, 'Unknown Guild')
}

function invalid(field: string, reason: string): Refused {
  return new Refused(400, 50_035, `Invalid Form Body: ${field}: ${reason}`)
}

function textOf(given: unknown): string {
  return typeof given === 'string' ? given : ''
}

type Row = { type: number; components: { type: number; style: number; label: string; custom_id: string }[] }

function buttonsOf(given: unknown): SentMessage['buttons'] {
  const rows = (given ?? []) as Row[]
  const isFit = rows.length <= 5 && rows.every(({ type, components }) => type === 1 && components.length >= 1 && components.length <= 5)
  if (!isFit) throw invalid('components', 'Must be between 1 and 5 in length.')
  return rows.flatMap(({ components }) =>
    components.map(({ type, style, label, custom_id }) => {
      if (type !== 2 || !(style >= 1 && style <= 4)) throw invalid('components', 'This is no button.')
      if (label.length < 1 || label.length > 80) throw invalid('label', 'Must be between 1 and 80 in length.')
      if (custom_id.length < 1 || custom_id.length > 100) throw invalid('custom_id', 'Must be between 1 and 100 in length.')
      return { label, custom_id }
    }),
  )
}

function commandsOf(given: unknown): DiscordServer['commands'] {
  const commands = given as DiscordServer['commands']
  if (!Array.isArray(commands) || commands.length > 100) throw invalid('commands', 'Must be 100 or fewer in length.')
  for (const { name, description } of commands) {
    if (!/^[-_'\p{L}\p{N}]{1,32}$/u.test(name) || name !== name.toLowerCase()) throw invalid('name', 'Command name is invalid')
    if (textOf(description) === '' || description.length > 100) throw invalid('description', 'Must be between 1 and 100 in length.')
  }
  return commands
}

function show(fault: Exclude<DiscordFault, { kind: 'lost_answer' }>, response: ServerResponse): void {
  switch (fault.kind) {
    case 'error': {
      const { status, code = 0, message, errors, retryAfter, isGlobal = false } = fault
      if (retryAfter !== undefined) response.setHeader('Retry-After', Math.ceil(retryAfter))
      if (isGlobal) response.setHeader('X-RateLimit-Global', 'true')
      return answer(response, status, {
        message,
        code,
        errors,
        ...(retryAfter === undefined ? {} : { retry_after: retryAfter, global: isGlobal }),
      })
    }
    case 'garbage':
      return void response.writeHead(fault.status ?? 200, { 'content-type': 'text/html' }).end(fault.body ?? '<html>Please sign in.</html>')
    case 'reset':
      return void response.destroy()
    case 'stall':
      return
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.writableEnded || response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json' }).end(body === null ? undefined : JSON.stringify(body))
}
