import { join } from 'node:path'
import { z } from 'zod'
import { nameFolders, parsePath, PATH_HELP, PathRefused } from '../../folder-access/folder-paths.ts'
import { openFileInside } from '../../folder-access/open-inside.ts'
import { defineTool } from '../tool.ts'

const MAX_DATA_CHARS = 200_000

const Args = z.object({
  summary: z.string().trim().min(1).max(20_000).describe('The result in a few sentences.'),
  data: z.record(z.string(), z.unknown()).optional().describe('The result as JSON, when a program is to read it.'),
  files: z.array(z.string()).max(100).optional().describe(`Files that belong to the result. ${PATH_HELP}`),
})

/** Changes nothing but what the job itself says, so it counts as reading. A later result replaces an earlier one. */
export const returnResult = defineTool({
  name: 'return_result',
  description:
    'Hands back a result in a form that others can use: a summary, optional JSON, optional files from your folders. Your last message is still shown beside it. Calling it again replaces the result.',
  args: Args,
  effect: 'read',
  parallel: false,
  async run({ summary, data, files = [] }, { folders, closedFolders }) {
    const size = data === undefined ? 0 : JSON.stringify(data).length
    if (size > MAX_DATA_CHARS)
      return { ok: false, output: `data may have ${MAX_DATA_CHARS} characters as JSON; this has ${size}. Write it to a file.` }
    const named = nameFolders(folders, { closedFolders })
    const paths: string[] = []
    try {
      for (const file of files) paths.push(await pathOf(file, named))
    } catch (thrown) {
      if (!(thrown instanceof PathRefused)) throw thrown
      // It names the files that are there instead, as listing the folder would.
      return { ok: false, output: thrown.message, brings: ['private', 'untrusted'] }
    }
    const counted = paths.length === 0 ? '' : paths.length === 1 ? ' with 1 file' : ` with ${paths.length} files`
    return { ok: true, output: `The result is kept${counted}.`, result: { summary, data: data ?? null, files: paths } }
  },
})

/** The absolute path of a file that is there and lies inside: it is opened to see. */
async function pathOf(text: string, named: ReturnType<typeof nameFolders>): Promise<string> {
  const place = parsePath(text, named)
  if (place === null) throw new PathRefused(`'${text}' names no file.`)
  const file = await openFileInside(place)
  await file.close()
  return join(file.place.folder.path, ...file.place.parts)
}
