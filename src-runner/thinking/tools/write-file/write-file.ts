import { z } from 'zod'
import { putFile } from '../../folder-access/change-file.ts'
import { findFile, stateOf, type FileState } from '../../folder-access/file-state.ts'
import { PATH_HELP, showPlace } from '../../folder-access/folder-paths.ts'
import {
  answerOfEarlierRun,
  cannotBeUndone,
  changeJournaled,
  factsFor,
  foundAt,
  journalPathOf,
  lookAtTarget,
  MAKE_FOLDERS_HELP,
  requireAsJudged,
  sizeWords,
  undoWarning,
  withFile,
} from '../journaled-change.ts'
import { defineTool } from '../tool.ts'

export const MAX_WRITTEN_BYTES = 5 * 1024 * 1024
const NEW_FILE_MODE = 0o644

const Args = z.object({
  path: z.string().describe(`The file. ${PATH_HELP}`),
  content: z.string().describe('The whole text of the file, as it will be.'),
  makeFolders: z.boolean().optional().describe(MAKE_FOLDERS_HELP),
})

/**
 * `idempotent`: the end is the same however often the same text is put there, and the journal tells a call that was cut
 * off behind its effect from one that was cut off before it, so that nobody's later work is written over.
 */
export const writeFile = defineTool({
  name: 'write_file',
  description:
    "Writes a text file in the agent's folders as UTF-8: makes it, or replaces all that is in it. The answer says which. To change a part of a file, use edit_file.",
  args: Args,
  effect: 'idempotent',
  parallel: false,

  facts: (args, context) =>
    factsFor(context, async () => {
      const { shown, realPath, found, foreign, runsLater } = await lookAtTarget(context, args.path, args.makeFolders)
      const there = [foundAt(context, realPath, found?.state ?? null)]
      const place = { subject: shown, paths: [realPath], overwrites: foreign, runsLater, found: there }
      const bytes = Buffer.byteLength(args.content)
      const size = sizeWords(bytes)
      if (found === null) return { ...place, summary: `Create ${shown} (${size})`, effectOn: { code: 'create', path: shown, bytes } }
      const verb = foreign ? 'Overwrite' : 'Replace, which this agent wrote itself,'
      return {
        ...place,
        summary: `${verb} ${shown} (${sizeWords(found.state.size)} → ${size})${undoWarning(found.state)}`,
        effectOn: {
          code: 'replace',
          path: shown,
          bytes: found.state.size,
          newBytes: bytes,
          own: !foreign,
          lost: cannotBeUndone(found.state),
        },
      }
    }),

  async preview(args, context) {
    const { shown, found } = await lookAtTarget(context, args.path, args.makeFolders)
    return { path: shown, before: found, after: Buffer.from(args.content.toWellFormed()) }
  },

  async run(args, context) {
    const bytes = Buffer.from(args.content.toWellFormed())
    if (bytes.length > MAX_WRITTEN_BYTES)
      return { ok: false, output: `Not written: the text has ${sizeWords(bytes.length)}, and ${sizeWords(MAX_WRITTEN_BYTES)} is the most.` }
    const earlier = await answerOfEarlierRun(context, ({ shown, before, after }) => wordsFor(shown, before, after!.size))
    if (earlier !== null) return earlier
    return withFile(context, args.path, { makeFolders: args.makeFolders }, async (spot) => {
      const shown = showPlace(spot.place)
      const found = await findFile(spot)
      await requireAsJudged(context, spot, found?.state ?? null)
      const after = stateOf(bytes, found?.state.mode ?? NEW_FILE_MODE)
      if (found?.state.mark === after.mark)
        return { ok: true, output: `${shown} holds exactly this already (${sizeWords(after.size)}). Nothing was changed.` }
      await changeJournaled(
        context,
        {
          op: 'write',
          at: journalPathOf(spot),
          from: null,
          before: found?.state ?? null,
          after,
          bytesBefore: found?.bytes ?? null,
          bytesAfter: bytes,
          binary: found?.binary ?? false,
        },
        (draft) => putFile(spot, bytes, { expected: found?.stats ?? null, mode: found?.state.mode ?? null, draft }),
      )
      return { ok: true, output: wordsFor(shown, found?.state ?? null, bytes.length) }
    })
  },
})

function wordsFor(shown: string, before: FileState | null, size: number): string {
  if (before === null) return `Created ${shown} (${sizeWords(size)}).`
  return `Replaced ${shown} (${sizeWords(before.size)} before, ${sizeWords(size)} now).`
}
