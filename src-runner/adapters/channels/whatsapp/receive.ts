import type { WAMessage } from '@whiskeysockets/baileys'
import type { Clock } from '../../../lib/clock.ts'
import type { IncomingMessage, RunnerOfChannel } from '../channel.ts'
import { notKept, pauseAfter } from './connection-failures.ts'
import { numberIn, type Library } from './library.ts'
import type { LinkSocket } from './link-socket.ts'
import type { createMedia } from './media.ts'
import { readContent } from './read-message.ts'
import { isOurs } from './send-message.ts'
import type { LinkState } from './link-state.ts'
import { createUndecrypted, type Undecrypted } from './undecrypted.ts'

type ReceiverDeps = {
  library: Library
  state: LinkState
  clock: Clock
  random: () => number
  media: Pick<ReturnType<typeof createMedia>, 'download'>
  runner: Pick<RunnerOfChannel, 'incoming' | 'status' | 'knownChats'>
  signal: AbortSignal
}

/** While messages cannot be stored, they are tried again with pauses that grow up to this many doublings. */
const MAX_DOUBLINGS = 5
/** What somebody writes in a group to have it listed. */
const MAYBE_CODE = /^\s*\w{8}\s*$/

/** Hands received messages over. The channel is shown as open only while they can be stored. */
export function createReceiver(deps: ReceiverDeps) {
  const { library, state, clock, random, runner, signal } = deps
  const undecrypted = createUndecrypted(state, clock)
  let isKeeping = true
  let turn = Promise.resolve()

  /** The runner takes one at a time. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const taken = turn.then(work)
    turn = taken.catch(() => {})
    return taken
  }

  /** Hands messages that were sent as one over until they are stored. */
  async function handOver(link: LinkSocket, given: readonly [WAMessage, ...WAMessage[]]): Promise<void> {
    const [message, ...rest] = await readIncoming(deps, link, given)
    for (let tries = 0; message !== undefined; tries++) {
      signal.throwIfAborted()
      try {
        await runner.incoming({ position: `${given[0].messageTimestamp}`, type: 'message', message, rest })
        if (!isKeeping) runner.status('open', null)
        isKeeping = true
        break
      } catch (error) {
        isKeeping = false
        runner.status('failing', notKept(error))
        await clock.sleep(pauseAfter(Math.min(tries, MAX_DOUBLINGS), random), signal)
      }
    }
    for (const { key } of given) undecrypted.remove(key.id ?? '')
  }

  return {
    opened(): void {
      if (isKeeping) runner.status('open', null)
    },
    /** Rejects when `signal` aborts. */
    take: (link: LinkSocket, given: readonly [WAMessage, ...WAMessage[]]) => inTurn(() => handOver(link, given)),
    /** In groups most messages are for others, and strangers must leave nothing behind. */
    addUndecrypted({ key, ...message }: WAMessage): void {
      const chats = [key.remoteJid, key.remoteJidAlt].filter((jid) => typeof jid === 'string')
      const isKnown = runner.knownChats().some((chat) => chats.some((jid) => library.areJidsSameUser(jid, chat)))
      if (isKnown && library.isJidGroup(key.remoteJid ?? '') !== true) undecrypted.add({ key, ...message })
    },
    /** Reports messages that nobody has repeated. What cannot be stored now is reported later. */
    reportLost: (link: LinkSocket) =>
      inTurn(async () => {
        for (const lost of undecrypted.listLost()) {
          signal.throwIfAborted()
          const { externalId, sender } = await writerOf(library, link, lost)
          await runner.incoming({ position: `${lost.messageTimestamp}`, type: 'undecrypted', externalId, sender })
          undecrypted.remove(lost.key.id!)
        }
      }).catch(() => {}),
  }
}

/** Without those that are nothing for an agent. */
async function readIncoming(
  { library, media, signal }: ReceiverDeps,
  link: LinkSocket,
  given: readonly [WAMessage, ...WAMessage[]],
): Promise<IncomingMessage[]> {
  const contents = given.flatMap((message) => {
    const content = isOurs(message.key.id)
      ? null
      : readContent(library, message, (stored, callSignal) => media.download(stored, AbortSignal.any([callSignal, signal])))
    return content === null ? [] : [{ message, content }]
  })
  const me = link.me()
  const isMe = (jid: string) => library.areJidsSameUser(jid, me.id) || library.areJidsSameUser(jid, me.lid)
  const chat = given[0].key.remoteJid ?? ''
  const group = library.isJidGroup(chat) ? chat : null
  const isForUs = contents.some(({ content }) => content.addressed.some(isMe) || MAYBE_CODE.test(content.text))
  if (group !== null && !isForUs) return []
  const room = group === null ? null : { externalId: group, name: await nameOfGroup(link, group) }
  const messages: IncomingMessage[] = []
  for (const { message, content } of contents) {
    const { addressed: _addressed, ...said } = content
    const sentAt = Number(message.messageTimestamp ?? 0) * 1000 || null
    messages.push({ ...said, ...(await writerOf(library, link, message)), room, sentAt })
  }
  return messages
}

/** Who wrote a message, and its id, which is the same each time it is repeated. */
async function writerOf(library: Library, link: LinkSocket, { key, pushName }: Undecrypted) {
  const group = library.isJidGroup(key.remoteJid ?? '') ? key.remoteJid! : null
  const author = library.jidNormalizedUser(group === null ? key.remoteJid! : key.participant!)
  const alternative = group === null ? key.remoteJidAlt : key.participantAlt
  const { lid, number } = await identityOf(library, link, author, alternative ?? null)
  const externalId = key.fromMe === true ? library.jidNormalizedUser(link.me().id) : (lid ?? author)
  const sender = {
    externalId,
    chatId: group ?? (key.fromMe === true ? externalId : author),
    displayName: pushName ?? number ?? '',
    handle: key.fromMe === true ? `+${numberIn(externalId)}` : number,
  }
  return { externalId: `${externalId} ${key.id}`, sender }
}

/** The permanent id of a user, which does not depend on the number, and the number if the service tells it. */
async function identityOf(library: Library, { socket }: LinkSocket, jid: string, alternative: string | null) {
  const { lidMapping } = socket.signalRepository
  const isLid = library.isLidUser(jid) === true
  const other = alternative ?? (await (isLid ? lidMapping.getPNForLID(jid) : lidMapping.getLIDForPN(jid)).catch(() => null)) ?? null
  const [lid, number] = isLid ? [jid, other] : [other, jid]
  return { lid: lid === null ? null : library.jidNormalizedUser(lid), number: number === null ? null : `+${numberIn(number)}` }
}

async function nameOfGroup({ socket }: LinkSocket, group: string): Promise<string> {
  const found = await socket.groupMetadata(group).catch(() => null)
  return found?.subject ?? group
}
