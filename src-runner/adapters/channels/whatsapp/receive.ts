import type { WAMessage } from '@whiskeysockets/baileys'
import type { Clock } from '../../../lib/clock.ts'
import type { IncomingMessage, RunnerOfChannel } from '../channel.ts'
import { notKept, pauseAfter } from './endings.ts'
import { numberIn, type Library } from './library.ts'
import type { LinkSocket } from './link-socket.ts'
import type { createMedia } from './media.ts'
import { readContent } from './read-message.ts'
import { isOurs } from './send-message.ts'

type ReceiverDeps = {
  library: Library
  clock: Clock
  random: () => number
  media: Pick<ReturnType<typeof createMedia>, 'download'>
  runner: Pick<RunnerOfChannel, 'incoming' | 'status'>
  signal: AbortSignal
}

/** While messages cannot be stored, they are tried again with pauses that grow up to this many doublings. */
const MOST_DOUBLINGS = 5
/** What somebody writes in a group to have it listed. */
const MAYBE_CODE = /^\s*\w{8}\s*$/

/** Hands received messages over. The channel is shown as open only while they can be stored. */
export function createReceiver(deps: ReceiverDeps) {
  const { clock, random, runner, signal } = deps
  let isKeeping = true

  return {
    opened(): void {
      if (isKeeping) runner.status('open', null)
    },
    /** Hands a message over until it is stored. Rejects when `signal` aborts. */
    async take(link: LinkSocket, given: WAMessage): Promise<void> {
      const message = await readIncoming(deps, link, given)
      if (message === null) return
      for (let tries = 0; ; tries++) {
        signal.throwIfAborted()
        try {
          await runner.incoming({ position: `${given.messageTimestamp}`, type: 'message', message })
          if (!isKeeping) runner.status('open', null)
          isKeeping = true
          return
        } catch (error) {
          isKeeping = false
          runner.status('failing', notKept(error))
          await clock.sleep(pauseAfter(Math.min(tries, MOST_DOUBLINGS), random), signal)
        }
      }
    },
  }
}

/** null: nothing for an agent. */
async function readIncoming({ library, media, signal }: ReceiverDeps, link: LinkSocket, given: WAMessage): Promise<IncomingMessage | null> {
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
