import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { moveFile as moveInside } from '../../files/change-file.ts'
import { PATH_HELP, PathRefused } from '../../files/folder-paths.ts'
import {
  changeJournaled,
  factsFor,
  findTarget,
  MAKE_FOLDERS_HELP,
  requireAsJudged,
  resultOfEarlierRun,
  withFoundFile,
  withTarget,
} from '../journaled-change.ts'
import { defineTool, type ToolFacts } from '../tool.ts'

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
      withFoundFile(context, args.from, async (source) => {
        const target = await findTarget(context, args.to, args.makeFolders)
        const [subject, realSubject] = [moveOf(source.shown, target.shown), moveOf(realOf(source.facts), realOf(target.facts))]
        return {
          subject,
          ...(realSubject === subject ? {} : { realSubject }),
          alsoSubjects: [source.shown, realOf(source.facts), target.shown, realOf(target.facts)],
          paths: [...source.facts.paths, ...target.facts.paths],
          found: [...source.facts.found, ...target.facts.found],
          // Moving away a person's file takes it from its place, as an overwrite does.
          overwrites: source.isForeign,
          runsLater: source.facts.runsLater || target.facts.runsLater,
          effectOn: createMessage('effect_move', { path: source.shown, bytes: source.found.state.size, to: target.shown }),
        }
      }),
    ),

  async run(args, context) {
    const earlier = await resultOfEarlierRun(context, ({ shownFrom, shown }) => wordsFor(shownFrom!, shown))
    if (earlier !== null) return earlier
    return withFoundFile(context, args.from, (source) =>
      withTarget(context, args.to, { makeFolders: args.makeFolders }, async (target) => {
        requireAsJudged(context, source)
        requireAsJudged(context, target)
        if (source.spot.realPath === target.spot.realPath) throw new PathRefused(`'${target.shown}' is where the file is already.`)
        const { found, spot: from } = source
        await changeJournaled(context, { spot: target.spot, found }, { op: 'move', from }, (draft) =>
          moveInside(from, target.spot, { expected: found.stats, draft }),
        )
        return { ok: true, output: wordsFor(source.shown, target.shown) }
      }),
    )
  },
})

function moveOf(from: string, to: string): string {
  return `${from} -> ${to}`
}

function realOf({ subject, realSubject = subject }: Pick<ToolFacts, 'subject' | 'realSubject'>): string {
  return realSubject
}

function wordsFor(from: string, to: string): string {
  return `Moved ${from} to ${to}.`
}
