import type { Message } from '../../../src-runner/contract/conversations.ts'
import { isTerminal, type JobSummary } from '../../../src-runner/contract/jobs.ts'

/** A turn that this page sent. */
export type SentTurn = {
  localId: string
  /** The same each time it is sent, so that the runner does not start it twice. */
  clientId: string
  agentId: string
  /** null: it creates a new conversation, whose id is not known yet. */
  conversationId: string | null
  /** null: not accepted yet. */
  jobId: string | null
  text: string
  at: number
  /** Why it was not accepted. */
  problem: unknown
  /** The record of the conversation had it once. It shows the newest messages only, and this one may have left it since. */
  isRecorded: boolean
}

export type ChatTurn = {
  /** Stays the same from the moment of sending. */
  key: string
  jobId: string | null
  text: string
  at: number
  /** The answer's messages: enough to show a turn without its steps. */
  answers: string[]
  job: JobSummary | null
  sent: SentTurn | null
  /** How many turns of this conversation come first. */
  waitsBehind: number
}

/** The turns of a conversation: the recorded ones, then those that were sent and are not recorded yet. */
export function chatTurns(messages: readonly Message[], jobs: readonly JobSummary[], sent: readonly SentTurn[]): ChatTurn[] {
  const jobOf = new Map(jobs.map((job) => [job.id, job]))
  const sentAs = new Map(sent.filter((turn) => turn.jobId !== null).map((turn) => [turn.jobId, turn]))
  const turns = new Map<string, ChatTurn>()
  for (const message of messages) {
    const known = turns.get(message.jobId)
    if (known === undefined) {
      turns.set(message.jobId, {
        key: sentAs.get(message.jobId)?.localId ?? message.jobId,
        jobId: message.jobId,
        text: message.role === 'user' ? message.text : '',
        at: message.createdAt,
        answers: message.role === 'assistant' ? [message.text] : [],
        job: jobOf.get(message.jobId) ?? null,
        sent: null,
        waitsBehind: 0,
      })
    } else if (message.role === 'assistant') {
      known.answers.push(message.text)
    }
  }
  for (const turn of sent) {
    if (turn.isRecorded || (turn.jobId !== null && turns.has(turn.jobId))) continue
    turns.set(turn.localId, {
      key: turn.localId,
      jobId: turn.jobId,
      text: turn.text,
      at: turn.at,
      answers: [],
      job: null,
      sent: turn,
      waitsBehind: 0,
    })
  }
  let open = 0
  return [...turns.values()].map((turn) => {
    const place = { ...turn, waitsBehind: open }
    if (isUnderWay(turn)) open++
    return place
  })
}

export function isUnderWay(turn: Pick<ChatTurn, 'job' | 'sent'>): boolean {
  if (turn.sent !== null) return turn.sent.problem === null
  return turn.job !== null && !isTerminal(turn.job.status)
}

/** The name of the draft of a conversation, or of a new one. */
export function draftOf(conversationId: string | null): string {
  return conversationId ?? 'new'
}
