import { z } from 'zod'
import { putFile } from '../../folder-access/change-file.ts'
import { stateOf, type FoundFile } from '../../folder-access/file-state.ts'
import { PATH_HELP, PathRefused, showPlace } from '../../folder-access/folder-paths.ts'
import {
  answerOfEarlierRun,
  cannotBeUndone,
  changeJournaled,
  factsFor,
  foundAt,
  isForeign,
  journalPathOf,
  requireAsJudged,
  runsLater,
  sizeWords,
  undoWarning,
  withFoundFile,
} from '../journaled-change.ts'
import { defineTool } from '../tool.ts'
import { decodeWhole, encodeWhole } from './whole-text.ts'
import { replaceText } from './replace-text.ts'

const MAX_EDITED_BYTES = 5 * 1024 * 1024

const Args = z.object({
  path: z.string().describe(`The file. ${PATH_HELP}`),
  oldText: z.string().min(1).describe('The text to be replaced, exactly as it stands in the file, spaces and line breaks included.'),
  newText: z.string().describe('What stands there afterwards. Empty: the text is taken out.'),
  replaceAll: z.boolean().optional().describe('Replace it wherever it occurs. Default: false, and then it must occur once.'),
})

/**
 * `idempotent`, by the journal alone: the text to be replaced is gone after the first time. A call that was cut off is
 * told by what is in the file, and never made twice.
 */
export const editFile = defineTool({
  name: 'edit_file',
  description:
    "Replaces an exact piece of text in a file of the agent's folders; the rest stays as it is, byte by byte. It must occur once, so give enough of the text around it, or set replaceAll.",
  args: Args,
  effect: 'idempotent',
  parallel: false,
  // Whether a text occurs in a file, and where, is something about the file.
  brings: 'private',

  facts: (args, context) =>
    factsFor(context, () =>
      withFoundFile(context, args.path, async (spot, found) => {
        const shown = showPlace(spot.place)
        const overwrites = isForeign(context, spot, found.state)
        const size = Buffer.byteLength(args.newText) - Buffer.byteLength(args.oldText) + found.state.size
        return {
          subject: shown,
          paths: [spot.realPath],
          found: [foundAt(context, spot.realPath, found.state)],
          overwrites,
          runsLater: await runsLater(spot),
          summary: `Change a part of ${shown} (${sizeWords(found.state.size)}${args.replaceAll === true ? ', wherever it occurs' : ` → ${sizeWords(Math.max(0, size))}`})${undoWarning(found.state)}`,
          effectOn: {
            code: 'change',
            path: shown,
            bytes: found.state.size,
            newBytes: args.replaceAll === true ? null : Math.max(0, size),
            lost: cannotBeUndone(found.state),
          },
        }
      }),
    ),

  preview: (args, context) =>
    withFoundFile(context, args.path, (spot, found) => {
      const path = showPlace(spot.place)
      const { bytes, text } = readable(path, found)
      const replaced = replaceText(text.text, args)
      if ('problem' in replaced) throw new PathRefused(replaced.problem.replaceAll('{file}', () => path))
      return Promise.resolve({ path, before: { bytes }, after: encodeWhole({ ...text, text: replaced.text }) })
    }),

  async run(args, context) {
    const earlier = await answerOfEarlierRun(context, ({ shown, before, after }) => wordsFor(shown, before!.size, after!.size, null))
    if (earlier !== null) return earlier
    return withFoundFile(context, args.path, async (spot, found) => {
      const shown = showPlace(spot.place)
      await requireAsJudged(context, spot, found.state)
      const { bytes, text } = readable(shown, found)
      const replaced = replaceText(text.text, args)
      if ('problem' in replaced) return { ok: false, output: replaced.problem.replaceAll('{file}', () => shown) }
      const after = encodeWhole({ ...text, text: replaced.text })
      if (after.length > MAX_EDITED_BYTES)
        return {
          ok: false,
          output: `Not changed: '${shown}' would have ${sizeWords(after.length)}, and ${sizeWords(MAX_EDITED_BYTES)} is the most.`,
        }
      await changeJournaled(
        context,
        {
          op: 'edit',
          at: journalPathOf(spot),
          from: null,
          before: found.state,
          after: stateOf(after, found.state.mode),
          bytesBefore: bytes,
          bytesAfter: after,
          binary: false,
        },
        (draft) => putFile(spot, after, { expected: found.stats, mode: found.state.mode, draft }),
      )
      return { ok: true, output: wordsFor(shown, bytes.length, after.length, replaced.lines) }
    })
  },
})

function readable(shown: string, { bytes, state }: FoundFile) {
  if (bytes === null || bytes.length > MAX_EDITED_BYTES)
    throw new PathRefused(`'${shown}' has ${sizeWords(state.size)}; a file of more than ${sizeWords(MAX_EDITED_BYTES)} is not edited.`)
  const text = decodeWhole(bytes)
  if ('problem' in text) throw new PathRefused(`'${shown}' ${text.problem}`)
  return { bytes, text }
}

function wordsFor(shown: string, before: number, after: number, lines: readonly number[] | null): string {
  const where = lines === null ? '' : lines.length === 1 ? ` at line ${lines[0]}` : ` in ${lines.length} places`
  return `Changed ${shown}${where} (${sizeWords(before)} before, ${sizeWords(after)} now).`
}
