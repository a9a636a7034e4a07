import { and, eq, isNotNull, like, ne, type SQL } from 'drizzle-orm'
import { renderMessage, type Translate } from '../../../resources/locales/translate.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { Approval, ResolveApproval } from '../../contract/approvals.ts'
import type { ChannelKind } from '../../contract/channels.ts'
import { AppError, problemOf } from '../../lib/errors.ts'
import type { Speech } from '../../lib/messages.ts'
import type { ApprovalStore } from '../approvals/approvals.ts'
import { choicesOf, needsCompleteCall } from '../approvals/answer-choices.ts'
import { findByShortCode } from '../approvals/short-code.ts'
import { areNumbered } from '../outbox/message-texts.ts'
import { outbox } from '../outbox/outbox-table.ts'
import { hasPendingApproval, listPendingApprovals } from './channels.sql.ts'
import { findPersonByExternalId, type Sender } from './people.ts'

type AnsweringChannel = { id: string; agentId: string; kind: ChannelKind }
export type AnsweringApprovals = { approvals: Pick<ApprovalStore, 'answer' | 'findApproval'>; speech: Speech }
type Answer = Pick<ResolveApproval, 'decision' | 'answer'>
/** `enclosed`: what the agent reads about the files of the message. `sentAt`: in ms, or null if the service does not say. */
type Said = { text: string; enclosed: string; sentAt: number | null }

/** `note`: the text to send back. null: none, because the agent's reply follows. */
export type AnsweredByText = { note: string | null }

const YES = /^(approve|yes|ok|okay)[.!]?$/i
const NO = /^(reject|no)[.!]?$/i
/** Our clock and that of a service may differ by this much. */
const CLOCK_SKEW_MS = 60_000

/**
 * Handles a pressed button and returns a note for the person. Only the owner of the channel decides, and only on approvals of this
 * agent or sent to this channel, because the action of a button can be forged.
 */
export function answerByPress(
  tx: Tx,
  deps: AnsweringApprovals,
  channel: { id: string; agentId: string },
  press: { sender: Sender; action: string },
): string {
  const t = deps.speech()
  if (findPersonByExternalId(tx, channel.id, press.sender.externalId)?.role !== 'owner') return t('outbound.answer.notOwner')
  const [, verb, approvalId, place] = /^(approve|reject|choose):([0-9a-f-]{36})(?::(\d{1,3}))?$/.exec(press.action) ?? []
  const approval = approvalId === undefined ? null : deps.approvals.findApproval(tx, approvalId)
  if (approval === null || !mayAnswerHere(tx, channel, approval)) return t('outbound.answer.gone')
  if (verb !== 'choose') return decide(tx, deps, channel.id, approval, { decision: verb as 'approve' | 'reject' })
  const choice = choicesOf(t, approval)[Number(place)]
  return choice === undefined ? t('outbound.answer.gone') : decide(tx, deps, channel.id, approval, choice)
}

/** Returns null if the text answers no approval, and so is for the agent. */
export function answerByText(
  tx: Tx,
  deps: AnsweringApprovals,
  channel: AnsweringChannel & { conversationId: string | null },
  message: Said & { replyTo: string | null },
): AnsweredByText | null {
  const said = { text: message.text.trim(), enclosed: message.enclosed, sentAt: message.sentAt }
  const byCode = answerByCode(tx, deps, channel, said)
  if (byCode !== null) return byCode
  const repliedTo = findRepliedTo(tx, deps, channel.id, message.replyTo)
  // What is added to an answer is for the agent. It answers no other question.
  if (repliedTo !== null && isForAgent(repliedTo) && repliedTo.status !== 'pending') return null
  return (repliedTo === null ? null : answerInWords(tx, deps, channel, repliedTo, said)) ?? answerInTurn(tx, deps, channel, said)
}

function answerByCode(tx: Tx, deps: AnsweringApprovals, channel: AnsweringChannel, { text, ...about }: Said): AnsweredByText | null {
  const [, verb, code, words = ''] = /^(approve|reject|answer)\s+([0-9A-Z]{4})(?:\s+(.+))?$/is.exec(text) ?? []
  if (verb === undefined || code === undefined) return null
  if (verb.toLowerCase() !== 'answer' && words !== '') return null
  const [found, ...others] = findByShortCode(tx, channel, code)
  if (found === undefined && words !== '' && isWord(code)) return null
  const t = deps.speech()
  if (found === undefined) return { note: t('outbound.answer.unknownCode', { code: code.toUpperCase() }) }
  if (others.length > 0) return { note: t('outbound.answer.sameCode') }
  const approval = deps.approvals.findApproval(tx, found)!
  if (verb.toLowerCase() !== 'answer')
    return { note: decide(tx, deps, channel.id, approval, { decision: verb.toLowerCase() as 'approve' | 'reject' }) }
  return (
    answerInWords(tx, deps, channel, approval, { ...about, text: words }) ?? {
      note: t('outbound.answer.approveOrReject', { code: code.toUpperCase() }),
    }
  )
}

/** “Answer this mail” is for the agent. */
function isWord(code: string): boolean {
  return /^[A-Z]?[a-z]+$/.test(code)
}

function findRepliedTo(tx: Tx, deps: AnsweringApprovals, channelId: string, replyTo: string | null): Approval | null {
  const approvalId = replyTo === null ? null : findApprovalOfMessage(tx, channelId, replyTo)
  return approvalId === null ? null : deps.approvals.findApproval(tx, approvalId)
}

/** Whether the answer goes to the agent, and to no server. */
function isForAgent({ kind, question }: Approval): boolean {
  return kind === 'question' && question?.server === undefined
}

/**
 * While a conversation has one open question of the agent, the next message answers it, unless it was written before the question: a
 * service may deliver it late. What is meant for the agent goes to no server.
 */
function answerInTurn(
  tx: Tx,
  deps: AnsweringApprovals,
  { conversationId, ...channel }: AnsweringChannel & { conversationId: string | null },
  said: Said,
): AnsweredByText | null {
  const [question, ...others] =
    conversationId === null ? [] : listPendingApprovals(tx, conversationId).filter(({ kind }) => kind === 'question')
  if (question === undefined || question.isOfServer === 1 || others.length > 0) return null
  const approval = deps.approvals.findApproval(tx, question.id)!
  if (said.sentAt !== null && said.sentAt + CLOCK_SKEW_MS < approval.createdAt) return null
  return answerInWords(tx, deps, channel, approval, said)
}

/** Returns null if these words are no answer. */
function answerInWords(tx: Tx, deps: AnsweringApprovals, channel: AnsweringChannel, approval: Approval, said: Said): AnsweredByText | null {
  const answer = answerFor(deps.speech(), channel.kind, approval, said)
  if (answer === null) return null
  const note = decide(tx, deps, channel.id, approval, answer)
  // An answered question needs no note in the chat: the agent's reply follows.
  return { note: note === deps.speech()('outbound.answer.answered') ? null : note }
}

function answerFor(t: Translate, kind: ChannelKind, approval: Approval, { text: words, enclosed }: Said): Answer | null {
  const choices = choicesOf(t, approval)
  const typed = words.trim().toLowerCase()
  const isPlace = /^\d{1,2}$/.test(typed) && takesPlaces(approval, kind)
  const choice = choices.find(({ label }) => label.toLowerCase() === typed) ?? (isPlace ? choices[Number(typed) - 1] : undefined)
  const files = isForAgent(approval) ? enclosed : ''
  if (choice !== undefined && files === '') return choice
  // To a question of the agent, "no" is an answer like any other.
  if (approval.kind === 'question') {
    const answer = [choice?.answer ?? words, files].filter((part) => part !== '').join('\n\n')
    return answer === '' ? null : { decision: 'approve', answer }
  }
  return YES.test(typed) ? { decision: 'approve' } : NO.test(typed) ? { decision: 'reject' } : null
}

/** Whether a number means the choice at this place: not where nothing is numbered, or where the choices are numbers themselves. */
function takesPlaces({ question }: Approval, kind: ChannelKind): boolean {
  const choices = question?.choices ?? []
  return areNumbered(choices, kind !== 'messenger') && !choices.some((choice) => /^\d+([.,]\d+)?$/.test(choice.trim()))
}

function decide(
  tx: Tx,
  { approvals, speech }: AnsweringApprovals,
  channelId: string,
  { id: approvalId, kind }: Approval,
  { decision, answer }: Answer,
): string {
  if (decision === 'approve' && needsCompleteCall({ kind }) && !wasShownCompletely(tx, channelId, approvalId)) {
    return speech()('outbound.answer.incomplete')
  }
  try {
    approvals.answer(tx, { approvalId, decision, answer, remember: 'once' })
    return speech()(kind === 'question' ? 'outbound.answer.answered' : `outbound.answer.${decision}`)
  } catch (error) {
    // A refusal comes before any write, so the transaction may continue.
    if (error instanceof AppError) return renderMessage(speech(), error.issues?.[0]?.detail ?? problemOf(error))
    throw error
  }
}

/** Whether the message in this channel has a button to approve, which only a complete one has. Codes and forged buttons need it too. */
function wasShownCompletely(db: Db, channelId: string, approvalId: string): boolean {
  return isSentHere(db, channelId, approvalId, and(eq(outbox.kind, 'approval'), like(outbox.buttons, '%"needsCompleteCall":true%')))
}

function mayAnswerHere(db: Db, channel: { id: string; agentId: string }, approval: Approval): boolean {
  return approval.agentId === channel.agentId || isSentHere(db, channel.id, approval.id)
}

function isSentHere(db: Db, channelId: string, approvalId: string, more?: SQL): boolean {
  const isMessage = and(eq(outbox.approvalId, approvalId), eq(outbox.channelId, channelId), more)
  return db.select({ id: outbox.id }).from(outbox).where(isMessage).limit(1).get() !== undefined
}

/** The approval that our message asks about. */
function findApprovalOfMessage(db: Db, channelId: string, externalId: string): string | null {
  const isMessage = and(eq(outbox.channelId, channelId), eq(outbox.externalId, externalId), isNotNull(outbox.approvalId))
  return db.select({ approvalId: outbox.approvalId }).from(outbox).where(isMessage).get()?.approvalId ?? null
}

/** Sent messages that have the buttons of this approval. */
export function listAskingMessages(db: Db, approvalId: string): { channelId: string; chatId: string; externalId: string }[] {
  const { channelId, chatId, externalId, kind, buttons } = outbox
  const rows = db
    .select({ channelId, chatId, externalId })
    .from(outbox)
    .where(and(eq(outbox.approvalId, approvalId), eq(kind, 'approval'), isNotNull(channelId), isNotNull(externalId), ne(buttons, [])))
    .all()
  return rows.map((row) => ({ channelId: row.channelId!, chatId: row.chatId!, externalId: row.externalId! }))
}

/** The approval that an outbound message asks about, or null. */
export function findSentApproval(db: Db, messageId: string): string | null {
  const isMessage = and(eq(outbox.id, messageId), eq(outbox.kind, 'approval'))
  return db.select({ approvalId: outbox.approvalId }).from(outbox).where(isMessage).get()?.approvalId ?? null
}

/** Whether a turn of this conversation, or a job below one, waits for its owner. */
export function isWaitingForOwner(db: Db, conversationId: string | null): boolean {
  return conversationId !== null && hasPendingApproval(db, conversationId)
}
