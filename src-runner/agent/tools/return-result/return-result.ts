import { join } from 'node:path'
import { z } from 'zod'
import { plural } from '../../../lib/text.ts'
import { PATH_HELP, PathRefused } from '../../files/folder-paths.ts'
import { openFileInside } from '../../files/open-inside.ts'
import { placeFor } from '../reading.ts'
import { defineTool } from '../tool.ts'

export const RETURN_RESULT = 'return_result'

const MAX_DATA_CHARS = 200_000

const Args = z.object({
  summary: z.string().trim().min(1).max(20_000).describe('The result in a few sentences.'),
  data: z.record(z.string(), z.unknown()).optional().describe('The result as JSON, if a program will read it.'),
  files: z.array(z.string()).max(100).optional().describe(`Files that are part of the result. ${PATH_HELP}`),
})

/** Changes only the job's own result, so it counts as reading. */
export const returnResult = defineTool({
  name: RETURN_RESULT,
  description:
    'Returns the result of this job in a form that others can use: a summary, optional JSON, optional files from your folders. Your last message is still shown beside it. A second call replaces the result.',
  args: Args,
  effect: 'read',
  parallel: false,
  async run({ summary, data, files = [] }, context) {
    const size = data === undefined ? 0 : JSON.stringify(data).length
    if (size > MAX_DATA_CHARS)
      return { ok: false, output: `data may have ${MAX_DATA_CHARS} characters as JSON, and this has ${size}. Write it to a file instead.` }
    const paths: string[] = []
    try {
      for (const path of files) {
        // Opening it proves that it is there and inside.
        const file = await openFileInside(placeFor(path, context))
        await file.close()
        paths.push(join(file.place.folder.path, ...file.place.parts))
      }
    } catch (thrown) {
      if (!(thrown instanceof PathRefused)) throw thrown
      // The message names files, as listing the folder does.
      return { ok: false, output: thrown.message, addsTaint: ['private', 'untrusted'] }
    }
    const withFiles = paths.length === 0 ? '' : ` with ${plural(paths.length, 'file')}`
    return { ok: true, output: `The result is kept${withFiles}.`, result: { summary, data: data ?? null, files: paths } }
  },
})
