import { cutText } from '../../../lib/text.ts'
import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { MEMORY_MAX_CHARS } from '../../../contract/memory.ts'
import { defineTool, NO_EFFECTS } from '../tool.ts'

const SUMMARY_CHARS = 200

const Args = z.object({
  text: z.string().trim().min(1).max(MEMORY_MAX_CHARS).describe('What to remember. It must be clear without this conversation.'),
  shared: z.boolean().optional().describe('Share it with all agents. Default: false, only you.'),
})

export const remember = defineTool({
  name: 'remember',
  description: 'Keeps a note for later jobs. Only for what will still matter then: facts, preferences, decisions. Never passwords or keys.',
  args: Args,
  effect: 'idempotent',
  parallel: false,
  facts: ({ text, shared }) => ({
    ...NO_EFFECTS,
    subject: shared === true ? 'shared' : 'own',
    effectOn: createMessage('effect_remember', { text: cutText(text, SUMMARY_CHARS), shared: shared === true ? 'yes' : 'no' }),
  }),
  async run({ text, shared }, { memory, callId }) {
    if (memory === undefined) return { ok: false, output: 'This agent has no memory.' }
    const kept = await memory.remember(callId, { text, shared: shared === true })
    return { ok: true, output: `Remembered${kept.agentId === null ? ' for all agents' : ''} (id ${kept.id}).` }
  },
})
