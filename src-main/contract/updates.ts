import { z } from 'zod'

export const UpdateChannel = z.enum(['stable', 'beta'])
export type UpdateChannel = z.infer<typeof UpdateChannel>

/** automatic: download in the background. ask: only look. off: neither, except when the person asks. */
export const UpdateMode = z.enum(['automatic', 'ask', 'off'])

/**
 * How a new version gets onto this machine. `app`: Deckhand installs it. The others need a person, because the package
 * belongs to the system or to a folder that Deckhand cannot write.
 */
export const InstallKind = z.enum(['app', 'deb', 'rpm', 'archive', 'app_image'])
export type InstallKind = z.infer<typeof InstallKind>

/** Why an update did not get further. Each has a text for people. */
export const UpdateProblem = z.enum([
  'offline',
  'server',
  'timeout',
  'refused_address',
  'too_large',
  'invalid',
  'signature',
  'digest',
  'disk_full',
  'not_writable',
  'backup_failed',
  'not_installed',
  'internal',
])
export type UpdateProblem = z.infer<typeof UpdateProblem>

export const UpdateOffer = z.object({
  version: z.string(),
  /** What changed, as plain text. Empty if the release says nothing. */
  notes: z.string(),
  bytes: z.number().int(),
  kind: InstallKind,
  /** The name of the file to download. */
  file: z.string(),
  /** Where a person can download it; null if there is no such page. */
  page: z.string().nullable(),
  /** It crashed at start twice on this machine, so it is never downloaded by itself. */
  crashed: z.boolean(),
})
export type UpdateOffer = z.infer<typeof UpdateOffer>

export const UpdateState = z.discriminatedUnion('state', [
  /** development: not an installed app. no_source: whoever built it named no place for updates. */
  z.object({ state: z.literal('off'), reason: z.enum(['development', 'no_source']) }),
  /** `checkedAt`: epoch ms of the last check that found nothing; null: none yet. */
  z.object({ state: z.literal('idle'), checkedAt: z.number().nullable() }),
  z.object({ state: z.literal('checking') }),
  z.object({ state: z.literal('available'), offer: UpdateOffer }),
  z.object({ state: z.literal('downloading'), offer: UpdateOffer, percent: z.number().int() }),
  z.object({ state: z.literal('downloaded'), offer: UpdateOffer }),
  /** Installs as soon as no job is running. */
  z.object({ state: z.literal('waiting'), offer: UpdateOffer }),
  /** The backup is being made; after it, Deckhand closes. */
  z.object({ state: z.literal('installing'), offer: UpdateOffer }),
  z.object({ state: z.literal('failed'), code: UpdateProblem, offer: UpdateOffer.nullable() }),
])
export type UpdateState = z.infer<typeof UpdateState>

/** What a person can do about updates. `install`: as soon as no job is running. `later`: not now. */
export const UpdateAction = z.enum(['check', 'download', 'install', 'later'])
export type UpdateAction = z.infer<typeof UpdateAction>
