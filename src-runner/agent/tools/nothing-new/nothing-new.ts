import { z } from 'zod'
import { defineTool } from '../tool.ts'

/** The no-op result. It changes only the job's own result, so it counts as reading. */
export const nothingNew = defineTool({
  name: 'nothing_new',
  description:
    'Ends this run of the schedule without a notification. Call it when you have looked and found nothing that the person does not know yet. If the next run needs a note, call keep_state before or in the same reply. If something failed or could not be checked, do not call this: report it instead.',
  args: z.object({}),
  effect: 'read',
  parallel: false,
  channels: ['schedule'],
  noOpText: 'Nothing new.',
  run: async () => ({ ok: true, output: 'The run ends here, unless another call of this reply failed.' }),
})
