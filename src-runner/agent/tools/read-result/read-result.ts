import { z } from 'zod'
import { randomBoundary, wrapUntrusted } from '../../../lib/untrusted-text.ts'
import { defineTool, MAX_TOOL_OUTPUT_CHARS, NO_EFFECTS } from '../tool.ts'

const MAX_CHARS = MAX_TOOL_OUTPUT_CHARS - 5_000
const DEFAULT_CHARS = 20_000

const Args = z.object({
  result: z.number().int().min(1).describe('The number of the kept result.'),
  offset: z.number().int().min(0).default(0).describe('The first character to read, from 0.'),
  limit: z.number().int().min(1).max(MAX_CHARS).default(DEFAULT_CHARS).describe(`The most characters to read. Default: ${DEFAULT_CHARS}.`),
  find: z.string().min(1).max(200).optional().describe('Read from the next place with this text, at or after the offset.'),
})

/** For the parts of a result that was too long for one reply. */
export const readResult = defineTool({
  name: 'read_result',
  description: 'Reads on in a result of this job that was too long and is kept. Results that are no text can only be opened by the person.',
  args: Args,
  effect: 'read',
  parallel: true,
  addsTaint: ['private', 'untrusted'],
  facts: ({ result }) => ({ ...NO_EFFECTS, subject: String(result), summary: `Read result ${result} of this job` }),
  async run({ result, offset, limit, find }, { results }) {
    const kept = (await results?.read(result)) ?? null
    if (kept === null) return { ok: false, output: `This job has no kept result ${result}.` }
    if (!kept.type.startsWith('text/'))
      return { ok: false, output: `Result ${result} is no text (${kept.bytes.length} bytes). The person can open it.` }
    const text = kept.bytes.toString('utf8')
    const at = find === undefined ? offset : text.indexOf(find, offset)
    if (at < 0) return { ok: true, output: `The text is not in result ${result} from character ${offset} on.` }
    if (at >= text.length) return { ok: false, output: `Result ${result} has ${text.length} characters.` }
    const part = text.slice(at, at + limit).toWellFormed()
    const end = at + part.length
    const more = end < text.length ? ` Read on with offset ${end}.` : ''
    return {
      ok: true,
      output: `Characters ${at} to ${end} of ${text.length}.${more}\n${wrapUntrusted(part, randomBoundary())}`,
    }
  },
})
