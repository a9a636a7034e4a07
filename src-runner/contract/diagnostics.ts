import { z } from 'zod'
import { HealthCheck } from './doctor.ts'

/** A table with its indexes. */
export const TableSize = z.object({ name: z.string(), rows: z.number().int(), bytes: z.number().int() })
export type TableSize = z.infer<typeof TableSize>

/** The runner's part of a report about a problem. It holds no text that a person, an agent or another service wrote. */
export const Diagnostics = z.object({
  schemaVersion: z.number().int(),
  sqliteVersion: z.string(),
  tables: z.array(TableSize),
  /** Numbers, switches and choices as they are; of everything else, whether it is set or how many there are. */
  settings: z.record(z.string(), z.unknown()),
  /** `finding`: the code of the message, without its parameters. */
  checks: z.array(HealthCheck.pick({ name: true, state: true }).extend({ finding: z.string() })),
})
export type Diagnostics = z.infer<typeof Diagnostics>
