import { z } from 'zod'
import { ChannelStatus } from './channels.ts'
import { Said } from './said.ts'

/** What was found, for a page that has words of its own. */
export const DoctorFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('no_answer') }),
  z.object({ code: z.literal('broke'), words: z.string(), said: Said.optional() }),
  z.object({ code: z.literal('database_answers'), bytes: z.number(), logBytes: z.number() }),
  z.object({ code: z.literal('disk_free'), bytes: z.number(), folder: z.string() }),
  z.object({ code: z.literal('box_missing'), words: z.string().nullable(), said: Said.optional() }),
  z.object({ code: z.literal('box_works'), box: z.enum(['bubblewrap', 'seatbelt']) }),
  z.object({
    code: z.literal('box_without_network'),
    box: z.enum(['bubblewrap', 'seatbelt']),
    words: z.string().nullable(),
    said: Said.optional(),
  }),
  z.object({ code: z.literal('trash_works') }),
  z.object({ code: z.literal('trash_missing') }),
  z.object({ code: z.literal('keychain_works') }),
  z.object({ code: z.literal('keychain_shut'), words: z.string() }),
  z.object({ code: z.literal('no_model') }),
  z.object({ code: z.literal('demo_model') }),
  z.object({ code: z.literal('models_answer'), names: z.array(z.string()) }),
  z.object({ code: z.literal('models_fail'), failures: z.array(z.object({ name: z.string(), words: z.string(), said: Said.optional() })) }),
  z.object({ code: z.literal('safe_mode') }),
  z.object({ code: z.literal('brake_on') }),
  z.object({ code: z.literal('nothing_due') }),
  z.object({ code: z.literal('overdue'), minutes: z.number() }),
  z.object({ code: z.literal('clock_watched') }),
  z.object({ code: z.literal('no_channel'), waiting: z.number() }),
  z.object({ code: z.literal('channels_work'), names: z.array(z.string()), waiting: z.number() }),
  z.object({
    code: z.literal('channels_fail'),
    failures: z.array(z.object({ name: z.string(), status: ChannelStatus, words: z.string(), said: Said.optional() })),
    waiting: z.number(),
  }),
  z.object({ code: z.literal('only_here') }),
  z.object({ code: z.literal('address_unreachable'), words: z.string(), said: Said.optional() }),
  z.object({ code: z.literal('address_works'), url: z.string() }),
  z.object({ code: z.literal('address_unchecked'), url: z.string() }),
])
export type DoctorFinding = z.infer<typeof DoctorFinding>

/** What is to be done about it, in the words of the runner. */
export const DOCTOR_FIXES = {
  look_again: 'Look again in a moment. If it stays like this, restart Deckhand.',
  restart: 'Restart Deckhand: that lets the changes be put where they belong.',
  free_space: 'Free some space on this disk. Without any, no job can be taken.',
  put_back: 'It can be put back from the job that deleted it, as long as that job is kept.',
  unlock_keychain: 'Unlock the keychain of this system. On a machine without one, start Deckhand with DECKHAND_VAULT=file.',
  choose_model: 'Choose a default model on the screen Models.',
  add_provider: 'Add a provider on the screen Models.',
  look_at_provider: 'Look at the provider on the screen Models.',
  leave_safe_mode: 'Restart Deckhand as usual.',
  release_brake: 'Release the brake.',
  restart_or_logs: 'Restart Deckhand. If that does not help, the logs say why.',
  new_token: 'Give the channel a new token on the screen Channels.',
  waits_by_itself: 'It is tried again by itself.',
  look_at_address: 'Look at the public address in the settings, and check it again.',
  check_address: 'Check the public address in the settings.',
} as const

/** `box`: what the box's own advice says. */
export const DoctorFix = z.enum(['box', ...(Object.keys(DOCTOR_FIXES) as (keyof typeof DOCTOR_FIXES)[])])
export type DoctorFix = z.infer<typeof DoctorFix>

/** One thing that was looked at. `warning`: works, with something missing. `problem`: does not work. */
export const DoctorCheck = z.object({
  name: z.enum(['database', 'disk', 'box', 'trash', 'keychain', 'models', 'schedules', 'channels', 'public_address']),
  state: z.enum(['ok', 'warning', 'problem']),
  /** What was found, for people. */
  found: z.string(),
  /** What to do about it. Empty when nothing is to be done. */
  fix: z.string(),
  finding: DoctorFinding.optional(),
  fixKind: DoctorFix.optional(),
  fixSaid: Said.optional(),
})
export type DoctorCheck = z.infer<typeof DoctorCheck>
