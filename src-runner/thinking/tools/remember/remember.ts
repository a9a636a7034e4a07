import { z } from 'zod'
import { MEMORY_MAX_CHARS } from '../../../contract/memory.ts'
import { defineTool } from '../tool.ts'

const SUMMARY_CHARS = 200

const Args = z.object({
  text: z
    .string()
    .trim()
    .min(1)
    .max(MEMORY_MAX_CHARS)
    .describe('What to remember, so that it can be understood without this conversation.'),
  shared: z.boolean().optional().describe('All agents of the person may know it. Default: false, only you.'),
})

/** `idempotent`: the same call again finds that it is remembered already. */
export const remember = defineTool({
  name: 'remember',
  description: 'Keeps a note for later jobs. Only what will still matter: facts, preferences, decisions. Never passwords or keys.',
  args: Args,
  effect: 'idempotent',
  parallel: false,
  facts: ({ text, shared }) => ({
    subject: shared === true ? 'shared' : 'own',
    paths: [],
    summary: `Remember${shared === true ? ' for all agents' : ''}: ${cut(text)}`,
    effectOn: { code: 'remember', text: cut(text), shared: shared === true },
    leavesMachine: false,
    costsMoney: false,
    deletes: false,
    overwrites: false,
    runsCode: false,
  }),
  async run({ text, shared }, { memory, callId }) {
    if (memory === undefined) return { ok: false, output: 'Nothing can be remembered here.' }
    const kept = await memory.remember(callId, { text, shared: shared === true })
    return { ok: true, output: `Remembered${kept.agentId === null ? ' for all agents' : ''} (id ${kept.id}).` }
  },
})

function cut(text: string): string {
  return text.length > SUMMARY_CHARS ? `${text.slice(0, SUMMARY_CHARS).toWellFormed()}…` : text
}
