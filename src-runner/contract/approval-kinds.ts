import { z } from 'zod'

/**
 * tool: may this call run? question: the agent asks the person. unknown_outcome: a call that must not be repeated was
 * under way when the process died. budget: a limit of money is reached.
 */
export const ApprovalKind = z.enum(['tool', 'question', 'unknown_outcome', 'budget'])
export type ApprovalKind = z.infer<typeof ApprovalKind>
