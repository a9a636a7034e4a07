import { z } from 'zod'
import { defineTool } from '../tool.ts'

/** Changes nothing but what the job itself says, so it counts as reading. */
export const nothingNew = defineTool({
  name: 'nothing_new',
  description:
    'Ends this run of the schedule without telling anybody, when you have looked and there is nothing that the person does not know yet. Call keep_state in the same reply or before, if the next run needs it. Do not call it when something failed or could not be looked at: say that instead.',
  args: z.object({}),
  effect: 'read',
  parallel: false,
  channels: ['schedule'],
  endsQuietly: 'Nothing new.',
  run: async () => ({ ok: true, output: 'The run ends here, unless another call of this reply failed.' }),
})
