import { z } from 'zod'
import { MAX_WATCH_STATE_CHARS } from '../../../contract/schedules.ts'
import { defineTool } from '../tool.ts'

const SUMMARY_CHARS = 200

const Args = z.object({
  state: z
    .string()
    .trim()
    .min(1)
    .max(MAX_WATCH_STATE_CHARS)
    .describe('What the next run has to know: what was there, what was told already. It replaces what was kept before.'),
})

/** `idempotent`: it replaces, so the same call again leaves the same. */
export const keepState = defineTool({
  name: 'keep_state',
  description:
    'Keeps a note for the next run of this schedule, which finds it in its task. Each call replaces the note. Keep what tells new from known: ids, dates, figures. Never passwords or keys.',
  args: Args,
  effect: 'idempotent',
  parallel: false,
  channels: ['schedule'],
  facts: ({ state }) => ({
    subject: 'state',
    paths: [],
    summary: `Keep for the next run: ${cut(state)}`,
    effectOn: { code: 'keep', text: cut(state) },
    leavesMachine: false,
    costsMoney: false,
    deletes: false,
    overwrites: false,
    runsCode: false,
  }),
  async run({ state }, { watch }) {
    if (watch === undefined) return { ok: false, output: 'This job is no run of a schedule, so there is no next run to keep anything for.' }
    if (!(await watch.keep(state))) return { ok: false, output: 'The schedule was deleted: there is no next run.' }
    return { ok: true, output: 'Kept for the next run.' }
  },
})

function cut(text: string): string {
  return text.length > SUMMARY_CHARS ? `${text.slice(0, SUMMARY_CHARS).toWellFormed()}…` : text
}
