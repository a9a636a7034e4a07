import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { removeFile } from '../../files/change-file.ts'
import { KEPT_BYTES } from '../../files/file-state.ts'
import { PATH_HELP } from '../../files/folder-paths.ts'
import { changeJournaled, factsFor, requireAsJudged, resultOfEarlierRun, sizeFacts, withFoundFile } from '../journaled-change.ts'
import { defineTool } from '../tool.ts'

const Args = z.object({ path: z.string().describe(`The file. ${PATH_HELP}`) })

/** `idempotent` through the journal: a missing file was deleted, an unchanged one is deleted now, a newer one is left alone. */
export const deleteFile = defineTool({
  name: 'delete_file',
  description:
    "Deletes one file in the agent's folders. It goes to the system's trash if there is one; the result says what happened. Does not delete folders.",
  args: Args,
  effect: 'idempotent',
  parallel: false,

  facts: (args, context) =>
    factsFor(context, () =>
      withFoundFile(context, args.path, async ({ shown, found, facts }) => {
        const effect = context.trash === undefined ? 'effect_delete_for_good' : 'effect_delete'
        return { ...facts, deletes: true, effectOn: createMessage(effect, { path: shown, ...sizeFacts(found) }) }
      }),
    ),

  async run(args, context) {
    const earlier = await resultOfEarlierRun(context, ({ shown, before, trashed }) => wordsFor(shown, before!.size, trashed))
    if (earlier !== null) return earlier
    return withFoundFile(context, args.path, async (target) => {
      const { spot, shown, found } = target
      requireAsJudged(context, target)
      const { trashed } = await changeJournaled(context, target, { op: 'delete' }, async () => {
        if (await context.trash?.take(spot, found.stats)) return { trashed: true }
        await removeFile(spot, found.stats)
        return { trashed: false }
      })
      return { ok: true, output: wordsFor(shown, found.state.size, trashed) }
    })
  },
})

function wordsFor(shown: string, size: number, trashed: boolean): string {
  if (trashed) return `Moved ${shown} to the trash.`
  const kept = size > KEPT_BYTES ? 'It was too large to be kept' : 'Its content is kept with the job, and the person can restore it'
  return `Deleted ${shown} permanently: this disk has no trash. ${kept}.`
}
