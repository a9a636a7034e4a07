import type { Message } from '../../../contract/messages.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage, joinSentences } from '../../../lib/messages.ts'

/** Why a connection ended. `isFinal`: a person has to act first. `isUnlinked`: the keys are of no use any more. */
export type ConnectionFailure = { problem: Message; isFinal: boolean; isUnlinked: boolean }

/** What the codes of the service mean for a linked device. */
export function failureOf(code: number): ConnectionFailure {
  const final = (problem: Message, isUnlinked = false): ConnectionFailure => ({ problem, isFinal: true, isUnlinked })
  const again = (problem: Message): ConnectionFailure => ({ problem, isFinal: false, isUnlinked: false })
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

const RETRY = { firstMs: 1000, quickTries: 5, slowMs: 60_000 }

/** Quick at first, then once a minute at most. */
export function pauseAfter(failures: number, random: () => number): number {
  if (failures >= RETRY.quickTries) return RETRY.slowMs * (1 + random() / 4)
  return RETRY.firstMs * 2 ** failures * (0.5 + random() / 2)
}

/** Something that was received cannot be stored. */
export function notKept(error: unknown): Message {
  return joinSentences(createMessage('chat_cannot_keep'), reasonOf(error))
}

function reasonOf(error: unknown): Message {
  return error instanceof AppError ? problemOf(error) : createMessage('ours_broken')
}
