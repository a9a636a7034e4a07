import { z } from 'zod'
import { ChannelStatus } from './channels.ts'
import { DATABASE_TROUBLE_WORDS, DatabaseTrouble } from './database.ts'
import { Message } from './messages.ts'

/** Why a folder of the person's PATH is not one of those that programs of agents have. */
export const LEFT_OUT_WORDS = {
  relative: 'it depends on where a program runs',
  home_itself: 'it is the home itself',
  agents_write: 'agents write there',
  others_write: 'everybody on this machine writes there',
  closed: 'it is closed to agents',
  secrets: 'keys and settings are there',
  leads_out: 'it leads somewhere else than it says',
  elsewhere: 'it is neither the system’s nor in your home',
  no_choice: 'nobody says which versions are chosen',
  not_programs: 'much of what is in it is no program',
  too_much: 'what is in it needs too many other places',
} as const
export const LeftOutWhy = z.enum(Object.keys(LEFT_OUT_WORDS) as (keyof typeof LEFT_OUT_WORDS)[])
export type LeftOutWhy = z.infer<typeof LeftOutWhy>
export const LeftOutFolder = z.object({ folder: z.string(), why: LeftOutWhy })
export type LeftOutFolder = z.infer<typeof LeftOutFolder>

/** `names`: well-known programs that are there, the system's among them. `used`: folders of the person's own. */
const ofPrograms = { names: z.array(z.string()), used: z.array(z.string()), leftOut: z.array(LeftOutFolder) }

/** What was found, for a page that has words of its own. */
export const HealthFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('no_answer') }),
  z.object({ code: z.literal('broke'), why: Message }),
  z.object({ code: z.literal('database_answers'), bytes: z.number(), logBytes: z.number() }),
  z.object({ code: z.literal('database_trouble'), trouble: DatabaseTrouble }),
  z.object({ code: z.literal('disk_free'), bytes: z.number(), folder: z.string() }),
  z.object({ code: z.literal('sandbox_missing'), why: Message.nullable() }),
  z.object({ code: z.literal('sandbox_works'), sandbox: z.enum(['bubblewrap', 'seatbelt']) }),
  z.object({
    code: z.literal('sandbox_without_network'),
    sandbox: z.enum(['bubblewrap', 'seatbelt']),
    why: Message.nullable(),
  }),
  z.object({ code: z.literal('programs_found'), ...ofPrograms }),
  /** `shell`: did not say where the person's programs are; null: there is none. */
  z.object({ code: z.literal('programs_unasked'), shell: z.string().nullable(), ...ofPrograms }),
  /** It is not asked, because an agent may write what it reads. */
  z.object({ code: z.literal('programs_shell_open'), shell: z.string().nullable(), ...ofPrograms }),
  z.object({ code: z.literal('programs_of_system'), names: z.array(z.string()) }),
  z.object({ code: z.literal('trash_works') }),
  z.object({ code: z.literal('trash_missing') }),
  z.object({ code: z.literal('keychain_works') }),
  z.object({ code: z.literal('keychain_shut'), words: z.string() }),
  z.object({ code: z.literal('no_model') }),
  z.object({ code: z.literal('demo_model') }),
  z.object({ code: z.literal('models_answer'), names: z.array(z.string()) }),
  z.object({ code: z.literal('models_fail'), failures: z.array(z.object({ name: z.string(), why: Message })) }),
  z.object({ code: z.literal('safe_mode') }),
  z.object({ code: z.literal('pause_all_on') }),
  z.object({ code: z.literal('nothing_due') }),
  z.object({ code: z.literal('overdue'), minutes: z.number() }),
  z.object({ code: z.literal('clock_watched') }),
  z.object({ code: z.literal('no_channel'), waiting: z.number() }),
  z.object({ code: z.literal('channels_work'), names: z.array(z.string()), waiting: z.number() }),
  z.object({
    code: z.literal('channels_fail'),
    failures: z.array(z.object({ name: z.string(), status: ChannelStatus, why: Message.nullable() })),
    waiting: z.number(),
  }),
  z.object({ code: z.literal('only_here') }),
  z.object({ code: z.literal('address_unreachable'), why: Message.nullable() }),
  z.object({ code: z.literal('address_works'), url: z.string() }),
  z.object({ code: z.literal('address_unchecked'), url: z.string() }),
])
export type HealthFinding = z.infer<typeof HealthFinding>

/** What is to be done about it, in the words of the runner. */
export const DOCTOR_FIXES = {
  look_again: 'Look again in a moment. If it stays like this, restart Deckhand.',
  restart: 'Restart Deckhand: that lets the changes be put where they belong.',
  database_damaged: DATABASE_TROUBLE_WORDS.damaged.fix,
  database_disk_full: DATABASE_TROUBLE_WORDS.disk_full.fix,
  database_read_only: DATABASE_TROUBLE_WORDS.read_only.fix,
  database_locked: DATABASE_TROUBLE_WORDS.locked.fix,
  database_unavailable: DATABASE_TROUBLE_WORDS.unavailable.fix,
  free_space: 'Free some space on this disk. Without any, no job can be taken.',
  look_at_shell: 'Open a terminal: does your shell start there within a few seconds, and without a question? Then restart Deckhand.',
  put_back: 'It can be put back from the job that deleted it, as long as that job is kept.',
  unlock_keychain: 'Unlock the keychain of this system. On a machine without one, start Deckhand with DECKHAND_VAULT=file.',
  choose_model: 'Choose a default model on the screen Models.',
  add_provider: 'Add a provider on the screen Models.',
  look_at_provider: 'Look at the provider on the screen Models.',
  leave_safe_mode: 'Restart Deckhand as usual.',
  release_pause_all: 'Resume all.',
  restart_or_logs: 'Restart Deckhand. If that does not help, the logs say why.',
  new_token: 'Give the channel a new token on the screen Channels.',
  waits_by_itself: 'It is tried again by itself.',
  look_at_address: 'Look at the public address in the settings, and check it again.',
  check_address: 'Check the public address in the settings.',
} as const

/** `sandbox`: what the sandbox's own advice says. */
export const HealthFix = z.enum(['sandbox', ...(Object.keys(DOCTOR_FIXES) as (keyof typeof DOCTOR_FIXES)[])])
export type HealthFix = z.infer<typeof HealthFix>

/** One thing that was looked at. `warning`: works, with something missing. `problem`: does not work. */
export const HealthCheck = z.object({
  name: z.enum(['database', 'disk', 'sandbox', 'programs', 'trash', 'keychain', 'models', 'schedules', 'channels', 'public_address']),
  state: z.enum(['ok', 'warning', 'problem']),
  /** What was found, for people. */
  found: z.string(),
  /** What to do about it. Empty when nothing is to be done. */
  fix: z.string(),
  finding: HealthFinding.optional(),
  fixKind: HealthFix.optional(),
  /** Of `sandbox`. */
  advice: Message.optional(),
})
export type HealthCheck = z.infer<typeof HealthCheck>
