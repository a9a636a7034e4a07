import { z } from 'zod'
import { Id, Moment } from './primitives.ts'
import { Message } from './messages.ts'

/**
 * connecting: no code yet, or `scanned`. qr_pending: `qr` waits to be scanned, or `code` to be typed into the phone. open: it is
 * linked. closed: no code was used in time, or it failed; `problem` says which. logged_out: it was linked, and a person has to act.
 */
export const PairingStatus = z.enum(['connecting', 'qr_pending', 'open', 'closed', 'logged_out'])
export type PairingStatus = z.infer<typeof PairingStatus>

/** How far the phone messenger of an agent is paired. */
export const Pairing = z.object({
  status: PairingStatus,
  /** Only while `status` is `qr_pending`. */
  qr: z.string().nullable(),
  /** Instead of `qr`, if a phone number was given. */
  code: z.string().nullable(),
  /** The phone has accepted the code, and the device logs in. */
  scanned: z.boolean(),
  /** When the present code is replaced by the next one, or the last one ends. */
  expiresAt: Moment.nullable(),
  /** The linked number. */
  number: z.string().nullable(),
  channelId: Id.nullable(),
  problem: Message.nullable(),
})
export type Pairing = z.infer<typeof Pairing>

export const StartPairing = z.object({
  agentId: Id,
  /** For a person who cannot scan: the number of the phone that types the code. */
  phoneNumber: z
    .string()
    .trim()
    .regex(/^\+?[0-9][0-9 ()./-]{5,24}$/)
    .optional(),
})
export type StartPairing = z.infer<typeof StartPairing>
