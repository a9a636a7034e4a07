import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { moveFile as moveInside } from '../../files/change-file.ts'
import { withSpot } from '../../files/file-spot.ts'
import { findFile } from '../../files/file-state.ts'
import { PATH_HELP, PathRefused, showPlace } from '../../files/folder-paths.ts'
import {
  answerOfEarlierRun,
  changeJournaled,
  changeOf,
  factsFor,
  foundAt,
  isForeign,
  journalPathOf,
  lookAtTarget,
  MAKE_FOLDERS_HELP,
  requireAsJudged,
  runsLater,
  withFoundFile,
} from '../journaled-change.ts'
import { placeFor } from '../reading.ts'
import { defineTool } from '../tool.ts'

const Args = z.object({
  from: z.string().describe(`The file. ${PATH_HELP}`),
  to: z.string().describe("The new path, with the file's name. It begins with a folder's name, too. Nothing may be there yet."),
  makeFolders: z.boolean().optional().describe(MAKE_FOLDERS_HELP),
})

/** `idempotent` through the journal: the file's place tells whether the move happened, and half a move is finished. */
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
          // Moving away a person's file takes it from its place, as an overwrite does.
          overwrites: isForeign(context, spot, state),
          runsLater: target.runsLater || (await runsLater(spot)),
          effectOn: createMessage('effect_move', { path: from, bytes: state.size, to }),
        }
      }),
    ),

  async run(args, context) {
    const earlier = await answerOfEarlierRun(context, ({ shownFrom, shown }) => wordsFor(shownFrom!, shown))
    if (earlier !== null) return earlier
    return withFoundFile(context, args.from, (source, found) =>
      withSpot(placeFor(args.to, context), { makeFolders: args.makeFolders }, async (target) => {
        const [from, to] = [showPlace(source.place), showPlace(target.place)]
        await requireAsJudged(context, source, found.state)
        await requireAsJudged(context, target, (await findFile(target))?.state ?? null)
        if (source.realPath === target.realPath) throw new PathRefused(`'${to}' is where the file is already.`)
        const change = { ...changeOf('move', target, found, null), from: journalPathOf(source), after: found.state, bytesBefore: null }
        await changeJournaled(context, change, (draft) => moveInside(source, target, { expected: found.stats, draft }))
        return { ok: true, output: wordsFor(from, to) }
      }),
    )
  },
})

function wordsFor(from: string, to: string): string {
  return `Moved ${from} to ${to}.`
}
