import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { SLACK_BOT_SCOPES } from '../../../resources/slack-manifest.ts'
import { buttonsOf, checkBlocks, mentionsIn, Refused, shownText, type Block, type ServedButton } from './blocks.ts'

/** A person with an account in the workspace. */
export type SlackUser = { id: string; name: string; realName: string }

/** A message of the app, as people see it. */
export type SlackSent = {
  channel: string
  ts: string
  threadTs: string | null
  /** The shown text, without markup. */
  text: string
  buttons: ServedButton[]
  file: { name: string; bytes: Uint8Array } | null
  /** Everybody whom the message would notify: `<!channel>`, `<@U1>`. */
  mentions: string[]
}

export type SlackFault =
  /** `ok: false`, as Slack refuses a call. */
  | { kind: 'refused'; error: string; more?: Record<string, unknown> }
  /** A status that is not 200. */
  | { kind: 'status'; status: number }
  | { kind: 'rate_limited'; retryAfter: number }
  /** It accepts the call and never responds. */
  | { kind: 'stall' }
  /** A response that Slack would not send. */
  | { kind: 'garbage'; body?: string }
  /** The connection breaks before the call takes effect. */
  | { kind: 'reset' }
  /** The call takes effect, and the connection breaks before the response. */
  | { kind: 'lost_answer' }
  | { kind: 'redirect'; to: string }

type StoredFile = { id: string; name: string; bytes: Uint8Array }
type StoredMessage = {
  type: 'message'
  ts: string
  text: string
  user?: string
  bot_id?: string
  subtype?: string
  thread_ts?: string
  blocks?: Block[]
  client_msg_id?: string
  files?: Record<string, unknown>[]
  attachments?: Record<string, unknown>[]
}
type Envelope = { id: string; type: string; payload: Record<string, unknown>; attempt: number; acked: boolean }
type Fields = Record<string, string>

const MAX_CONNECTIONS = 10
const MAX_TEXT = 40_000

export type SlackServer = Awaited<ReturnType<typeof startSlackServer>>

export type SlackServerOptions = { now?: () => number; port?: number; teamId?: string; botUserId?: string }

/**
 * A local server that speaks Slack's Web API and Socket Mode. Like Slack, it sends an event until it is acknowledged, keeps the
 * history of each conversation, checks tokens, scopes and blocks, and gives each connection a ticket of its own.
 */
export async function startSlackServer(options: SlackServerOptions = {}) {
  let shiftMs = 0
  const now = () => (options.now ?? Date.now)() + shiftMs
  const appId = 'A0DECKHAND1'
  const team = { id: options.teamId ?? 'T0TEAM00001', name: 'Acme', domain: 'acme' }
  const bot = { user: options.botUserId ?? 'U0BOT000001', id: 'B0BOT000001', name: 'deckhand' }
  const botToken = `xoxb-1111111111-2222222222-${'abcdefghijklmnopqrstuvwx'}`
  const appToken = `xapp-1-${appId}-3333333333-${'0123456789abcdef'.repeat(4)}`
  const tokens = new Map([
    [botToken, 'bot'],
    [appToken, 'app'],
  ])
  let scopes: string[] = [...SLACK_BOT_SCOPES]
  const users = new Map<string, SlackUser>()
  /** The direct message with each person, and channels by their id. */
  const directs = new Map<string, string>()
  const channels = new Map<string, { name: string; isMember: boolean }>()
  const history = new Map<string, StoredMessage[]>()
  const blocked = new Set<string>()
  const sent: SlackSent[] = []
  const ephemerals: { channel: string; user: string; text: string; threadTs: string | null }[] = []
  const calls: { method: string; fields: Fields; token: string | null }[] = []
  const uploads = new Map<string, { name: string; length: number; bytes: Uint8Array | null }>()
  const files = new Map<string, StoredFile>()
  const envelopes: Envelope[] = []
  const connections = new Set<WebSocket>()
  const tickets = new Set<string>()
  const faults: { method: string; fault: SlackFault; times: number }[] = []
  const watchers = new Set<() => void>()
  const reused = new WeakSet<Socket>()
  let lastTs = 0
  let opened = 0
  let isSilent = false
  let saysHello = true
  /** Set while the calls of a process that was killed are to have no effect. */
  let isCut = false
  let onStep: (step: string) => void = () => {}
  let fileHeaders: Record<string, string | undefined>[] = []

  const look = () => [...watchers].forEach((watcher) => watcher())

  /** Unique and growing, like the times by which Slack names messages. */
  function nextTs(): string {
    lastTs = Math.max(lastTs + 1, Math.floor(now()) * 1000)
    return `${Math.floor(lastTs / 1_000_000)}.${String(lastTs % 1_000_000).padStart(6, '0')}`
  }

  function meet(user: SlackUser): string {
    users.set(user.id, user)
    const channel = directs.get(user.id) ?? `D0${user.id.slice(1)}`
    directs.set(user.id, channel)
    return channel
  }

  function store(channel: string, message: Omit<StoredMessage, 'ts' | 'type'>): StoredMessage {
    const stored: StoredMessage = { type: 'message', ts: nextTs(), ...message }
    history.set(channel, [...(history.get(channel) ?? []), stored])
    return stored
  }

  // --- Socket Mode

  function transmit(socket: WebSocket, { id, type, payload, attempt }: Envelope): void {
    const retry = attempt === 0 ? {} : { retry_attempt: attempt, retry_reason: 'timeout' }
    socket.send(JSON.stringify({ envelope_id: id, type, payload, accepts_response_payload: type !== 'events_api', ...retry }))
  }

  function push(type: string, payload: Record<string, unknown>): void {
    const envelope: Envelope = { id: randomUUID(), type, payload, attempt: 0, acked: false }
    const socket = [...connections].at(-1)
    // Only events wait for a connection. A press or a command fails at once in front of the person.
    if (type === 'events_api' || socket !== undefined) envelopes.push(envelope)
    if (socket !== undefined) transmit(socket, envelope)
    onStep(`${type} sent`)
    look()
  }

  function pushEvent(event: Record<string, unknown>, more: Record<string, unknown> = {}): void {
    const authorizations = [{ enterprise_id: null, team_id: team.id, user_id: bot.user, is_bot: true, is_enterprise_install: false }]
    push('events_api', {
      token: 'verification',
      team_id: team.id,
      api_app_id: appId,
      type: 'event_callback',
      event_id: `Ev${randomUUID()}`,
      event_time: Math.floor(now() / 1000),
      authorizations,
      event,
      ...more,
    })
  }

  function retry(): void {
    const socket = [...connections].at(-1)
    if (socket === undefined) return
    for (const envelope of envelopes) {
      if (envelope.acked || envelope.type !== 'events_api') continue
      envelope.attempt++
      envelope.id = randomUUID()
      transmit(socket, envelope)
    }
  }

  function greet(socket: WebSocket): void {
    if (connections.size >= MAX_CONNECTIONS) {
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets' }))
      return socket.close()
    }
    connections.add(socket)
    opened++
    socket.on('message', (data: Buffer) => {
      const { envelope_id: id } = JSON.parse(data.toString('utf8')) as { envelope_id: string }
      const envelope = envelopes.find((one) => one.id === id)
      onStep('acknowledging')
      if (isCut) return
      if (envelope !== undefined) envelope.acked = true
      onStep('acknowledged')
      look()
    })
    socket.on('ping', (data) => isSilent || socket.pong(data))
    socket.on('close', () => (connections.delete(socket), look()))
    socket.on('error', () => socket.terminate())
    if (saysHello) {
      const info = { app_id: appId }
      socket.send(
        JSON.stringify({
          type: 'hello',
          num_connections: connections.size,
          debug_info: { host: 'local', build_number: 1, approximate_connection_time: 18_060 },
          connection_info: info,
        }),
      )
      retry()
    }
    look()
  }

  // --- Web API

  function need(scope: string): void {
    if (!scopes.includes(scope)) throw new Refused('missing_scope', { needed: scope, provided: scopes.join(',') })
  }

  function placeOf(channel: string | undefined): string {
    if (channel === undefined) throw new Refused('channel_not_found')
    if (users.has(channel)) return directs.get(channel)!
    const user = [...directs].find(([, direct]) => direct === channel)?.[0]
    if (user !== undefined && blocked.has(user)) throw new Refused('restricted_action')
    if (user === undefined && !channels.has(channel)) throw new Refused('channel_not_found')
    if (channels.get(channel)?.isMember === false) throw new Refused('not_in_channel')
    return channel
  }

  function post(channel: string, message: Omit<StoredMessage, 'ts' | 'type'>, file: SlackSent['file']): StoredMessage {
    const stored = store(channel, { ...message, bot_id: bot.id, user: bot.user })
    const { blocks, text } = stored
    sent.push({
      channel,
      ts: stored.ts,
      threadTs: stored.thread_ts ?? null,
      file,
      text: shownText(text, blocks),
      buttons: buttonsOf(blocks),
      mentions: mentionsIn(text, blocks),
    })
    return stored
  }

  function historyOf(fields: Fields, isWanted: (message: StoredMessage) => boolean) {
    const { oldest = '0', latest = '9999999999', inclusive } = fields
    const isInside = ({ ts }: StoredMessage) =>
      inclusive === 'true' ? Number(ts) >= Number(oldest) && Number(ts) <= Number(latest) : ts > oldest && ts < latest
    return (history.get(placeOf(fields['channel'])) ?? []).filter((message) => isInside(message) && isWanted(message))
  }

  /** What Slack says of a thread in its first message. */
  function withReplies(channel: string, message: StoredMessage) {
    const replies = history.get(channel)!.filter(({ thread_ts: thread, ts }) => thread === message.ts && ts !== thread)
    return replies.length === 0
      ? message
      : { ...message, thread_ts: message.ts, reply_count: replies.length, latest_reply: replies.at(-1)!.ts }
  }

  function page(fields: Fields, messages: StoredMessage[]) {
    const from = Number(fields['cursor'] ?? 0)
    const to = from + Number(fields['limit'] ?? 100)
    const hasMore = to < messages.length
    return { messages: messages.slice(from, to), has_more: hasMore, response_metadata: { next_cursor: hasMore ? String(to) : '' } }
  }

  const methods: Record<string, (fields: Fields) => Record<string, unknown>> = {
    'auth.test': () => ({
      url: `https://${team.domain}.slack.com/`,
      team: team.name,
      user: bot.name,
      team_id: team.id,
      user_id: bot.user,
      bot_id: bot.id,
      is_enterprise_install: false,
    }),
    'bots.info'(fields) {
      need('users:read')
      if (fields['bot'] !== bot.id) throw new Refused('bot_not_found')
      return { bot: { id: bot.id, app_id: appId, user_id: bot.user, name: bot.name, deleted: false } }
    },
    'apps.connections.open'() {
      const ticket = randomUUID()
      tickets.add(ticket)
      return { url: `ws://127.0.0.1:${port()}/link/?ticket=${ticket}&app_id=${appId}` }
    },
    'users.info'(fields) {
      need('users:read')
      const user = users.get(fields['user'] ?? '')
      if (user === undefined) throw new Refused('user_not_found')
      const profile = { display_name: user.name, real_name: user.realName }
      return { user: { id: user.id, team_id: team.id, name: user.name, real_name: user.realName, profile, is_bot: false } }
    },
    'conversations.open'(fields) {
      need('im:write')
      const channel = directs.get(fields['users'] ?? '')
      if (channel === undefined) throw new Refused('user_not_found')
      return { channel: { id: channel } }
    },
    'conversations.info'(fields) {
      need('channels:read')
      const id = placeOf(fields['channel'])
      return { channel: { id, name: channels.get(id)?.name, is_im: !channels.has(id) } }
    },
    'conversations.history'(fields) {
      need(channels.has(fields['channel'] ?? '') ? 'channels:history' : 'im:history')
      const isTop = ({ thread_ts: thread, ts, subtype }: StoredMessage) =>
        thread === undefined || thread === ts || subtype === 'thread_broadcast'
      return page(
        fields,
        historyOf(fields, isTop)
          .toReversed()
          .map((message) => withReplies(fields['channel']!, message)),
      )
    },
    'conversations.replies'(fields) {
      need(channels.has(fields['channel'] ?? '') ? 'channels:history' : 'im:history')
      const root = fields['ts']
      if (!(history.get(placeOf(fields['channel'])) ?? []).some(({ ts }) => ts === root)) throw new Refused('thread_not_found')
      return page(
        fields,
        historyOf(fields, ({ ts, thread_ts: thread }) => ts === root || thread === root),
      )
    },
    'chat.postMessage'(fields) {
      need('chat:write')
      const channel = placeOf(fields['channel'])
      const again = history.get(channel)?.find(({ client_msg_id: id }) => id !== undefined && id === fields['client_msg_id'])
      if (again !== undefined) return { channel, ts: again.ts, message: again }
      const text = fields['text'] ?? ''
      if (!text.isWellFormed()) throw new Refused('invalid_arguments')
      const blocks = fields['blocks'] === undefined ? undefined : checkBlocks(fields['blocks'])
      if (blocks === undefined && text.trim() === '') throw new Refused('no_text')
      if (text.length > MAX_TEXT) throw new Refused('msg_too_long')
      const more = {
        ...(fields['thread_ts'] === undefined ? {} : { thread_ts: fields['thread_ts'] }),
        ...(fields['client_msg_id'] === undefined ? {} : { client_msg_id: fields['client_msg_id'] }),
        ...(blocks === undefined ? {} : { blocks }),
      }
      const stored = post(channel, { text, ...more }, null)
      return { channel, ts: stored.ts, message: stored }
    },
    'chat.update'(fields) {
      need('chat:write')
      const channel = placeOf(fields['channel'])
      const stored = history.get(channel)?.find(({ ts }) => ts === fields['ts'])
      const shown = sent.find((message) => message.channel === channel && message.ts === fields['ts'])
      if (stored === undefined || shown === undefined) throw new Refused('message_not_found')
      if (fields['blocks'] !== undefined) stored.blocks = checkBlocks(fields['blocks'])
      if (fields['text'] !== undefined) stored.text = fields['text']
      shown.buttons = buttonsOf(stored.blocks)
      shown.text = shownText(stored.text, stored.blocks)
      return { channel, ts: stored.ts }
    },
    'chat.postEphemeral'(fields) {
      need('chat:write')
      const channel = placeOf(fields['channel'])
      if (!users.has(fields['user'] ?? '')) throw new Refused('user_not_in_channel')
      ephemerals.push({
        channel,
        user: fields['user']!,
        text: shownText(fields['text'] ?? '', undefined),
        threadTs: fields['thread_ts'] ?? null,
      })
      return { message_ts: nextTs() }
    },
    'assistant.threads.setStatus'(fields) {
      need('chat:write')
      const messages = history.get(placeOf(fields['channel_id'])) ?? []
      if (!messages.some(({ ts }) => ts === fields['thread_ts'])) throw new Refused('invalid_thread_ts')
      return {}
    },
    'files.getUploadURLExternal'(fields) {
      need('files:write')
      const length = Number(fields['length'])
      if (!(length > 0)) throw new Refused('invalid_arguments')
      const id = `F${randomUUID().slice(0, 8).toUpperCase()}`
      uploads.set(id, { name: fields['filename'] ?? '', length, bytes: null })
      return { upload_url: `http://127.0.0.1:${port()}/upload/v1/${id}`, file_id: id }
    },
    'files.completeUploadExternal'(fields) {
      need('files:write')
      const channel = placeOf(fields['channel_id'])
      const [file] = JSON.parse(fields['files'] ?? '[]') as { id: string; title?: string }[]
      const upload = uploads.get(file?.id ?? '')
      if (upload?.bytes === undefined || upload.bytes === null) throw new Refused('file_not_found')
      uploads.delete(file!.id)
      const thread = fields['thread_ts'] === undefined ? {} : { thread_ts: fields['thread_ts'] }
      post(channel, { text: '', subtype: 'file_share', ...thread }, { name: upload.name, bytes: upload.bytes })
      return { files: [{ id: file!.id, title: file!.title ?? upload.name }] }
    },
    'files.info'(fields) {
      need('files:read')
      const file = files.get(fields['file'] ?? '')
      if (file === undefined) throw new Refused('file_not_found')
      return { file: describeFile(file) }
    },
  }

  function describeFile({ id, name, bytes }: StoredFile): Record<string, unknown> {
    const address = `http://127.0.0.1:${port()}/files-pri/${team.id}-${id}/${encodeURIComponent(name)}`
    return {
      id,
      name,
      size: bytes.length,
      mimetype: 'application/octet-stream',
      mode: 'hosted',
      url_private: address,
      url_private_download: `${address}?download=1`,
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://local')
    const body = await readBody(request)
    if (pathname.startsWith('/upload/v1/')) return takeUpload(pathname, body, response)
    if (pathname.startsWith('/files-pri/')) return serveFile(request, pathname, response)
    if (!pathname.startsWith('/api/')) return void response.writeHead(404).end()
    const method = pathname.slice('/api/'.length)
    const fields = Object.fromEntries(new URLSearchParams(body.toString('utf8')))
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null
    // A process begins with this call.
    if (method === 'auth.test') isCut = false
    if (isCut) return void response.destroy()
    calls.push({ method, fields, token })
    onStep(`${method} received`)
    const planned = faults.find((one) => (one.method === '*' || one.method === method) && one.times > 0)
    // A client may send a request again if it broke on a connection that had served others. That is the same call.
    const isRepeated = planned?.fault.kind === 'reset' && reused.has(request.socket)
    reused.add(request.socket)
    if (planned !== undefined && !isRepeated) planned.times--
    try {
      if (planned !== undefined && planned.fault.kind !== 'lost_answer') return showFault(planned.fault, response)
      const kind = token === null ? undefined : tokens.get(token)
      if (token === null) throw new Refused('not_authed')
      if (kind === undefined) throw new Refused('invalid_auth')
      if (method !== 'auth.test' && (kind === 'app') !== (method === 'apps.connections.open')) throw new Refused('not_allowed_token_type')
      const run = methods[method]
      if (run === undefined) throw new Refused('unknown_method')
      const result = run(fields)
      onStep(`${method} done`)
      if (planned !== undefined) return void response.destroy()
      answer(response, 200, { ok: true, ...result }, kind === 'bot' ? { 'x-oauth-scopes': scopes.join(',') } : {})
      response.once('finish', () => onStep(`${method} answered`))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      answer(response, 200, { ok: false, error: error.code, ...error.more })
    } finally {
      look()
    }
  }

  function takeUpload(path: string, body: Buffer, response: ServerResponse): void {
    const upload = uploads.get(path.slice('/upload/v1/'.length))
    if (upload === undefined || body.length !== upload.length) return void response.writeHead(400).end('malformed')
    upload.bytes = body
    response.writeHead(200).end(`OK - ${body.length}`)
  }

  /** Without a valid token, Slack redirects to its sign-in page. */
  function serveFile(request: IncomingMessage, path: string, response: ServerResponse): void {
    fileHeaders.push({ authorization: request.headers.authorization })
    const file = files.get(path.split('/')[2]!.slice(team.id.length + 1))
    const token = (request.headers.authorization ?? '').slice('Bearer '.length)
    if (tokens.get(token) !== 'bot' || !scopes.includes('files:read')) return void response.writeHead(302, { location: '/signin' }).end()
    if (file === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file.bytes)
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  const sockets = new WebSocketServer({ noServer: true, autoPong: false })
  server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://local')
    // A ticket opens one connection.
    if (isCut || pathname !== '/link/' || !tickets.delete(searchParams.get('ticket') ?? ''))
      return void duplex.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    sockets.handleUpgrade(request, duplex, head, greet)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  function port(): number {
    return (server.address() as AddressInfo).port
  }

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

  /** A person's message in their direct message with the app. */
  function receive(user: SlackUser, message: Omit<StoredMessage, 'ts' | 'type' | 'user'>): string {
    const channel = meet(user)
    const stored = store(channel, { user: user.id, ...message })
    pushEvent({ ...stored, channel, channel_type: 'im', event_ts: stored.ts, team: team.id })
    return stored.ts
  }

  function channelOf(channel: { id: string; name: string }): string {
    if (!channels.has(channel.id)) channels.set(channel.id, { name: channel.name, isMember: true })
    return channel.id
  }

  return {
    url: `http://127.0.0.1:${port()}`,
    port: port(),
    botToken,
    appToken,
    appId,
    botUserId: bot.user,
    accountName: `@${bot.name} (${team.name})`,
    sent,
    ephemerals,
    calls,
    /** The headers with which files were requested. */
    fileHeaders: () => fileHeaders,
    history: (channel: string) => history.get(channel) ?? [],
    /** The direct message with this person. */
    directOf: meet,
    say(user: SlackUser, text: string, { threadTs, forwardedFrom }: { threadTs?: string; forwardedFrom?: SlackUser } = {}): string {
      const thread = threadTs === undefined ? {} : { thread_ts: threadTs }
      if (forwardedFrom === undefined) return receive(user, { text, client_msg_id: randomUUID(), ...thread })
      const shared = {
        is_share: true,
        author_id: forwardedFrom.id,
        author_name: forwardedFrom.realName,
        text,
        fallback: text,
        ts: nextTs(),
      }
      return receive(user, { text: '', ...thread, attachments: [shared] })
    },
    /** A person's message whose event Slack has given up sending. */
    sayUnheard: (user: SlackUser, text: string) => void store(meet(user), { user: user.id, text, client_msg_id: randomUUID() }),
    /** From now on messages have times that are this much later, or earlier. */
    shiftTimes: (ms: number) => void ((shiftMs = ms), (lastTs = 0)),
    /** A message in a channel that names the app. `text` has the mention: `<@U…> do this`. */
    mention(user: SlackUser, channel: { id: string; name: string }, text: string, { threadTs }: { threadTs?: string } = {}): string {
      users.set(user.id, user)
      const id = channelOf(channel)
      const stored = store(id, { user: user.id, text, ...(threadTs === undefined ? {} : { thread_ts: threadTs }) })
      pushEvent({ ...stored, type: 'app_mention', channel: id, event_ts: stored.ts, team: team.id })
      return stored.ts
    },
    /** A message in a channel that is not for the app. Slack sends it only to apps that ask for it. */
    sayInChannel(user: SlackUser, channel: { id: string; name: string }, text: string): string {
      users.set(user.id, user)
      const id = channelOf(channel)
      const stored = store(id, { user: user.id, text })
      pushEvent({ ...stored, channel: id, channel_type: 'channel', event_ts: stored.ts, team: team.id })
      return stored.ts
    },
    sendFile(user: SlackUser, { name, bytes, text = '' }: { name: string; bytes: Uint8Array; text?: string }): string {
      const file = { id: `F${randomUUID().slice(0, 8).toUpperCase()}`, name, bytes }
      files.set(file.id, file)
      return receive(user, { text, subtype: 'file_share', files: [describeFile(file)] })
    },
    /** A person presses the button with this value, in the newest message that has it. Without one, the press is made up. */
    press(user: SlackUser, value: string): void {
      const message = sent.findLast(({ buttons }) => buttons.some((button) => button.value === value))
      const channel = message?.channel ?? meet(user)
      users.set(user.id, user)
      const thread = message?.threadTs == null ? {} : { thread_ts: message.threadTs }
      push('interactive', {
        type: 'block_actions',
        api_app_id: appId,
        team: { id: team.id, domain: team.domain },
        trigger_id: randomUUID(),
        user: { id: user.id, username: user.name, name: user.name, team_id: team.id },
        container: { type: 'message', message_ts: message?.ts ?? '1.000000', channel_id: channel, is_ephemeral: false, ...thread },
        channel: { id: channel, name: 'directmessage' },
        actions: [{ type: 'button', action_id: value, block_id: 'b', value, action_ts: nextTs(), text: { type: 'plain_text', text: 'x' } }],
      })
    },
    slash(user: SlackUser, text: string, channel = meet(user)): void {
      meet(user)
      push('slash_commands', {
        command: '/deckhand',
        text,
        user_id: user.id,
        user_name: user.name,
        channel_id: channel,
        channel_name: 'x',
        team_id: team.id,
        api_app_id: appId,
        trigger_id: randomUUID(),
        is_enterprise_install: 'false',
      })
    },
    /** An event of any form. */
    sendEvent: pushEvent,
    /** A frame of any form over the newest connection. */
    sendFrame: (text: string) => [...connections].at(-1)?.send(text),
    /** Asks all connections to go. Slack closes them some seconds later; here the app has to. */
    disconnect(reason: 'warning' | 'refresh_requested' | 'link_disabled' | 'too_many_websockets'): void {
      for (const socket of connections) socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'local' } }))
    },
    /** Breaks all connections without a closing frame. */
    drop: () => [...connections].forEach((socket) => socket.terminate()),
    /** From now on pings get no answer. */
    silence: (silent = true) => void (isSilent = silent),
    /** Whether new connections are greeted. */
    setHello: (hello: boolean) => void (saysHello = hello),
    /** Called at each step of receiving and sending: `acknowledged`, `chat.postMessage done`. */
    watchSteps: (watcher: (step: string) => void) => void (onStep = watcher),
    /** The process on the other side dies: what it still does has no effect, until a new process asks who it is. */
    cutOff(): void {
      isCut = true
      for (const socket of connections) socket.terminate()
      connections.clear()
      server.closeAllConnections()
    },
    /** Sends again what was not acknowledged, as Slack does after some time. */
    retry,
    /** Slack gives up sending what was not acknowledged. */
    forgetEvents: () => void envelopes.splice(0),
    waiting: () => envelopes.filter(({ acked, type }) => !acked && type === 'events_api').length,
    /** Commands and presses about which Slack has told the person that they failed. */
    failed: () => envelopes.filter(({ acked, type }) => !acked && type !== 'events_api').map(({ type }) => type),
    connections: () => connections.size,
    /** How many connections there have been. */
    opened: () => opened,
    block: (user: SlackUser) => void blocked.add(user.id),
    leave: (channel: string) => void channels.set(channel, { name: channels.get(channel)?.name ?? 'x', isMember: false }),
    setScopes: (given: string[]) => void (scopes = given),
    /** The next calls of this method (`*`: of any) fail like this. */
    fault: (method: string, fault: SlackFault, times = 1) => void faults.push({ method, fault, times }),
    clearFaults: () => void faults.splice(0),
    /** The app was uninstalled: both tokens are refused, and the connections end. */
    revokeTokens(): void {
      tokens.clear()
      for (const socket of connections) socket.close()
    },
    /** The bot token alone is refused, as after an uninstallation. The connection stays. */
    revokeBotToken: () => void tokens.delete(botToken),
    /** From now on this token works too. */
    addToken: (token: string, kind: 'bot' | 'app') => void tokens.set(token, kind),
    until,
    untilSent: (count: number) => until(() => sent.length >= count),
    untilConnected: () => until(() => connections.size > 0),
    untilIdle: () => until(() => envelopes.every(({ acked, type }) => acked || type !== 'events_api')),
    async close(): Promise<void> {
      for (const socket of connections) socket.terminate()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

function showFault(fault: Exclude<SlackFault, { kind: 'lost_answer' }>, response: ServerResponse): void {
  switch (fault.kind) {
    case 'refused':
      return answer(response, 200, { ok: false, error: fault.error, ...fault.more })
    case 'status':
      return void response.writeHead(fault.status, { 'content-type': 'text/html' }).end('<html>Slack has some trouble.</html>')
    case 'rate_limited':
      return answer(response, 429, { ok: false, error: 'ratelimited' }, { 'retry-after': String(fault.retryAfter) })
    case 'garbage':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(fault.body ?? '<html>Please sign in to this network.</html>')
    case 'reset':
      return void response.destroy()
    case 'redirect':
      return void response.writeHead(307, { location: fault.to }).end()
    case 'stall':
      return
  }
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  if (response.writableEnded || response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(JSON.stringify(body))
}
