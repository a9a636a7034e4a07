import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { putFile } from '../../files/change-file.ts'
import { withSpot } from '../../files/file-spot.ts'
import { findFile, stateOf, type FileState } from '../../files/file-state.ts'
import { PATH_HELP, showPlace } from '../../files/folder-paths.ts'
import {
  answerOfEarlierRun,
  cannotBeUndone,
  changeJournaled,
  changeOf,
  factsFor,
  foundAt,
  lookAtTarget,
  MAKE_FOLDERS_HELP,
  requireAsJudged,
  sizeWords,
} from '../journaled-change.ts'
import { placeFor } from '../reading.ts'
import { defineTool } from '../tool.ts'

const MAX_WRITTEN_BYTES = 5 * 1024 * 1024
const NEW_FILE_MODE = 0o644

const Args = z.object({
  path: z.string().describe(`The file. ${PATH_HELP}`),
  content: z.string().describe('The whole new text of the file.'),
  makeFolders: z.boolean().optional().describe(MAKE_FOLDERS_HELP),
})

/** `idempotent`: the same text again changes nothing, and the journal tells whether a call that was cut off took effect. */
export const writeFile = defineTool({
  name: 'write_file',
  description:
    "Writes a UTF-8 text file in the agent's folders: creates it, or replaces its whole content. The result says which. To change part of a file, use edit_file.",
  args: Args,
  effect: 'idempotent',
  parallel: false,

  facts: (args, context) =>
    factsFor(context, async () => {
      const { shown, realPath, found, foreign, runsLater } = await lookAtTarget(context, args.path, args.makeFolders)
      const there = [foundAt(context, realPath, found?.state ?? null)]
      const place = { subject: shown, paths: [realPath], overwrites: foreign, runsLater, found: there }
      const bytes = Buffer.byteLength(args.content)
      if (found === null) return { ...place, effectOn: createMessage('effect_create', { path: shown, bytes }) }
      return {
        ...place,
        effectOn: createMessage('effect_replace', {
          path: shown,
          bytes: found.state.size,
          newBytes: bytes,
          own: foreign ? 'no' : 'yes',
          lost: cannotBeUndone(found.state) ? 'yes' : 'no',
        }),
      }
    }),

  async preview(args, context) {
    const { shown, found } = await lookAtTarget(context, args.path, args.makeFolders)
    return { path: shown, before: found, after: Buffer.from(args.content.toWellFormed()) }
  },

  async run(args, context) {
    const bytes = Buffer.from(args.content.toWellFormed())
    if (bytes.length > MAX_WRITTEN_BYTES)
      return {
        ok: false,
        output: `Not written: the text has ${sizeWords(bytes.length)}, and the limit is ${sizeWords(MAX_WRITTEN_BYTES)}.`,
      }
    const earlier = await answerOfEarlierRun(context, ({ shown, before, after }) => wordsFor(shown, before, after!.size))
    if (earlier !== null) return earlier
    return withSpot(placeFor(args.path, context), { makeFolders: args.makeFolders }, async (spot) => {
      const shown = showPlace(spot.place)
      const found = await findFile(spot)
      await requireAsJudged(context, spot, found?.state ?? null)
      const after = stateOf(bytes, found?.state.mode ?? NEW_FILE_MODE)
      if (found?.state.mark === after.mark)
        return { ok: true, output: `${shown} already has exactly this content (${sizeWords(after.size)}). Nothing was changed.` }
      await changeJournaled(context, changeOf('write', spot, found, { state: after, bytes }), (draft) =>
        putFile(spot, bytes, { expected: found?.stats ?? null, mode: found?.state.mode ?? null, draft }),
      )
      return { ok: true, output: wordsFor(shown, found?.state ?? null, bytes.length) }
    })
  },
})

function wordsFor(shown: string, before: FileState | null, size: number): string {
  if (before === null) return `Created ${shown} (${sizeWords(size)}).`
  return `Replaced ${shown} (${sizeWords(before.size)} before, ${sizeWords(size)} now).`
}
