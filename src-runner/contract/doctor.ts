import { z } from 'zod'

/** One thing that was looked at. `warning`: works, with something missing. `problem`: does not work. */
export const DoctorCheck = z.object({
  name: z.enum(['database', 'disk', 'box', 'trash', 'keychain', 'models', 'schedules', 'channels', 'public_address']),
  state: z.enum(['ok', 'warning', 'problem']),
  /** What was found, for people. */
  found: z.string(),
  /** What to do about it. Empty when nothing is to be done. */
  fix: z.string(),
})
export type DoctorCheck = z.infer<typeof DoctorCheck>
