import { z } from 'zod'
import { say } from '../../../kit/said.ts'
import { moveFile as moveInside } from '../../folder-access/change-file.ts'
import { findFile } from '../../folder-access/file-state.ts'
import { PATH_HELP, PathRefused, showPlace } from '../../folder-access/folder-paths.ts'
import {
  answerOfEarlierRun,
  changeJournaled,
  factsFor,
  foundAt,
  isForeign,
  journalPathOf,
  lookAtTarget,
  MAKE_FOLDERS_HELP,
  requireAsJudged,
  runsLater,
  sizeWords,
  withFile,
  withFoundFile,
} from '../journaled-change.ts'
import { defineTool } from '../tool.ts'

const Args = z.object({
  from: z.string().describe(`The file. ${PATH_HELP}`),
  to: z.string().describe("Where it will be, name included. Nothing may be there yet. Begins with a folder's name, too."),
  makeFolders: z.boolean().optional().describe(MAKE_FOLDERS_HELP),
})

/** `idempotent`, by the journal: where the file is tells whether the move was made, and a half-made one is finished. */
export const moveFile = defineTool({
  name: 'move_file',
  description: "Moves or renames a file within the agent's folders. Never replaces another file.",
  args: Args,
  effect: 'idempotent',
  parallel: false,

  facts: (args, context) =>
    factsFor(context, () =>
      withFoundFile(context, args.from, async (spot, { state }) => {
        const target = await lookAtTarget(context, args.to, args.makeFolders)
        const [from, to] = [showPlace(spot.place), target.shown]
        return {
          subject: `${from} -> ${to}`,
          paths: [spot.realPath, target.realPath],
          found: [foundAt(context, spot.realPath, state), foundAt(context, target.realPath, target.found?.state ?? null)],
          // Where it was there is nothing afterwards: what moves away a person's file has replaced it as much as a write has.
          overwrites: isForeign(context, spot, state),
          runsLater: target.runsLater || (await runsLater(spot)),
          summary: `Move ${from} (${sizeWords(state.size)}) to ${to}`,
          effectOn: { code: 'move', path: from, bytes: state.size, to },
        }
      }),
    ),

  async run(args, context) {
    const earlier = await answerOfEarlierRun(context, ({ shownFrom, shown }) => wordsFor(shownFrom!, shown))
    if (earlier !== null) return earlier
    return withFoundFile(context, args.from, (source, found) =>
      withFile(context, args.to, { makeFolders: args.makeFolders }, async (target) => {
        const [from, to] = [showPlace(source.place), showPlace(target.place)]
        await requireAsJudged(context, source, found.state)
        await requireAsJudged(context, target, (await findFile(target))?.state ?? null)
        if (source.realPath === target.realPath) throw new PathRefused(say('path_same_place', { path: to }))
        await changeJournaled(
          context,
          {
            op: 'move',
            at: journalPathOf(target),
            from: journalPathOf(source),
            before: found.state,
            after: found.state,
            bytesBefore: null,
            bytesAfter: null,
            binary: found.binary,
          },
          (draft) => moveInside(source, target, { expected: found.stats, draft }),
        )
        return { ok: true, output: wordsFor(from, to) }
      }),
    )
  },
})

function wordsFor(from: string, to: string): string {
  return `Moved ${from} to ${to}.`
}
