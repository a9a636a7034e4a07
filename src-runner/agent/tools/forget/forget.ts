import { cutText } from '../../../lib/text.ts'
import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { defineTool, NO_EFFECTS } from '../tool.ts'

const SUMMARY_CHARS = 200

const Args = z.object({ id: z.uuid().describe('The id of the memory, as shown by recall.') })

export const forget = defineTool({
  name: 'forget',
  description: 'Deletes one memory, yours or a shared one, that is wrong or no longer needed.',
  args: Args,
  effect: 'idempotent',
  parallel: false,
  facts({ id }, { memory, jobId }) {
    const found = memory?.find(id) ?? null
    return {
      ...NO_EFFECTS,
      subject: found?.agentId === null ? 'shared' : 'own',
      // Another memory has the same subject.
      subjectOmits: true,
      found: found === null ? [] : [{ path: `memory:${id}`, mark: found.text }],
      effectOn:
        found === null
          ? createMessage('effect_forget_nothing')
          : createMessage('effect_forget', { text: cutText(found.text, SUMMARY_CHARS), shared: found.agentId === null ? 'yes' : 'no' }),
      // What another job or a person wrote cannot be brought back, and this job may follow the text of a stranger.
      deletes: found !== null && found.jobId !== jobId,
    }
  },
  async run({ id }, { memory }) {
    if (await memory?.forget(id)) return { ok: true, output: 'Forgotten.' }
    return { ok: false, output: 'There is no such memory. Use recall to see the memories.' }
  },
})
