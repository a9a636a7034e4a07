import { z } from 'zod'
import { Message } from './messages.ts'

/** Why agents do not get the programs in a folder. */
export const LeftOutWhy = z.enum([
  'relative',
  'home_itself',
  'agents_write',
  'others_write',
  'closed',
  'secrets',
  'leads_out',
  'elsewhere',
  'not_programs',
  'too_much',
])
export type LeftOutWhy = z.infer<typeof LeftOutWhy>
export type LeftOutFolder = { folder: string; why: LeftOutWhy }

/** `warning`: it works, but something is missing. `problem`: it does not work. `fix`: what a person can do about it. */
export const HealthCheck = z.object({
  name: z.enum([
    'database',
    'backups',
    'disk',
    'sandbox',
    'programs',
    'trash',
    'keychain',
    'models',
    'schedules',
    'channels',
    'public_address',
  ]),
  state: z.enum(['ok', 'warning', 'problem']),
  finding: Message,
  fix: Message.nullable(),
})
export type HealthCheck = z.infer<typeof HealthCheck>
