import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { putFile } from '../../files/change-file.ts'
import { stateOf, type FoundFile } from '../../files/file-state.ts'
import { PATH_HELP, PathRefused } from '../../files/folder-paths.ts'
import { changeJournaled, factsFor, requireAsJudged, resultOfEarlierRun, sizeFacts, sizeText, withFoundFile } from '../journaled-change.ts'
import { defineTool } from '../tool.ts'
import { decodeExactly, encodeExactly, MAX_EDITED_BYTES, replaceText } from './replace-text.ts'

const Args = z.object({
  path: z.string().describe(`The file. ${PATH_HELP}`),
  oldText: z.string().min(1).describe('The text to replace, exactly as in the file, with its spaces and line breaks.'),
  newText: z.string().describe('The new text. Empty: the old text is removed.'),
  replaceAll: z.boolean().optional().describe('Replace every occurrence. Default: false; then oldText must occur exactly once.'),
})

/** `idempotent` only through the journal: after the first time the old text is gone, so the file tells whether the call ran. */
export const editFile = defineTool({
  name: 'edit_file',
  description:
    "Replaces an exact text in a file of the agent's folders and leaves the rest unchanged, byte by byte. oldText must occur exactly once: include enough of the text around it, or set replaceAll.",
  args: Args,
  effect: 'idempotent',
  parallel: false,
  // The result says whether a text occurs in the file, and where.
  addsTaint: ['private'],

  facts: (args, context) =>
    factsFor(context, () =>
      withFoundFile(context, args.path, async ({ shown, found, isForeign, facts }) => {
        const size = Buffer.byteLength(args.newText) - Buffer.byteLength(args.oldText) + found.state.size
        const change = { path: shown, ...sizeFacts(found) }
        return {
          ...facts,
          overwrites: isForeign,
          effectOn:
            args.replaceAll === true
              ? createMessage('effect_change_all', change)
              : createMessage('effect_change', { ...change, newBytes: Math.max(0, size) }),
        }
      }),
    ),

  preview: (args, context) =>
    withFoundFile(context, args.path, ({ shown: path, found }) => {
      const { bytes, text } = readable(path, found)
      const replaced = replaceText(text.text, args)
      if ('problem' in replaced) throw new PathRefused(replaced.problem.replaceAll('{file}', () => path))
      return Promise.resolve({ path, before: { bytes }, after: encodeExactly({ ...text, text: replaced.text }) })
    }),

  async run(args, context) {
    const earlier = await resultOfEarlierRun(context, ({ shown, before, after }) => wordsFor(shown, before!.size, after!.size, null))
    if (earlier !== null) return earlier
    return withFoundFile(context, args.path, async (target) => {
      const { spot, shown, found } = target
      requireAsJudged(context, target)
      const { bytes, text } = readable(shown, found)
      const replaced = replaceText(text.text, args)
      if ('problem' in replaced) return { ok: false, output: replaced.problem.replaceAll('{file}', () => shown) }
      const after = encodeExactly({ ...text, text: replaced.text })
      if (after.length > MAX_EDITED_BYTES)
        return {
          ok: false,
          output: `Not changed: '${shown}' would be ${sizeText(after.length)}, and the limit is ${sizeText(MAX_EDITED_BYTES)}.`,
        }
      const { mode } = found.state
      await changeJournaled(context, target, { op: 'edit', after: { state: stateOf(after, mode), bytes: after } }, (draft) =>
        putFile(spot, after, { expected: found.stats, mode, draft }),
      )
      return { ok: true, output: wordsFor(shown, bytes.length, after.length, replaced.lines) }
    })
  },
})

function readable(shown: string, { bytes, state }: FoundFile) {
  if (bytes === null || bytes.length > MAX_EDITED_BYTES)
    throw new PathRefused(`'${shown}' has ${sizeText(state.size)}; files over ${sizeText(MAX_EDITED_BYTES)} cannot be edited.`)
  const text = decodeExactly(bytes)
  if ('problem' in text) throw new PathRefused(`'${shown}' ${text.problem}`)
  return { bytes, text }
}

function wordsFor(shown: string, before: number, after: number, lines: readonly number[] | null): string {
  const where = lines === null ? '' : lines.length === 1 ? ` at line ${lines[0]}` : ` in ${lines.length} places`
  return `Changed ${shown}${where} (${sizeText(before)} before, ${sizeText(after)} now).`
}
