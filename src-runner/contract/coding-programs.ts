import { z } from 'zod'

/** Programs that write code by themselves and have a login of the person's. */
export const CodingCli = z.enum(['claude', 'codex', 'gemini', 'opencode'])
export type CodingCli = z.infer<typeof CodingCli>

export const CODING_PROGRAM_NAMES: Record<CodingCli, string> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
}

export const CodingProgram = z.object({
  cli: CodingCli,
  installed: z.boolean(),
  /** Absolute. null: not installed, or not for this caller. */
  path: z.string().nullable(),
  /** null: it did not say. */
  version: z.string().nullable(),
  /** By what the program itself says; no credential file is opened and no token is spent. */
  signedIn: z.enum(['yes', 'no', 'unknown']),
  /** The command to type. null: nothing has to be fixed, or nobody knows how. */
  fix: z.string().nullable(),
})
export type CodingProgram = z.infer<typeof CodingProgram>
