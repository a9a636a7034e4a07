import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { ChannelKind, ChannelPerson } from '../../contract/channels.ts'
import type { JobChannel } from '../../contract/jobs.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ids } from '../../kit/ids.ts'
import { say } from '../../kit/said.ts'
import type { ApprovalStore } from '../approvals/approvals.ts'
import { getAgent } from '../agents/agents.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { titleFor } from '../jobs/titles.ts'
import { withdrawFrom, writeOutbound } from '../outbox/writing.ts'
import { isBrakeOn } from '../settings/settings.ts'
import { answerByPress, answerByText, isWaitingForOwner } from './answers.ts'
import { moveChannelPosition } from './channels.ts'
import { commandIn, COMMANDS_IN_WORDS, type ChatCommand } from './commands.ts'
import { isRequestCode } from './request-code.ts'
import {
  addRequest,
  chatOfPerson,
  findOwner,
  findPersonByExternalId,
  getPerson,
  listConversationsOf,
  noteMessage,
  setPersonConversation,
  setPersonRole,
  type Sender,
} from './people.ts'

/** What becomes of what people write, in one transaction with the place up to which it was read. */

/** A private message, with its files put away already. */
export type ReceivedMessage = {
  /** Unique within the channel. */
  externalId: string
  sender: Sender
  text: string
  /** The service's id of the message of ours that this one answers. */
  replyTo: string | null
  /** Whose words these are, where they are not the sender's own. */
  forwardedFrom: string | null
  /** Something that is neither text nor a file, named for people. */
  unreadable: string | null
  /** Its files, as the agent can name them. */
  files: readonly string[]
  /** Those that are not there, and why. */
  missingFiles: readonly { name: string; why: string }[]
}

export type ReceivingChannel = { id: string; agentId: string; kind: ChannelKind }

export type ReceivingDeps = {
  clock: Clock
  /** By which a request is forgotten that nobody answered. */
  age?: Pick<Clock, 'now'>
  ids: Ids
  jobs: Pick<JobStore, 'enqueue' | 'cancelAllOf'>
  approvals: Pick<ApprovalStore, 'answer' | 'findApproval'>
}

/** So many turns of one person may wait at once; what comes on top is not taken in, and they are told. */
const MOST_WAITING = { owner: 50, allowed: 5 }
/** A service hands a message over again within a day, if at all. What led to nothing is forgotten soon: anybody can write it. */
const REMEMBERED_MS = { withJob: 30 * 24 * 3_600_000, withNone: 2 * 24 * 3_600_000 }

/** Whether what they write now reaches the agent; otherwise their files are not even looked at. */
export function isHeard(db: Db, channelId: string, sender: Sender): boolean {
  const person = findPersonByExternalId(db, channelId, sender.externalId)
  return (person?.role === 'owner' || person?.role === 'allowed') && hasRoom(db, person)
}

function hasRoom(db: Db, { id, role }: ChannelPerson): boolean {
  return countOpenTurns(db, id) < MOST_WAITING[role === 'owner' ? 'owner' : 'allowed']
}

export function wasReceived(db: Db, channelId: string, externalId: string): boolean {
  return db.prepare('SELECT 1 FROM channel_messages WHERE channel_id = ? AND external_id = ?').get(channelId, externalId) !== undefined
}

/** A button was pressed. Answers the note for who pressed it. */
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

/** Keeps a message, once, and does what it asks for: a request, an answer, or a job. */
export function receiveMessage(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, message: ReceivedMessage, position: string): void {
  moveChannelPosition(tx, channel.id, position)
  const person = findPersonByExternalId(tx, channel.id, message.sender.externalId)
  if (person === null) return ask(tx, deps, channel, message)
  // Also of those who are not heard: what they wrote then must not be heard when it comes again and they are by now.
  if (!remember(tx, deps, channel, message)) return
  noteMessage(tx, person.id, message.sender, deps.clock.now())
  const say = (text: string) => answer(tx, deps, channel, { personId: person.id, chatId: message.sender.chatId }, message, text)
  if (person.role === 'asked' && hasCode(channel, message)) return say(shownText(message.sender))
  if (person.role === 'asked' || person.role === 'refused') return
  const reply = replyTo(tx, deps, channel, person, message)
  if (reply !== null) say(reply)
}

/** false: it was here before. */
function remember(tx: Tx, { clock }: ReceivingDeps, channel: ReceivingChannel, { externalId }: ReceivedMessage): boolean {
  return (
    tx
      .prepare('INSERT INTO channel_messages (channel_id, external_id, received_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .run(channel.id, externalId, clock.now()).changes > 0
  )
}

/** Nothing that a stranger wrote goes further than the fact that they did. */
function ask(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, message: ReceivedMessage): void {
  // Of somebody who gave way since: it asked already.
  if (wasReceived(tx, channel.id, message.externalId)) return
  const knowsCode = hasCode(channel, message)
  const person = addRequest(tx, deps, channel, message.sender, { hasCode: knowsCode })
  if (person === null) return
  remember(tx, deps, channel, message)
  const to = { personId: person.id, chatId: message.sender.chatId }
  answer(tx, deps, channel, to, message, knowsCode ? shownText(message.sender) : ASKED)
}

const ASKED = 'I have told the owner of this agent that you wrote. They can let you in from Deckhand.'

/** Hardly anybody knows their number, and by that alone they find themselves among others of their name. */
function shownText({ externalId }: Sender): string {
  return `Deckhand shows you now, as number ${externalId}. Say there that it is you.`
}

/** What somebody passed on is not theirs to know. */
function hasCode({ id }: ReceivingChannel, { text, forwardedFrom }: ReceivedMessage): boolean {
  return forwardedFrom === null && isRequestCode(id, text)
}

function answer(
  tx: Tx,
  deps: ReceivingDeps,
  channel: ReceivingChannel,
  to: { personId: string; chatId: string },
  message: ReceivedMessage,
  text: string,
): void {
  const key = `answer:${channel.id}:${message.externalId}`
  writeOutbound(tx, deps, { key, kind: 'notice', agentId: channel.agentId, jobId: null, text, to: { channelId: channel.id, ...to } })
}

/** What is said at once; null: nothing, since an agent will answer. */
function replyTo(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, person: ChannelPerson, message: ReceivedMessage): string | null {
  const isOwnWord = message.forwardedFrom === null
  const command = isOwnWord ? commandIn(message.text) : null
  if (command !== null) return obey(tx, deps, channel, person, command)
  if (person.role === 'owner' && isOwnWord) {
    const answered = answerByText(tx, deps, { ...channel, conversationId: person.conversationId }, message)
    if (answered !== null) return answered.note
  }
  if (message.unreadable !== null) return `I cannot read ${message.unreadable}. Write to me, or send a file.`
  return startTurn(tx, deps, channel, person, message)
}

function obey(tx: Tx, deps: ReceivingDeps, { agentId }: ReceivingChannel, person: ChannelPerson, command: ChatCommand): string | null {
  switch (command) {
    case 'new':
      setPersonConversation(tx, person.id, null)
      return 'Your next message begins a new conversation.'
    case 'stop':
      return stopTurns(tx, deps, person)
    case 'start':
      return `I am ${getAgent(tx, agentId).name}. Write to me what you need.\n\n${COMMANDS_IN_WORDS}`
    case 'help':
      return COMMANDS_IN_WORDS
  }
}

/** Also what goes on in conversations that they have left. */
function stopTurns(tx: Tx, { jobs }: ReceivingDeps, { id }: ChannelPerson): string | null {
  const open = listOpenTurns(tx, id)
  if (open.length === 0) return 'There is nothing to stop.'
  for (const { conversationId } of open) jobs.cancelAllOf(tx, { conversationId })
  // Each turn that is stopped says so itself.
  return null
}

function startTurn(tx: Tx, deps: ReceivingDeps, channel: ReceivingChannel, person: ChannelPerson, message: ReceivedMessage): string | null {
  const isOwner = person.role === 'owner'
  if (!hasRoom(tx, person)) {
    return 'I am still at work on what you wrote before, so I have not taken this in. Send it again when I have answered.'
  }
  const isHeldUp = isOwner && isWaitingForOwner(tx, person.conversationId)
  const job = deps.jobs.enqueue(tx, {
    agentId: channel.agentId,
    channel: channel.kind satisfies JobChannel,
    task: taskOf(message),
    title: titleFor([message.text, ...message.files.map((file) => file.slice(file.lastIndexOf('/') + 1)), 'A message'].join('\n')),
    conversation: person.conversationId ?? 'new',
    context: {
      // What others wrote stays theirs, also when the owner passes it on.
      fromOwner: isOwner && message.forwardedFrom === null,
      channelId: channel.id,
      personId: person.id,
      personName: person.displayName,
      isGuest: !isOwner,
    },
  })
  setPersonConversation(tx, person.id, job.conversationId)
  tx.prepare('UPDATE channel_messages SET job_id = ? WHERE channel_id = ? AND external_id = ?').run(job.id, channel.id, message.externalId)
  if (isHeldUp) return 'I need your answer to my question above before I can go on to this. /stop drops it instead.'
  if (isOwner && isBrakeOn(tx)) return 'The emergency brake is on in Deckhand. I will begin when it is released.'
  return null
}

function countOpenTurns(db: Db, personId: string): number {
  return listOpenTurns(db, personId).reduce((sum, { turns }) => sum + turns, 0)
}

/** Turns that have not ended, of all their conversations: whoever begins a new one has no more of them at once. */
function listOpenTurns(db: Db, personId: string): { conversationId: string; turns: number }[] {
  return db
    .prepare<{ conversationId: string; turns: number }>(
      `SELECT job.conversation_id AS conversationId, count(*) AS turns FROM channel_conversations AS held
       JOIN agent_jobs AS job INDEXED BY agent_jobs_open_turns ON job.conversation_id = held.conversation_id
         AND job.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')
       WHERE held.person_id = ? GROUP BY job.conversation_id`,
    )
    .all(personId)
}

function taskOf({ text, forwardedFrom, files, missingFiles }: ReceivedMessage): string {
  const forwarded = forwardedFrom === null ? [] : [`Forwarded. These are the words of ${forwardedFrom}, not mine:`]
  const words = text.trim() === '' ? [] : [text.trim()]
  const sent = files.length === 0 ? [] : [`Files that came with this message:\n${files.map((file) => `- ${file}`).join('\n')}`]
  const missing = missingFiles.map(({ name, why }) => `(The file “${name}” did not arrive: ${why}.)`)
  return [...forwarded, ...words, ...sent, ...missing].join('\n\n')
}

/** The person said who somebody is: they are told, and who is not wanted any more is not worked for either. */
export function decideOnPerson(
  tx: Tx,
  deps: Pick<ReceivingDeps, 'clock' | 'ids' | 'jobs'>,
  channel: { id: string; agentId: string },
  personId: string,
  role: 'owner' | 'allowed' | 'refused',
): ChannelPerson {
  const before = getPerson(tx, channel.id, personId)
  const ownerBefore = findOwner(tx, channel.id)
  const after = setPersonRole(tx, channel, personId, role)
  if (before.role === role) return after
  if (ownerBefore !== null && (role === 'owner' || ownerBefore.id === personId)) {
    withdrawFrom(tx, ownerBefore.id, say('sent_to_former_owner'))
  }
  if (role === 'refused') {
    withdrawFrom(tx, personId, say('sent_to_refused'))
    for (const conversationId of listConversationsOf(tx, personId)) deps.jobs.cancelAllOf(tx, { conversationId })
    return after
  }
  const { name } = getAgent(tx, channel.agentId)
  const text =
    role === 'owner'
      ? `Hello, I am ${name}, and I listen to you from now on.\n\n${COMMANDS_IN_WORDS}`
      : `I am ${name}. You may write to me now.\n\n${COMMANDS_IN_WORDS}`
  writeOutbound(tx, deps, {
    key: `greeting:${personId}:${deps.ids.next()}`,
    kind: 'notice',
    agentId: channel.agentId,
    jobId: null,
    text,
    to: { channelId: channel.id, personId, chatId: chatOfPerson(tx, personId) },
  })
  return after
}

/** Nothing of a message but its id is kept here, and that only as long as the service might hand it over again. */
export function pruneReceived(tx: Tx, now: number): void {
  tx.prepare('DELETE FROM channel_messages WHERE received_at < ? AND (job_id IS NULL OR received_at < ?)').run(
    now - REMEMBERED_MS.withNone,
    now - REMEMBERED_MS.withJob,
  )
}
