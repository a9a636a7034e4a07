import { z } from 'zod'
import { removeFile } from '../../folder-access/change-file.ts'
import { KEPT_BYTES } from '../../folder-access/file-state.ts'
import { PATH_HELP, showPlace } from '../../folder-access/folder-paths.ts'
import {
  answerOfEarlierRun,
  cannotBeUndone,
  changeJournaled,
  factsFor,
  foundAt,
  journalPathOf,
  requireAsJudged,
  runsLater,
  sizeWords,
  undoWarning,
  withFoundFile,
} from '../journaled-change.ts'
import { defineTool } from '../tool.ts'

const Args = z.object({ path: z.string().describe(`The file. ${PATH_HELP}`) })

/**
 * `idempotent`, by the journal: a file that is gone was deleted, one that is still as it was is deleted now, and one
 * that somebody put there since is left alone.
 */
export const deleteFile = defineTool({
  name: 'delete_file',
  description:
    "Deletes a file in the agent's folders: it goes to the trash of the system where there is one. The answer says what became of it. Folders are not deleted.",
  args: Args,
  effect: 'idempotent',
  parallel: false,

  facts: (args, context) =>
    factsFor(context, () =>
      withFoundFile(context, args.path, async (spot, { state }) => {
        const shown = showPlace(spot.place)
        const where = context.trash === undefined ? ' for good' : ''
        return {
          subject: shown,
          paths: [spot.realPath],
          found: [foundAt(context, spot.realPath, state)],
          deletes: true,
          runsLater: await runsLater(spot),
          summary: `Delete ${shown} (${sizeWords(state.size)})${where}${undoWarning(state)}`,
          effectOn: {
            code: 'delete',
            path: shown,
            bytes: state.size,
            forGood: context.trash === undefined,
            lost: cannotBeUndone(state),
          },
        }
      }),
    ),

  async run(args, context) {
    const earlier = await answerOfEarlierRun(context, ({ shown, before, trashed }) => wordsFor(shown, before!.size, trashed))
    if (earlier !== null) return earlier
    return withFoundFile(context, args.path, async (spot, found) => {
      await requireAsJudged(context, spot, found.state)
      const { trashed } = await changeJournaled(
        context,
        {
          op: 'delete',
          at: journalPathOf(spot),
          from: null,
          before: found.state,
          after: null,
          bytesBefore: found.bytes,
          bytesAfter: null,
          binary: found.binary,
        },
        async () => {
          if (await context.trash?.take(spot, found.stats)) return { trashed: true }
          await removeFile(spot, found.stats)
          return { trashed: false }
        },
      )
      return { ok: true, output: wordsFor(showPlace(spot.place), found.state.size, trashed) }
    })
  },
})

function wordsFor(shown: string, size: number, trashed: boolean): string {
  if (trashed) return `Moved ${shown} to the trash.`
  const kept = size > KEPT_BYTES ? 'It was too large to be kept' : 'What was in it is kept with the job, and a person can put it back'
  return `Deleted ${shown} for good: there is no trash for the place where it was. ${kept}.`
}
