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

/** What is to be done about it. `box`: what the box's own advice says. */
export const DoctorFix = z.enum([
  'look_again',
  'restart',
  'free_space',
  'box',
  'put_back',
  'unlock_keychain',
  'choose_model',
  'add_provider',
  'look_at_provider',
  'leave_safe_mode',
  'release_brake',
  'restart_or_logs',
  'new_token',
  'waits_by_itself',
  'look_at_address',
  'check_address',
])
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
