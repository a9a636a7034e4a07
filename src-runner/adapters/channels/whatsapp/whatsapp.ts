import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { WAMessage } from '@whiskeysockets/baileys'
import type { Message } from '../../../contract/messages.ts'
import type { OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage, joinSentences, type Speech } from '../../../lib/messages.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import type { ChannelDriver, Connection, IncomingMessage, RunnerOfChannel } from '../channel.ts'
import { loadLibrary, readCreds, type Library, type TestServer } from './library.ts'
import { openLinkSocket, type LinkSocket } from './link-socket.ts'
import { deleteLinkState, openLinkState, type LinkState } from './link-state.ts'
import { createMedia } from './media.ts'
import { readContent } from './read-message.ts'
import { isOurs, LIMITS, sendMessage } from './send-message.ts'

export type WhatsAppDeps = {
  dataDir: string
  fetch: OutboundFetch
  clock: Clock
  speech: Speech
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
  testServer: TestServer
}

const RETRY = { firstMs: 1000, quickTries: 5, slowMs: 60_000 }
/** A connection that lasts this long ends a series of failures. */
const STEADY_MS = 60_000
const OPEN_DEADLINE_MS = 45_000
const PING_EVERY_MS = 30_000
const UNLINK_DEADLINE_MS = 5_000
/** After pairing, the service asks for one restart. More in a row are a failure. */
const MOST_RESTARTS = 3
/** What somebody writes in a group to have it listed. */
const MAYBE_CODE = /^\s*\w{8}\s*$/
const NOT_PAIRED = createMessage('chat_wa_not_paired')

/** One file for each channel. */
export function linkStateFile(dataDir: string, channelId: string): string {
  return join(dataDir, 'whatsapp', channelId)
}

/** How the device is named on the phone. */
export const DEVICE_NAME: [string, string, string] = ['Deckhand', 'Chrome', '10.15.7']

/**
 * WhatsApp by an account's linked device. The token is the key of the link state in the data folder. An account has no token that
 * somebody could enter: pairings.ts creates the state, and the channel when it is paired.
 */
export function createWhatsAppDriver(deps: WhatsAppDeps): ChannelDriver {
  return {
    kind: 'messenger',
    serviceName: 'WhatsApp',
    limits: LIMITS,
    identify: () => Promise.resolve({ state: 'refused', problem: createMessage('chat_wa_pair') }),
    connect: (access, _position, runner) => connect(deps, access, runner),
    forget: (channelId, access) => unlinkDevice(deps, channelId, access?.token ?? null),
  }
}

/** Deletes the link state, and removes the device from the phone's list if there is a key and the service can be reached. */
export async function unlinkDevice(
  { dataDir, clock, testServer }: Pick<WhatsAppDeps, 'dataDir' | 'clock' | 'testServer'>,
  channelId: string,
  key: string | null,
): Promise<void> {
  const file = linkStateFile(dataDir, channelId)
  if (!existsSync(file)) return
  const state = key === null ? null : openLinkState(file, key)
  try {
    const library = state === null ? null : await loadLibrary(testServer)
    const creds = library === null ? null : readCreds(library, state!)
    if (library === null || creds === null) return
    const ended = Promise.withResolvers<void>()
    const events = { qr() {}, paired() {}, frame() {}, message: () => Promise.reject(new Error('the channel was deleted')) }
    const link = openLinkSocket({
      ...{ library, state: state!, creds, clock, testServer, browser: DEVICE_NAME },
      events: { ...events, open: () => void link.socket.logout().catch(() => {}), closed: () => ended.resolve() },
    })
    const cancel = clock.after(UNLINK_DEADLINE_MS, () => ended.resolve())
    await ended.promise
    cancel()
    await link.close()
  } finally {
    state?.close()
    deleteLinkState(file)
  }
}

/** Why a connection ended. `isFinal`: a person has to act first. `isUnlinked`: the keys are of no use any more. */
type Ending = { problem: Message; isFinal: boolean; isUnlinked: boolean }

/** What the codes of the service mean for a linked device. */
export function endingOf(code: number): Ending {
  const final = (problem: Message, isUnlinked = false): Ending => ({ problem, isFinal: true, isUnlinked })
  const again = (problem: Message): Ending => ({ problem, isFinal: false, isUnlinked: false })
  switch (code) {
    case 401:
      return final(createMessage('chat_wa_unlinked'), true)
    case 403:
      return final(createMessage('chat_wa_banned'))
    case 405:
      return final(createMessage('chat_wa_too_old'))
    case 411:
      return final(createMessage('chat_wa_mismatch'), true)
    case 440:
      return final(createMessage('chat_wa_replaced'))
    case 408:
    case 428:
      return again(createMessage('chat_unreachable', { server: 'WhatsApp' }))
    default:
      return again(createMessage('chat_wa_closed', { status: String(code) }))
  }
}

// oxlint-disable-next-line max-lines-per-function -- one connection, whose parts share its state
function connect(deps: WhatsAppDeps, access: ChannelAccess, runner: RunnerOfChannel): Connection {
  const { clock } = deps
  const closing = new AbortController()
  const { signal } = closing
  const file = linkStateFile(deps.dataDir, access.channelId)
  const media = createMedia(deps)
  /** While the service has accepted the login. */
  let current: { library: Library; link: LinkSocket; state: LinkState } | null = null
  let isKeeping = true

  function setStatus(...given: Parameters<RunnerOfChannel['status']>): void {
    if (!signal.aborted) runner.status(...given)
  }

  async function run(): Promise<void> {
    const state = openLinkState(file, access.token)
    try {
      const library = await loadLibrary(deps.testServer)
      if (state === null || readCreds(library, state) === null) return setStatus('logged_out', NOT_PAIRED)
      const ending = await stayConnected(library, state)
      setStatus('logged_out', ending.problem)
      if (ending.isUnlinked) deleteLinkState(file)
    } finally {
      state?.close()
    }
  }

  /** Resolves when a person has to act. Rejects when `signal` aborts. */
  async function stayConnected(library: Library, state: LinkState): Promise<Ending> {
    let failures = 0
    let restarts = 0
    for (;;) {
      const startedAt = clock.monotonic()
      const { code, storeError, wasOpen } = await runOnce(library, state)
      signal.throwIfAborted()
      if (code === 515 && restarts++ < MOST_RESTARTS) continue
      restarts = 0
      const ending = endingOf(code)
      if (ending.isFinal) return ending
      if (wasOpen && clock.monotonic() - startedAt >= STEADY_MS) failures = 0
      setStatus('failing', storeError === null ? ending.problem : notKept(storeError))
      await clock.sleep(pauseAfter(failures++, deps.random), signal)
    }
  }

  /** Resolves when the connection has ended. */
  async function runOnce(library: Library, state: LinkState): Promise<{ code: number; storeError: unknown; wasOpen: boolean }> {
    let wasOpen = false
    const stops: (() => void)[] = []
    const ended = Promise.withResolvers<{ code: number; storeError: unknown }>()
    const link = openLinkSocket({
      ...{ library, state, clock, testServer: deps.testServer, browser: DEVICE_NAME },
      creds: readCreds(library, state)!,
      events: {
        qr() {},
        paired() {},
        open() {
          wasOpen = true
          current = { library, link, state }
          if (isKeeping) setStatus('open', null)
          if (!signal.aborted) runner.roundTrip()
          stops.push(clock.every(PING_EVERY_MS, () => void test(link)))
        },
        closed: (code, storeError) => ended.resolve({ code, storeError }),
        frame() {},
        message: (message) => hand(library, link, message),
      },
    })
    stops.push(clock.after(OPEN_DEADLINE_MS, () => wasOpen || void link.close()))
    const onAbort = () => void link.close()
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    try {
      return { ...(await ended.promise), wasOpen }
    } finally {
      current = null
      for (const stop of stops) stop()
      signal.removeEventListener('abort', onAbort)
      await link.close()
    }
  }

  /** A connection that does not answer is closed, so that another one is tried. */
  async function test(link: LinkSocket): Promise<void> {
    try {
      await link.ping()
      if (!signal.aborted) runner.roundTrip()
    } catch {
      await link.close()
    }
  }

  /** Hands a message over until it is stored. */
  async function hand(library: Library, link: LinkSocket, given: WAMessage): Promise<void> {
    const message = await readIncoming(library, link, given)
    if (message === null) return
    for (let tries = 0; ; tries++) {
      signal.throwIfAborted()
      try {
        await runner.incoming({ position: `${given.messageTimestamp}`, type: 'message', message })
        if (!isKeeping) setStatus('open', null)
        isKeeping = true
        return
      } catch (error) {
        isKeeping = false
        setStatus('failing', notKept(error))
        await clock.sleep(pauseAfter(Math.min(tries, RETRY.quickTries), deps.random), signal)
      }
    }
  }

  async function readIncoming(library: Library, link: LinkSocket, given: WAMessage): Promise<IncomingMessage | null> {
    const { key } = given
    if (isOurs(key.id)) return null
    const content = readContent(library, given, (stored, ending) => media.download(stored, AbortSignal.any([ending, signal])))
    if (content === null) return null
    const { addressed, ...said } = content
    const me = link.me()
    const isMe = (jid: string) => library.areJidsSameUser(jid, me.id) || library.areJidsSameUser(jid, me.lid)
    const group = library.isJidGroup(key.remoteJid ?? '') ? key.remoteJid! : null
    if (group !== null && !addressed.some(isMe) && !MAYBE_CODE.test(said.text)) return null
    const author = library.jidNormalizedUser(group === null ? key.remoteJid! : key.participant!)
    const alternative = group === null ? key.remoteJidAlt : key.participantAlt
    const { lid, number } = await identityOf(library, link, author, alternative ?? null)
    const externalId = key.fromMe === true ? library.jidNormalizedUser(me.id) : (lid ?? author)
    return {
      ...said,
      externalId: `${externalId} ${key.id}`,
      sender: {
        externalId,
        chatId: group ?? (key.fromMe === true ? externalId : author),
        displayName: given.pushName ?? number ?? '',
        handle: key.fromMe === true ? `+${numberIn(externalId)}` : number,
      },
      room: group === null ? null : { externalId: group, name: await nameOfGroup(link, group) },
      sentAt: Number(given.messageTimestamp ?? 0) * 1000 || null,
    }
  }

  const running = run().catch((error: unknown) => {
    if (!signal.aborted) setStatus('failing', joinSentences(createMessage('chat_broken'), reasonOf(error)))
  })

  return {
    async deliver(message, aborting, onPart) {
      if (current === null || signal.aborted) {
        return {
          state: 'failed',
          permanent: false,
          partsSent: message.partsSent,
          retryAfterMs: null,
          problem: createMessage('sent_not_connected'),
        }
      }
      const sending = { ...current, media, clock, t: deps.speech(), readFile: runner.readFile, onPart, onRoundTrip: runner.roundTrip }
      return sendMessage({ ...sending, signal: AbortSignal.any([aborting, signal]) }, message)
    },
    async showTyping(chatId) {
      await current?.link.socket.sendPresenceUpdate('composing', chatId).catch(() => {})
    },
    // There are no buttons.
    answerPress: () => Promise.resolve(),
    removeButtons: () => Promise.resolve(),
    woke() {
      if (current !== null) void test(current.link)
    },
    async close() {
      closing.abort(new Error('the channel is closed'))
      await running
    },
  }
}

/** The permanent id of a user, which does not depend on the number, and the number if the service tells it. */
async function identityOf(library: Library, { socket }: LinkSocket, jid: string, alternative: string | null) {
  const { lidMapping } = socket.signalRepository
  const isLid = library.isLidUser(jid) === true
  const other = alternative ?? (await (isLid ? lidMapping.getPNForLID(jid) : lidMapping.getLIDForPN(jid)).catch(() => null)) ?? null
  const [lid, number] = isLid ? [jid, other] : [other, jid]
  return { lid: lid === null ? null : library.jidNormalizedUser(lid), number: number === null ? null : `+${numberIn(number)}` }
}

export function numberIn(jid: string): string {
  return jid.split(/[:@]/)[0]!
}

async function nameOfGroup({ socket }: LinkSocket, group: string): Promise<string> {
  const found = await socket.groupMetadata(group).catch(() => null)
  return found?.subject ?? group
}

function notKept(error: unknown): Message {
  return joinSentences(createMessage('chat_cannot_keep'), reasonOf(error))
}

function reasonOf(error: unknown): Message {
  return error instanceof AppError ? problemOf(error) : createMessage('ours_broken')
}

/** Quick at first, then once a minute at most. */
function pauseAfter(failures: number, random: () => number): number {
  if (failures >= RETRY.quickTries) return RETRY.slowMs * (1 + random() / 4)
  return RETRY.firstMs * 2 ** failures * (0.5 + random() / 2)
}
