import { and, eq, inArray, isNull, lt, or } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { ChannelKind, ChannelPerson } from '../../contract/channels.ts'
import type { JobChannel } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { createMessage, type Speech } from '../../lib/messages.ts'
import type { ApprovalStore } from '../approvals/approvals.ts'
import { getAgent } from '../agents/agents.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { titleFor } from '../jobs/titles.ts'
import { withdrawFrom, writeOutbound } from '../outbox/write-message.ts'
import { isAllPaused } from '../settings/settings.ts'
import { answerByPress, answerByText, isWaitingForOwner } from './answer-by-message.ts'
import { channelMessages } from './channels-table.ts'
import { moveChannelPosition } from './channels.ts'
import { commandIn, commandsText, type ChatCommand } from './commands.ts'
import { LATE_MS, noteLate } from './late-messages.ts'
import { listOfAgents } from './list-of-agents.ts'
import { listOpenTurns } from './channels.sql.ts'
import { isPairingCode } from './pairing-code.ts'
import {
  addRequest,
  chatOfPerson,
  conversationOf,
  findOwner,
  findPersonByExternalId,
  getPerson,
  listConversationsOf,
  noteMessage,
  nameForPeople,
  setConversation,
  setPersonRole,
  type Sender,
  type Writer,
} from './people.ts'

/** A message whose files are stored already. */
export type ReceivedMessage = {
  /** Unique within the channel. */
  externalId: string
  /** Those of further messages that it joins. */
  otherIds?: readonly string[]
  sender: Sender
  /** null: a private chat. */
  room: { externalId: string; name: string } | null
  /** In ms. null: the service keeps nothing for longer than a day. */
  sentAt: number | null
  text: string
  /** The service's id of our message that this one replies to. */
  replyTo: string | null
  /** The author, if the sender forwarded it. */
  forwardedFrom: string | null
  /** It holds words that others may have chosen: a contact, a place, the name of a file. */
  quotesOthers?: true
  /** The kind of content that is neither text nor a file. */
  unreadable: string | null
  /** Paths in the agent's terms. */
  files: readonly string[]
  missingFiles: readonly { name: string; why: string }[]
}

export type ReceivingChannel = { id: string; agentId: string; kind: ChannelKind }

export type ReceivingDeps = Pick<Services, 'clock' | 'ids'> & {
  /** The clock by which unanswered requests expire. */
  age?: Pick<Clock, 'now'>
  /** The clock that trusts up to a month off, but not a clock that was set. */
  money?: Pick<Clock, 'now'>
  speech: Speech
  jobs: Pick<JobStore, 'enqueue' | 'cancelAllOf'>
  approvals: Pick<ApprovalStore, 'answer' | 'findApproval'>
}

/** Unfinished turns that a person may have at once. Further messages are refused with a note. */
const MAX_WAITING = { owner: 50, allowed: 5 }
/** A service repeats a message within a day. Ids of messages without a job are kept for less time, because anybody can send them. */
const REMEMBERED_MS = { withJob: 30 * 24 * 3_600_000, withNone: 2 * 24 * 3_600_000 }
/** Each takes about 150 bytes. */
export const MAX_IDS_WITHOUT_JOB = 500

/** Whether a message reaches the agent now. If not, its files are not downloaded. */
export function isHeard(db: Db, channelId: string, message: Pick<ReceivedMessage, 'sender' | 'room'>): boolean {
  const person = findPersonByExternalId(db, channelId, writerOf(message).externalId)
  return (person?.role === 'owner' || person?.role === 'allowed') && hasRoom(db, person)
}

/** In a room everybody has the rights of a guest, also the owner: all of them read the reply. */
function writerOf({ sender, room }: Pick<ReceivedMessage, 'sender' | 'room'>): Writer {
  if (room === null) return { ...sender, isRoom: false }
  return { externalId: `room:${room.externalId}`, chatId: sender.chatId, displayName: room.name, handle: null, isRoom: true }
}

function hasRoom(db: Db, { id, role }: ChannelPerson): boolean {
  return countOpenTurns(db, id) < MAX_WAITING[role === 'owner' ? 'owner' : 'allowed']
}

export function wasReceived(db: Db, channelId: string, externalId: string): boolean {
  return db.select({ at: channelMessages.receivedAt }).from(channelMessages).where(isMessage(channelId, externalId)).get() !== undefined
}

const isMessage = (channelId: string, ...externalIds: string[]) =>
  and(eq(channelMessages.channelId, channelId), inArray(channelMessages.externalId, externalIds))

/** Handles a pressed button. Returns the note for the person who pressed it. */
export function receivePress(
  tx: Tx,
  deps: ReceivingDeps,
  channel: ReceivingChannel,
  press: { sender: Sender; action: string },
  position: string,
): string {
  moveChannelPosition(tx, channel.id, position)
  return answerByPress(tx, deps, channel, press)
}

/** Asks somebody with access to send a message again that could not be decrypted. The message itself may still come. */
export function receiveUndecrypted(
  tx: Tx,
  deps: ReceivingDeps,
  channel: ReceivingChannel,
  { externalId, sender, position }: { externalId: string; sender: Sender; position: string },
): void {
  moveChannelPosition(tx, channel.id, position)
  const person = findPersonByExternalId(tx, channel.id, sender.externalId)
  if ((person?.role !== 'owner' && person?.role !== 'allowed') || wasReceived(tx, channel.id, externalId)) return
  const message = { externalId: `${externalId} undecrypted` }
  if (!remember(tx, deps, channel, message)) return
  const to = { channelId: channel.id, personId: person.id, chatId: sender.chatId }
  sendNote(tx, deps, channel, to, message, deps.speech()('outbound.note.undecrypted'))
}

/** Stores a message once and acts on it: a request, an answer, or a job. */
export function receiveMessage(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, message: ReceivedMessage, position: string): void {
  moveChannelPosition(tx, channel.id, position)
  const writer = writerOf(message)
  const person = findPersonByExternalId(tx, channel.id, writer.externalId)
  if (person === null) return request(tx, deps, channel, message)
  const hasAccess = person.role === 'owner' || person.role === 'allowed'
  // Also for people without access, so that a repeated message does not act once they have access.
  if ((!hasAccess && isFlooded(tx, channel.id)) || !remember(tx, deps, channel, message)) return
  for (const externalId of message.otherIds ?? []) remember(tx, deps, channel, { externalId })
  noteMessage(tx, person.id, writer, deps.clock.now())
  const to = { channelId: channel.id, personId: person.id, chatId: writer.chatId }
  const note = (text: string) => sendNote(tx, deps, channel, to, message, text)
  if (person.role === 'requested' && hasCode(channel, message)) return note(listedText(deps, message.sender))
  if (person.role === 'requested' || person.role === 'refused') return
  if (isLate(deps, message)) return noteLate(tx, deps, { agentId: channel.agentId, to }, message)
  const reply = replyTo(tx, deps, channel, person, message)
  if (reply !== null) note(reply)
}

/** The service says when it was sent. While it is unclear which clock here is right, the message counts as on time. */
export function isLate(
  { clock, money = clock }: Pick<ReceivingDeps, 'clock' | 'money'>,
  { sentAt }: Pick<ReceivedMessage, 'sentAt'>,
): boolean {
  return sentAt !== null && Math.min(clock.now(), money.now()) - sentAt > LATE_MS
}

/** Returns false if it was received before. */
function remember(tx: Tx, { clock }: ReceivingDeps, channel: ReceivingChannel, { externalId }: { externalId: string }): boolean {
  const row = { channelId: channel.id, externalId, receivedAt: clock.now() }
  return tx.insert(channelMessages).values(row).onConflictDoNothing().run().changes > 0
}

/** Strangers may write as often as they like. Beyond this, they are ignored until ids are deleted. */
function isFlooded(db: Db, channelId: string): boolean {
  const { receivedAt: at, jobId } = channelMessages
  const ids = and(eq(channelMessages.channelId, channelId), isNull(jobId))
  return (
    db
      .select({ at })
      .from(channelMessages)
      .where(ids)
      .limit(1)
      .offset(MAX_IDS_WITHOUT_JOB - 1)
      .get() !== undefined
  )
}

/** Lists a stranger. Their text is neither stored nor given to an agent. */
function request(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, message: ReceivedMessage): void {
  // A repeated message whose request was deleted meanwhile.
  if (wasReceived(tx, channel.id, message.externalId)) return
  const knowsCode = hasCode(channel, message)
  // WhatsApp is a person's own account: senders address the owner, so no agent replies. In a group, the code
  // stands for the group.
  if (channel.kind === 'messenger' && !knowsCode && (message.room === null || !isPairingCode(channel.id, message.text))) return
  const person = addRequest(tx, deps, channel, writerOf(message), { hasCode: knowsCode })
  if (person === null) return
  remember(tx, deps, channel, message)
  const to = { channelId: channel.id, personId: person.id, chatId: message.sender.chatId }
  sendNote(tx, deps, channel, to, message, knowsCode ? listedText(deps, message.sender) : deps.speech()('outbound.note.asked'))
}

/** The number distinguishes people of the same name, and hardly anybody knows their own. */
function listedText({ speech }: ReceivingDeps, { externalId }: Sender): string {
  return speech()('outbound.note.listed', { id: externalId })
}

/** A forwarded code does not count, because the sender need not know it. Nor does one that a whole room has read. */
function hasCode({ id }: ReceivingChannel, { text, forwardedFrom, room }: ReceivedMessage): boolean {
  return room === null && forwardedFrom === null && isPairingCode(id, text)
}

function sendNote(
  tx: Tx,
  deps: ReceivingDeps,
  channel: ReceivingChannel,
  to: { channelId: string; personId: string; chatId: string },
  message: { externalId: string },
  text: string,
): void {
  const key = `answer:${channel.id}:${message.externalId}`
  writeOutbound(tx, deps, { key, kind: 'notification', agentId: channel.agentId, jobId: null, text, to })
}

/** The text of an immediate note, or null if the agent will reply. */
function replyTo(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, person: ChannelPerson, message: ReceivedMessage): string | null {
  const isOwnWord = message.forwardedFrom === null
  const command = isOwnWord ? commandIn(message.text) : null
  const { chatId } = message.sender
  if (command !== null) {
    const note = runCommand(tx, deps, channel, { ...person, chatId }, command.name)
    const begins = { ...message, text: command.rest }
    if (command.name !== 'new' || isEmpty(begins)) return note
    return startTurn(tx, deps, channel, { ...person, conversationId: null }, begins)
  }
  if (person.role === 'owner' && isOwnWord) {
    const said = { ...message, enclosed: enclosedIn(message).join('\n\n') }
    const answered = answerByText(tx, deps, { ...channel, conversationId: person.conversationId }, said)
    if (answered !== null) return answered.note
  }
  return startTurn(tx, deps, channel, person, message)
}

function isEmpty({ text, files, missingFiles, unreadable }: ReceivedMessage): boolean {
  return text === '' && files.length === 0 && missingFiles.length === 0 && unreadable === null
}

function runCommand(
  tx: Tx,
  deps: ReceivingDeps,
  { agentId }: ReceivingChannel,
  person: ChannelPerson & { chatId: string },
  command: ChatCommand,
): string | null {
  const t = deps.speech()
  switch (command) {
    case 'new':
      setConversation(tx, person, person.chatId, null)
      return t('outbound.note.newConversation')
    case 'stop':
      return stopTurns(tx, deps, person)
    case 'start':
      return `${t('outbound.note.introduction', { agent: getAgent(tx, agentId).name })}\n\n${commandsText(t)}`
    case 'help':
      return commandsText(t)
    case 'agents':
      return person.role === 'owner' ? listOfAgents(tx, t, agentId) : t('outbound.note.introduction', { agent: getAgent(tx, agentId).name })
  }
}

/** Stops the turns in all conversations of the person, or in this one of a room. */
function stopTurns(tx: Tx, { jobs, speech }: ReceivingDeps, person: ChannelPerson & { chatId: string }): string | null {
  const here = person.isRoom ? conversationOf(tx, person, person.chatId) : null
  const open = listOpenTurns(tx, person.id).filter(({ conversationId }) => !person.isRoom || conversationId === here)
  if (open.length === 0) return speech()('outbound.note.nothingToStop')
  for (const { conversationId } of open) jobs.cancelAllOf(tx, { conversationId })
  // Each stopped turn sends its own reply.
  return null
}

function startTurn(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, person: ChannelPerson, message: ReceivedMessage): string | null {
  const t = deps.speech()
  if (message.unreadable !== null) return t('outbound.note.unreadable', { content: message.unreadable })
  const isOwner = person.role === 'owner'
  if (!hasRoom(tx, person)) return t('outbound.note.busy')
  const { chatId } = message.sender
  const conversationId = conversationOf(tx, person, chatId)
  const isHeldUp = isOwner && isWaitingForOwner(tx, conversationId)
  const job = deps.jobs.enqueue(tx, {
    agentId: channel.agentId,
    channel: channel.kind satisfies JobChannel,
    task: taskOf(message),
    title: titleFor(
      [message.text, ...message.files.map((file) => file.slice(file.lastIndexOf('/') + 1)), t('outbound.note.untitled')].join('\n'),
    ),
    conversation: conversationId ?? 'new',
    context: {
      // Text that the owner forwards was written by somebody else.
      fromOwner: isOwner && message.forwardedFrom === null && message.quotesOthers !== true,
      channelId: channel.id,
      personId: person.id,
      personName: person.displayName,
      isGuest: !isOwner,
    },
  })
  setConversation(tx, person, chatId, job.conversationId)
  tx.update(channelMessages)
    .set({ jobId: job.id })
    .where(isMessage(channel.id, message.externalId, ...(message.otherIds ?? [])))
    .run()
  if (isHeldUp) return t('outbound.note.answerFirst')
  if (isOwner && isAllPaused(tx)) return t('outbound.note.allPaused')
  return null
}

function countOpenTurns(db: Db, personId: string): number {
  return listOpenTurns(db, personId).reduce((sum, { turns }) => sum + turns, 0)
}

function taskOf({ sender, room, text, forwardedFrom, ...message }: ReceivedMessage): string {
  const author = room === null ? [] : [`${nameForPeople(sender.displayName)} writes in “${nameForPeople(room.name)}”:`]
  const forwarded = forwardedFrom === null ? [] : [`Forwarded. These are the words of ${forwardedFrom}, not mine:`]
  const words = text.trim() === '' ? [] : [text.trim()]
  return [...author, ...forwarded, ...words, ...enclosedIn(message)].join('\n\n')
}

/** What the agent reads about the files of a message. */
function enclosedIn({ files, missingFiles }: Pick<ReceivedMessage, 'files' | 'missingFiles'>): string[] {
  const sent = files.length === 0 ? [] : [`Files that came with this message:\n${files.map((file) => `- ${file}`).join('\n')}`]
  return [...sent, ...missingFiles.map(({ name, why }) => `(The file “${name}” did not arrive: ${why}.)`)]
}

/** Sets a person's role and notifies them. Withdraws messages to a former owner, and stops the turns of a refused person. */
export function decideOnPerson(
  tx: Tx,
  deps: Pick<ReceivingDeps, 'clock' | 'ids' | 'speech' | 'jobs'>,
  channel: { id: string; agentId: string },
  personId: string,
  role: 'owner' | 'allowed' | 'refused',
): ChannelPerson {
  const before = getPerson(tx, channel.id, personId)
  const ownerBefore = findOwner(tx, channel.id)
  const after = setPersonRole(tx, channel, personId, role)
  if (before.role === role) return after
  if (ownerBefore !== null && (role === 'owner' || ownerBefore.id === personId)) {
    withdrawFrom(tx, ownerBefore.id, createMessage('sent_to_former_owner'))
  }
  if (role === 'refused') {
    withdrawFrom(tx, personId, createMessage('sent_to_refused'))
    for (const conversationId of listConversationsOf(tx, personId)) deps.jobs.cancelAllOf(tx, { conversationId })
    return after
  }
  const { name } = getAgent(tx, channel.agentId)
  const t = deps.speech()
  const greeting = t(role === 'owner' ? 'outbound.note.nowOwner' : 'outbound.note.nowAllowed', { agent: name })
  writeOutbound(tx, deps, {
    key: `greeting:${personId}:${deps.ids.next()}`,
    kind: 'notification',
    agentId: channel.agentId,
    jobId: null,
    text: `${greeting}\n\n${commandsText(t)}`,
    to: { channelId: channel.id, personId, chatId: chatOfPerson(tx, personId) },
  })
  return after
}

/** Deletes the ids of messages that the service no longer repeats. */
export function pruneReceived(tx: Tx, now: number): void {
  const { receivedAt, jobId } = channelMessages
  const isOld = and(lt(receivedAt, now - REMEMBERED_MS.withNone), or(isNull(jobId), lt(receivedAt, now - REMEMBERED_MS.withJob)))
  tx.delete(channelMessages).where(isOld).run()
}
