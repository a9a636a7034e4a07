import { z } from 'zod'
import { defineTool } from '../tool.ts'

const SUMMARY_CHARS = 200

const Args = z.object({ id: z.uuid().describe('The id of the memory, as recall shows it.') })

/** `idempotent`: what is forgotten stays forgotten. */
export const forget = defineTool({
  name: 'forget',
  description: 'Removes one memory, yours or a shared one, that is wrong or no longer needed.',
  args: Args,
  effect: 'idempotent',
  parallel: false,
  facts({ id }, { memory }) {
    const found = memory?.find(id) ?? null
    const text =
      found === null ? '' : found.text.length > SUMMARY_CHARS ? `${found.text.slice(0, SUMMARY_CHARS).toWellFormed()}…` : found.text
    return {
      subject: found?.agentId === null ? 'shared' : 'own',
      paths: [],
      found: found === null ? [] : [{ path: `memory:${id}`, mark: found.text }],
      summary: found === null ? 'Nothing: there is no such memory.' : `Forget${found.agentId === null ? ', for all agents' : ''}: ${text}`,
      effectOn: found === null ? { code: 'forget_nothing' } : { code: 'forget', text, shared: found.agentId === null },
      leavesMachine: false,
      costsMoney: false,
      // What somebody else wrote is somebody else's to take away.
      deletes: found !== null && memory?.isOwn(found) !== true,
      overwrites: false,
      runsCode: false,
    }
  },
  async run({ id }, { memory }) {
    if (await memory?.forget(id)) return { ok: true, output: 'Forgotten.' }
    return { ok: false, output: 'There is no such memory. recall shows which there are.' }
  },
})
