import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Approval, ResolveApproval } from '../../contract/approvals.ts'
import { AppError } from '../../kit/errors.ts'
import type { ApprovalStore } from '../approvals/approvals.ts'
import { choicesOf, needsToBeWhole } from '../approvals/choices.ts'
import { findByShortCode } from '../approvals/short-code.ts'
import { findPersonByExternalId, type Sender } from './people.ts'

/** Approvals that their owner answers in a chat: with a button, with a code, or by replying to the question. */

export type AnsweringApprovals = { approvals: Pick<ApprovalStore, 'answer' | 'findApproval'> }
type Given = Pick<ResolveApproval, 'decision' | 'answer'>

/** `note`: what is said of it; null: nothing, the agent itself goes on. */
export type AnsweredByText = { note: string | null }

const NOT_HERE = 'There is no such question any more.'
const YES = /^(approve|yes|ok|okay)[.!]?$/i
const NO = /^(reject|no)[.!]?$/i

/**
 * A button was pressed. Answers the note for who pressed it. Only the owner of the channel decides, and only on what this
 * agent asked, or what was asked in this channel: what a button does can be made up by anybody who can press one.
 */
export function answerByPress(
  tx: Tx,
  deps: AnsweringApprovals,
  channel: { id: string; agentId: string },
  press: { sender: Sender; action: string },
): string {
  if (findPersonByExternalId(tx, channel.id, press.sender.externalId)?.role !== 'owner') return 'Only the owner of this agent can answer.'
  const [, verb, approvalId, place] = /^(approve|reject|choose):([0-9a-f-]{36})(?::(\d{1,3}))?$/.exec(press.action) ?? []
  const approval = approvalId === undefined ? null : deps.approvals.findApproval(tx, approvalId)
  if (approval === null || !isAskedHere(tx, channel, approval)) return NOT_HERE
  if (verb !== 'choose') return decide(tx, deps, channel.id, approval, { decision: verb as 'approve' | 'reject' })
  const choice = choicesOf(approval)[Number(place)]
  return choice === undefined ? NOT_HERE : decide(tx, deps, channel.id, approval, choice)
}

/** null: this is no answer to anything, so it is for the agent. */
export function answerByText(
  tx: Tx,
  deps: AnsweringApprovals,
  channel: { id: string; agentId: string; conversationId: string | null },
  message: { text: string; replyTo: string | null },
): AnsweredByText | null {
  const text = message.text.trim()
  return (
    answerByCode(tx, deps, channel, text) ??
    answerByReply(tx, deps, channel.id, message.replyTo, text) ??
    answerInTurn(tx, deps, channel, text)
  )
}

function answerByCode(tx: Tx, deps: AnsweringApprovals, channel: { id: string; agentId: string }, text: string): AnsweredByText | null {
  const [, verb, code, words = ''] = /^(approve|reject|answer)\s+([0-9A-Z]{4})(?:\s+(.+))?$/is.exec(text) ?? []
  if (verb === undefined || code === undefined) return null
  if (verb.toLowerCase() !== 'answer' && words !== '') return null
  const [found, ...others] = findByShortCode(tx, channel, code)
  if (found === undefined && words !== '' && isWord(code)) return null
  if (found === undefined) return { note: `Nothing with the code ${code.toUpperCase()} waits for an answer.` }
  if (others.length > 0) return { note: 'Two questions have this code. Answer them with their buttons, or in Deckhand.' }
  const approval = deps.approvals.findApproval(tx, found)!
  if (verb.toLowerCase() !== 'answer')
    return { note: decide(tx, deps, channel.id, approval, { decision: verb.toLowerCase() as 'approve' | 'reject' }) }
  return (
    answerInWords(tx, deps, channel.id, approval, words) ?? {
      note: `Write “approve ${code.toUpperCase()}” or “reject ${code.toUpperCase()}”.`,
    }
  )
}

/** “Answer this mail” is for the agent. */
function isWord(code: string): boolean {
  return /^[A-Z]?[a-z]+$/.test(code)
}

function answerByReply(tx: Tx, deps: AnsweringApprovals, channelId: string, replyTo: string | null, text: string): AnsweredByText | null {
  const approvalId = replyTo === null ? null : findAskedIn(tx, channelId, replyTo)
  const approval = approvalId === null ? null : deps.approvals.findApproval(tx, approvalId)
  return approval === null ? null : answerInWords(tx, deps, channelId, approval, text)
}

/** While its one question is open, a turn of this conversation can only go on with an answer to it. */
function answerInTurn(
  tx: Tx,
  deps: AnsweringApprovals,
  { id: channelId, conversationId }: { id: string; conversationId: string | null },
  text: string,
): AnsweredByText | null {
  const [questionId, ...others] = conversationId === null ? [] : listOpenQuestions(tx, conversationId)
  if (questionId === undefined || others.length > 0) return null
  return answerInWords(tx, deps, channelId, deps.approvals.findApproval(tx, questionId)!, text)
}

/** null: these words are no answer to it. */
function answerInWords(tx: Tx, deps: AnsweringApprovals, channelId: string, approval: Approval, words: string): AnsweredByText | null {
  const choice = choiceFor(approval, words)
  if (choice !== null) return { note: quietFor(decide(tx, deps, channelId, approval, choice)) }
  if (approval.kind !== 'question' || words === '') return null
  return { note: quietFor(decide(tx, deps, channelId, approval, { decision: 'approve', answer: words })) }
}

function choiceFor(approval: Approval, words: string): Given | null {
  const choices = choicesOf(approval)
  const wanted = words.trim().toLowerCase()
  const named =
    choices.find(({ label }) => label.toLowerCase() === wanted) ?? (/^\d{1,2}$/.test(wanted) ? choices[Number(wanted) - 1] : undefined)
  if (named !== undefined) return named
  // To a question of the agent, "no" is an answer like any other.
  if (approval.kind === 'question') return null
  return YES.test(wanted) ? { decision: 'approve' } : NO.test(wanted) ? { decision: 'reject' } : null
}

/** A question that was answered needs no receipt in the chat: the agent goes on, and that is seen. */
function quietFor(note: string): string | null {
  return note === ANSWERED ? null : note
}

const NOT_WHOLE = 'Not everything about this was shown here. Open Deckhand to approve it.'
const ANSWERED = 'Answered.'
const DONE = { approve: 'Approved.', reject: 'Rejected.' } as const

function decide(
  tx: Tx,
  { approvals }: AnsweringApprovals,
  channelId: string,
  { id: approvalId, kind }: Approval,
  { decision, answer }: Given,
): string {
  if (decision === 'approve' && needsToBeWhole({ kind }) && !wasShownWhole(tx, channelId, approvalId)) return NOT_WHOLE
  try {
    approvals.answer(tx, { approvalId, decision, answer, remember: 'once' })
    return kind === 'question' ? ANSWERED : DONE[decision]
  } catch (error) {
    // Everything that it refuses is refused before anything is written.
    if (error instanceof AppError) return error.issues?.[0]?.message ?? error.message
    throw error
  }
}

/**
 * Whether this channel showed everything that decides: then its message has a button that needs this. A code and a made-up
 * button are held to the same.
 */
function wasShownWhole(db: Db, channelId: string, approvalId: string): boolean {
  const asked = db.prepare(
    `SELECT 1 FROM outbox WHERE approval_id = ? AND channel_id = ? AND kind = 'approval' AND buttons LIKE '%"whole":true%'`,
  )
  return asked.get(approvalId, channelId) !== undefined
}

function isAskedHere(db: Db, channel: { id: string; agentId: string }, approval: Approval): boolean {
  if (approval.agentId === channel.agentId) return true
  return db.prepare('SELECT 1 FROM outbox WHERE approval_id = ? AND channel_id = ?').get(approval.id, channel.id) !== undefined
}

/** The approval that a message of ours asked for. */
function findAskedIn(db: Db, channelId: string, externalId: string): string | null {
  const row = db
    .prepare<{ approval_id: string }>('SELECT approval_id FROM outbox WHERE channel_id = ? AND external_id = ? AND approval_id IS NOT NULL')
    .get(channelId, externalId)
  return row?.approval_id ?? null
}

/** Messages that asked for this approval and carry its buttons. */
export function listAskingMessages(db: Db, approvalId: string): { channelId: string; chatId: string; externalId: string }[] {
  return db
    .prepare<{ channelId: string; chatId: string; externalId: string }>(
      `SELECT channel_id AS channelId, chat_id AS chatId, external_id AS externalId FROM outbox
       WHERE approval_id = ? AND kind = 'approval' AND channel_id IS NOT NULL AND external_id IS NOT NULL AND buttons <> '[]'`,
    )
    .all(approvalId)
}

/** The approval that an outbound message asked for; null: it is about something else. */
export function findSentApproval(db: Db, messageId: string): string | null {
  const row = db.prepare<{ approval_id: string | null }>("SELECT approval_id FROM outbox WHERE id = ? AND kind = 'approval'").get(messageId)
  return row?.approval_id ?? null
}

function listOpenQuestions(db: Db, conversationId: string): string[] {
  return listOpen(db, conversationId, "AND approval.kind = 'question'")
}

/** Whether a turn of this conversation waits for its owner's word. */
export function isWaitingForOwner(db: Db, conversationId: string | null): boolean {
  return conversationId !== null && listOpen(db, conversationId, '').length > 0
}

function listOpen(db: Db, conversationId: string, more: string): string[] {
  return db
    .prepare<{ id: string }>(
      `SELECT approval.id FROM agent_jobs AS job JOIN approvals AS approval ON approval.job_seq = job.seq
       WHERE job.conversation_id = ? AND job.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')
         AND approval.status = 'pending' ${more}`,
    )
    .all(conversationId)
    .map((row) => row.id)
}
