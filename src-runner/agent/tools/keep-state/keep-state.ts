import { cutText } from '../../../lib/text.ts'
import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { MAX_WATCH_STATE_CHARS } from '../../../contract/schedules.ts'
import { defineTool, NO_EFFECTS } from '../tool.ts'

const SUMMARY_CHARS = 200

const Args = z.object({
  state: z
    .string()
    .trim()
    .min(1)
    .max(MAX_WATCH_STATE_CHARS)
    .describe('What the next run must know: what was there, what you have reported already. It replaces the note before.'),
})

export const keepState = defineTool({
  name: 'keep_state',
  description:
    'Keeps a note for the next run of this schedule, which reads it in its task. Each call replaces the note. Keep what separates new from known: ids, dates, figures. Never passwords or keys.',
  args: Args,
  effect: 'idempotent',
  parallel: false,
  channels: ['schedule'],
  facts: ({ state }) => ({
    ...NO_EFFECTS,
    subject: 'state',
    effectOn: createMessage('effect_keep', { text: cutText(state, SUMMARY_CHARS) }),
  }),
  async run({ state }, { cursor }) {
    if (cursor === undefined) return { ok: false, output: 'This job is not a run of a schedule, so there is no next run.' }
    if (!(await cursor.keep(state))) return { ok: false, output: 'The schedule was deleted: there is no next run.' }
    return { ok: true, output: 'Kept for the next run.' }
  },
})
