import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFields, type UploadedFile } from './request-fields.ts'

/** A person with an account at the service. */
export type ServedUser = { id: number; first_name: string; last_name?: string; username?: string }

export type ServedCommand = { command: string; description: string }

export type ServedButton = { text: string; callback_data: string }

/** A message of the bot, as the person sees it. */
export type SentMessage = {
  messageId: number
  chatId: number
  text: string
  entities: { type: string; offset: number; length: number; url?: string; language?: string }[]
  buttons: ServedButton[]
  document: UploadedFile | null
}

export type ServedFault =
  /** The service answers with an error in its own form. */
  | { kind: 'error'; code: number; description: string; retryAfter?: number }
  /** It accepts the call and never responds. */
  | { kind: 'stall' }
  /** A response that the service would not send. */
  | { kind: 'garbage'; body?: string; status?: number }
  /** The connection breaks before the call takes effect. */
  | { kind: 'reset' }
  /** The call takes effect, and the connection breaks before the response. */
  | { kind: 'lost_answer' }
  | { kind: 'redirect'; to: string }
  /** All updates so far, confirmed or not. */
  | { kind: 'repeat' }

export type BotApiServer = {
  url: string
  port: number
  /** The current token. */
  readonly token: string
  botName: string
  botId: number
  /** The service's own, which a test may replace. */
  clock: { now(): number }
  /** All messages of the bot, in order. */
  sent: SentMessage[]
  /** Every call, with the fields it carried. */
  calls: { method: string; fields: Record<string, unknown> }[]
  /** Notes that were shown to those who pressed a button. */
  notes: { pressId: string; text: string }[]
  /** The menu of a private chat with the bot. */
  menu(): ServedCommand[]

  /** A person writes to the bot. Returns the id of the message. */
  say(user: ServedUser, text: string, options?: SayOptions): number
  sendFile(
    user: ServedUser,
    file: { name: string; bytes: Uint8Array; as?: 'document' | 'photo' | 'voice'; caption?: string; album?: string; size?: number },
  ): number
  /** Sends an update of any form. */
  sendRaw(update: Record<string, unknown>): void
  /** A person presses the button with this data, below the newest message that has it. Without such a message, the press is made up. */
  press(user: ServedUser, data: string): string
  /** The person blocks the bot. */
  block(user: ServedUser): void
  /** The next calls of this method (`*`: of any) fail like this. */
  fault(method: string, fault: ServedFault, times?: number): void
  clearFaults(): void
  /** From now on the token is refused. */
  revokeToken(): void
  /** From now on this token works, of the same bot or of another one. */
  acceptToken(token: string, bot?: { id: number; name: string }): void
  /** Sends the last `back` updates again, confirmed or not. */
  repeatUpdates(back: number): void
  /** Sends messages to this address until it is removed. */
  setWebhook(url: string): void
  /** Breaks the connection that waits for messages. */
  breakPoll(): void
  /** Answers it without messages, as the service does after some time. */
  answerPoll(): void
  /** How many updates are not confirmed yet. */
  waitingUpdates(): number
  /** Called at each step of receiving and sending: `update sent`, `sendMessage done`. */
  watchSteps(watcher: (step: string) => void): void
  /** Resolves when this is true. Checked after every call. */
  until(isTrue: () => boolean): Promise<void>
  untilSent(count: number): Promise<void>
  /** Resolves when the bot waits for new messages. */
  untilPolled(): Promise<void>
  close(): Promise<void>
}

/** `sentAt` in ms: earlier than now. */
export type SayOptions = { replyTo?: number; forwardedFrom?: ServedUser; group?: boolean; sentAt?: number }

export type BotApiServerOptions = { port?: number; token?: string; botName?: string; botId?: number }

type Update = { update_id: number } & Record<string, unknown>
type Poll = { response: ServerResponse; limit: number; from: number; timer: NodeJS.Timeout }

const MAX_TEXT = 4096
const MAX_DOCUMENT_BYTES = 50_000_000
const MAX_FETCHED_BYTES = 20 * 1024 * 1024
const VISIBLE = /[^\s\p{C}\u115f\u1160\u2800\u3164\uffa0]/u
const MAX_BUTTON_BYTES = 64
const MAX_COMMANDS = 100
const SCOPES = ['default', 'all_private_chats', 'all_group_chats', 'all_chat_administrators', 'chat', 'chat_administrators', 'chat_member']

/** A refusal in the service's own words. */
class Refused extends Error {
  readonly code: number
  constructor(code: number, description: string) {
    super(description)
    this.code = code
  }
}

/**
 * A local server that speaks the Bot API of Telegram. Like the real one, it holds polls, keeps updates until they are
 * confirmed, validates calls, and ends a poll when a second one begins.
 */
export async function startBotApiServer(options: BotApiServerOptions = {}): Promise<BotApiServer> {
  const botId = options.botId ?? 7_000_000_001
  const botName = options.botName ?? 'deckhand_test_bot'
  let token = options.token ?? `${botId}:AAGbWfEyDYcqkTr9vNBW0TLa8vfQbM1n4s4`
  let account = { id: botId, name: botName }
  const sent: SentMessage[] = []
  const calls: BotApiServer['calls'] = []
  const notes: BotApiServer['notes'] = []
  const menus = new Map<string, ServedCommand[]>()
  const updates: Update[] = []
  const files = new Map<string, Uint8Array>()
  const chats = new Set<number>()
  const blocked = new Set<number>()
  const faults: { method: string; fault: ServedFault; times: number }[] = []
  const watchers = new Set<() => void>()
  const clock = { now: Date.now }
  let onStep: (step: string) => void = () => {}
  const confirmed = new Set<number>()
  let nextUpdateId = 500_000_001
  let nextMessageId = 1
  let poll: Poll | null = null
  let revoked = false
  let webhook = ''

  const look = () => [...watchers].forEach((watcher) => watcher())

  function add(update: Record<string, unknown>): void {
    updates.push({ update_id: nextUpdateId++, ...update })
    servePoll()
    look()
  }

  function open(from = 0): Update[] {
    return updates.filter(({ update_id: id }) => id >= from && !confirmed.has(id))
  }

  /** Only those that there are: later ones may have lower numbers. */
  function confirmBelow(from: number): void {
    for (const { update_id: id } of updates) if (id < from) confirmed.add(id)
  }

  function servePoll(): void {
    if (poll === null || open(poll.from).length === 0) return
    const { response, limit, from, timer } = poll
    poll = null
    clearTimeout(timer)
    answer(response, 200, { ok: true, result: open(from).slice(0, limit) })
    onStep('update sent')
  }

  function endPoll(): void {
    if (poll === null) return
    clearTimeout(poll.timer)
    fail(poll.response, 409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running')
    poll = null
  }

  function getUpdates(fields: Record<string, unknown>, response: ServerResponse): void {
    if (webhook !== '')
      throw new Refused(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
    endPoll()
    const from = Number(fields['offset'] ?? 0)
    confirmBelow(from)
    const limit = Number(fields['limit'] ?? 100)
    const waitMs = Number(fields['timeout'] ?? 0) * 1000
    const found = open(from).slice(0, limit)
    if (found.length > 0 || waitMs === 0) {
      answer(response, 200, { ok: true, result: found })
      return found.length === 0 ? undefined : onStep('update sent')
    }
    const mine: Poll = {
      response,
      limit,
      from,
      timer: setTimeout(() => ((poll = null), answer(response, 200, { ok: true, result: [] })), waitMs),
    }
    poll = mine
    response.on('close', () => {
      clearTimeout(mine.timer)
      if (poll === mine) poll = null
    })
    look()
  }

  function chatOf(fields: Record<string, unknown>): number {
    const chatId = Number(fields['chat_id'])
    if (!chats.has(chatId)) throw new Refused(400, 'Bad Request: chat not found')
    if (blocked.has(chatId)) throw new Refused(403, 'Forbidden: bot was blocked by the user')
    return chatId
  }

  function post(chatId: number, message: Pick<SentMessage, 'text' | 'entities' | 'buttons' | 'document'>): unknown {
    const messageId = nextMessageId++
    sent.push({ messageId, chatId, ...message })
    return { message_id: messageId, date: 0, chat: { id: chatId, type: 'private' }, text: message.text }
  }

  const methods: Record<string, (fields: Record<string, unknown>, uploads: Map<string, UploadedFile>) => unknown> = {
    getMe: () => ({ id: account.id, is_bot: true, first_name: 'Deckhand test', username: account.name, can_join_groups: true }),
    deleteWebhook: () => ((webhook = ''), true),
    sendChatAction: (fields) => (chatOf(fields), true),
    setMyCommands(fields) {
      const scope = (fields['scope'] as { type?: string } | undefined)?.type ?? 'default'
      if (!SCOPES.includes(scope)) throw new Refused(400, 'Bad Request: unsupported BotCommandScope type specified')
      menus.set(scope, commandsOf(fields['commands']))
      return true
    },

    sendMessage(fields) {
      const chatId = chatOf(fields)
      const text = textOf(fields['text'])
      if (!text.isWellFormed()) throw new Refused(400, 'Bad Request: strings must be encoded in UTF-8')
      if (!VISIBLE.test(text)) throw new Refused(400, 'Bad Request: message text is empty')
      if (text.length > MAX_TEXT) throw new Refused(400, 'Bad Request: message is too long')
      return post(chatId, {
        text,
        entities: entitiesOf(fields['entities'], text),
        buttons: buttonsOf(fields['reply_markup']),
        document: null,
      })
    },

    sendDocument(fields, uploads) {
      const chatId = chatOf(fields)
      const document = uploads.get(textOf(fields['document']).replace('attach://', ''))
      if (document === undefined) throw new Refused(400, 'Bad Request: there is no document in the request')
      if (document.bytes.length === 0) throw new Refused(400, 'Bad Request: file must be non-empty')
      if (document.bytes.length > MAX_DOCUMENT_BYTES) throw new Refused(413, 'Request Entity Too Large')
      return post(chatId, { text: textOf(fields['caption']), entities: [], buttons: buttonsOf(fields['reply_markup']), document })
    },

    editMessageReplyMarkup(fields) {
      const chatId = chatOf(fields)
      const message = sent.find((one) => one.chatId === chatId && one.messageId === Number(fields['message_id']))
      if (message === undefined) throw new Refused(400, 'Bad Request: message to edit not found')
      const buttons = buttonsOf(fields['reply_markup'])
      if (JSON.stringify(buttons) === JSON.stringify(message.buttons)) throw new Refused(400, 'Bad Request: message is not modified')
      message.buttons = buttons
      return true
    },

    answerCallbackQuery(fields) {
      notes.push({ pressId: textOf(fields['callback_query_id']), text: textOf(fields['text']) })
      return true
    },

    getFile(fields) {
      const fileId = textOf(fields['file_id'])
      if (!files.has(fileId)) throw new Refused(400, 'Bad Request: invalid file_id')
      if (files.get(fileId)!.length > MAX_FETCHED_BYTES) throw new Refused(400, 'Bad Request: file is too big')
      return { file_id: fileId, file_unique_id: fileId, file_size: files.get(fileId)!.length, file_path: `documents/${fileId}` }
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, fileId } = pathOf(request.url ?? '', token)
    if (fileId !== null && !revoked) {
      const bytes = files.get(fileId)
      return void (bytes === undefined ? response.writeHead(404).end() : response.writeHead(200).end(bytes))
    }
    if (method === null) return fail(response, 404, 'Not Found')
    const { fields, uploads } = await readFields(request)
    calls.push({ method, fields })
    onStep(`${method} received`)
    const planned = faults.find((one) => (one.method === '*' || one.method === method) && one.times > 0)
    if (planned !== undefined) planned.times--
    try {
      if (revoked) throw new Refused(401, 'Unauthorized')
      if (planned?.fault.kind === 'repeat') return answer(response, 200, { ok: true, result: updates })
      if (planned !== undefined && planned.fault.kind !== 'lost_answer') return show(planned.fault, response)
      if (method === 'getUpdates') return getUpdates(fields, response)
      const run = methods[method]
      if (run === undefined) throw new Refused(404, 'Not Found: method not found')
      const result = run(fields, uploads)
      onStep(`${method} done`)
      if (planned !== undefined) return void response.destroy()
      response.once('finish', () => onStep(`${method} answered`))
      answer(response, 200, { ok: true, result })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      fail(response, error.code, error.message)
    } finally {
      look()
    }
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo

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

  function receive(user: ServedUser, content: Record<string, unknown>, { group = false, sentAt }: SayOptions = {}): number {
    const messageId = nextMessageId++
    chats.add(user.id)
    const chat = group
      ? { id: -1_000_000_000_001, type: 'group', title: 'A group' }
      : { id: user.id, type: 'private', first_name: user.first_name }
    add({
      message: {
        message_id: messageId,
        date: Math.floor((sentAt ?? clock.now()) / 1000),
        from: { is_bot: false, ...user },
        chat,
        ...content,
      },
    })
    return messageId
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get token() {
      return token
    },
    botName,
    botId,
    clock,
    sent,
    calls,
    notes,
    watchSteps: (watcher) => void (onStep = watcher),
    menu: () => menus.get('all_private_chats') ?? menus.get('default') ?? [],
    say(user, text, options = {}) {
      const { replyTo, forwardedFrom } = options
      const reply =
        replyTo === undefined ? {} : { reply_to_message: { message_id: replyTo, date: 0, chat: { id: user.id, type: 'private' } } }
      const forward =
        forwardedFrom === undefined ? {} : { forward_origin: { type: 'user', date: 0, sender_user: { is_bot: false, ...forwardedFrom } } }
      return receive(user, { text, ...reply, ...forward }, options)
    },
    sendFile(user, { name, bytes, as = 'document', caption, album, size = bytes.length }) {
      const fileId = `file-${files.size + 1}`
      files.set(fileId, bytes)
      const file = { file_id: fileId, file_unique_id: fileId, file_size: size }
      const content =
        as === 'document'
          ? { document: { ...file, file_name: name } }
          : as === 'photo'
            ? { photo: [{ ...file, file_id: 'small', file_size: 1 }, file] }
            : { voice: file }
      return receive(user, {
        ...content,
        ...(caption === undefined ? {} : { caption }),
        ...(album === undefined ? {} : { media_group_id: album }),
      })
    },
    sendRaw: add,
    press(user, data) {
      const pressId = `press-${nextUpdateId}`
      const below = sent.findLast((message) => message.buttons.some((button) => button.callback_data === data))
      const message = { message_id: below?.messageId ?? 1, date: 0, chat: { id: user.id, type: 'private', first_name: user.first_name } }
      add({ callback_query: { id: pressId, from: { is_bot: false, ...user }, chat_instance: 'x', data, message } })
      return pressId
    },
    block: (user) => void blocked.add(user.id),
    fault: (method, fault, times = 1) => void faults.push({ method, fault, times }),
    clearFaults: () => void faults.splice(0),
    revokeToken() {
      revoked = true
      if (poll === null) return
      fail(poll.response, 401, 'Unauthorized')
      poll = null
    },
    acceptToken(accepted, other = account) {
      token = accepted
      account = other
      revoked = false
    },
    repeatUpdates(back) {
      confirmBelow(nextUpdateId)
      for (const update of updates.slice(-back)) update.update_id = nextUpdateId++
      servePoll()
    },
    setWebhook(url) {
      webhook = url
      endPoll()
    },
    answerPoll() {
      if (poll === null) return
      clearTimeout(poll.timer)
      answer(poll.response, 200, { ok: true, result: [] })
      poll = null
    },
    breakPoll: () => void poll?.response.destroy(),
    waitingUpdates: () => open().length,
    until,
    untilSent: (count) => until(() => sent.length >= count),
    untilPolled: () => until(() => poll !== null),
    async close() {
      if (poll !== null) clearTimeout(poll.timer)
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** `/bot<token>/<method>` and `/file/bot<token>/documents/<file>`, with the current token. */
function pathOf(url: string, token: string): { method: string | null; fileId: string | null } {
  const path = decodeURIComponent(url.split('?')[0]!)
  const file = `/file/bot${token}/documents/`
  if (path.startsWith(file)) return { method: null, fileId: path.slice(file.length) }
  const call = `/bot${token}/`
  return { method: path.startsWith(call) ? path.slice(call.length) : null, fileId: null }
}

function show(fault: Exclude<ServedFault, { kind: 'lost_answer' | 'repeat' }>, response: ServerResponse): void {
  switch (fault.kind) {
    case 'error':
      return fail(response, fault.code, fault.description, fault.retryAfter)
    case 'garbage':
      return void response
        .writeHead(fault.status ?? 200, { 'content-type': 'text/html' })
        .end(fault.body ?? '<html>Please sign in to this network.</html>')
    case 'reset':
      return void response.destroy()
    case 'redirect':
      return void response.writeHead(307, { location: fault.to }).end()
    case 'stall':
      return
  }
}

function textOf(given: unknown): string {
  return typeof given === 'string' ? given : ''
}

function entitiesOf(given: unknown, text: string): SentMessage['entities'] {
  if (given === undefined) return []
  const entities = given as SentMessage['entities']
  const isFit =
    Array.isArray(entities) && entities.every(({ offset, length }) => offset >= 0 && length > 0 && offset + length <= text.length)
  if (!isFit) throw new Refused(400, "Bad Request: can't parse entities: an entity lies outside of the text")
  return entities
}

function buttonsOf(given: unknown): ServedButton[] {
  const rows = (given as { inline_keyboard?: ServedButton[][] } | undefined)?.inline_keyboard ?? []
  const buttons = rows.flat()
  if (buttons.some((button) => Buffer.byteLength(button.callback_data) > MAX_BUTTON_BYTES))
    throw new Refused(400, 'Bad Request: BUTTON_DATA_INVALID')
  return buttons
}

function commandsOf(given: unknown): ServedCommand[] {
  if (!Array.isArray(given)) throw new Refused(400, "Bad Request: can't parse commands")
  const commands = given as ServedCommand[]
  if (commands.length > MAX_COMMANDS) throw new Refused(400, 'Bad Request: BOT_COMMANDS_TOO_MUCH')
  for (const { command, description } of commands) {
    if (!/^[a-z0-9_]{1,32}$/.test(command)) throw new Refused(400, 'Bad Request: BOT_COMMAND_INVALID')
    if (textOf(description) === '' || description.length > 256) throw new Refused(400, 'Bad Request: BOT_COMMAND_DESCRIPTION_INVALID')
  }
  return commands
}

function fail(response: ServerResponse, code: number, description: string, retryAfter?: number): void {
  const parameters = retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } }
  answer(response, code, { ok: false, error_code: code, description, ...parameters })
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.writableEnded || response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
