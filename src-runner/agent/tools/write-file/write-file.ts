import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { putFile } from '../../files/change-file.ts'
import { stateOf, type FileState } from '../../files/file-state.ts'
import { PATH_HELP } from '../../files/folder-paths.ts'
import {
  changeJournaled,
  factsFor,
  findTarget,
  MAKE_FOLDERS_HELP,
  requireAsJudged,
  resultOfEarlierRun,
  sizeFacts,
  sizeText,
  withTarget,
} from '../journaled-change.ts'
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
      const { shown, found, isForeign, facts } = await findTarget(context, args.path, args.makeFolders)
      const bytes = Buffer.byteLength(args.content)
      if (found === null) return { ...facts, effectOn: createMessage('effect_create', { path: shown, bytes }) }
      const own = isForeign ? 'no' : 'yes'
      const effectOn = createMessage('effect_replace', { path: shown, newBytes: bytes, own, ...sizeFacts(found) })
      return { ...facts, overwrites: isForeign, effectOn }
    }),

  async preview(args, context) {
    const { shown, found } = await findTarget(context, args.path, args.makeFolders)
    return { path: shown, before: found, after: Buffer.from(args.content.toWellFormed()) }
  },

  async run(args, context) {
    const bytes = Buffer.from(args.content.toWellFormed())
    if (bytes.length > MAX_WRITTEN_BYTES)
      return {
        ok: false,
        output: `Not written: the text has ${sizeText(bytes.length)}, and the limit is ${sizeText(MAX_WRITTEN_BYTES)}.`,
      }
    const earlier = await resultOfEarlierRun(context, ({ shown, before, after }) => wordsFor(shown, before, after!.size))
    if (earlier !== null) return earlier
    return withTarget(context, args.path, { makeFolders: args.makeFolders }, async (target) => {
      const { spot, shown, found } = target
      requireAsJudged(context, target)
      const after = stateOf(bytes, found?.state.mode ?? NEW_FILE_MODE)
      if (found?.state.mark === after.mark)
        return { ok: true, output: `${shown} already has exactly this content (${sizeText(after.size)}). Nothing was changed.` }
      await changeJournaled(context, target, { op: 'write', after: { state: after, bytes } }, (draft) =>
        putFile(spot, bytes, { expected: found?.stats ?? null, mode: found?.state.mode ?? null, draft }),
      )
      return { ok: true, output: wordsFor(shown, found?.state ?? null, bytes.length) }
    })
  },
})

function wordsFor(shown: string, before: FileState | null, size: number): string {
  if (before === null) return `Created ${shown} (${sizeText(size)}).`
  return `Replaced ${shown} (${sizeText(before.size)} before, ${sizeText(size)} now).`
}
