import { Readable } from 'node:stream'
import { GitFailed } from './git-failed.ts'
import type { GitPlace, RunGit } from './run-git.ts'

const WITHIN_MS = 20 * 60_000
const LINE_FEED = 10
const MAX_HEADER_BYTES = 200

/**
 * Reads contents by their names, one after the other. `use` receives the position in `names`, and null for a content of more than
 * `maxBytes`. Throws GitFailed if one is missing.
 */
export async function readBlobs(
  run: RunGit,
  { at, names, maxBytes }: { at: GitPlace; names: readonly string[]; maxBytes: number },
  use: (position: number, content: Buffer | null) => Promise<void>,
): Promise<void> {
  if (names.length === 0) return
  const input = Readable.from(names.map((name) => `${name}\n`))
  const onOutput = async (output: AsyncIterable<Buffer>) => {
    const read = createReader(output)
    for (let position = 0; position < names.length; position++) {
      const header = await read.line()
      const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1])
      if (!Number.isInteger(size)) throw new GitFailed('failed', `an object is missing: ${header}`)
      const content = await read.bytes(size, maxBytes)
      await read.bytes(1, 1)
      await use(position, content)
    }
  }
  await run({ at, args: ['cat-file', '--batch'], input, withinMs: WITHIN_MS, onOutput })
}

function createReader(output: AsyncIterable<Buffer>) {
  const chunks = output[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)

  async function next(): Promise<Buffer> {
    const { value, done } = await chunks.next()
    if (done === true) throw new GitFailed('failed', 'git cat-file ended early')
    return value
  }

  return {
    async line(): Promise<string> {
      while (!rest.includes(LINE_FEED) && rest.length <= MAX_HEADER_BYTES) rest = Buffer.concat([rest, await next()])
      const end = rest.indexOf(LINE_FEED)
      const line = rest.subarray(0, end).toString()
      rest = rest.subarray(end + 1)
      return line
    },
    /** null: more than `most`, which are skipped. */
    async bytes(size: number, most: number): Promise<Buffer | null> {
      const parts: Buffer[] = []
      for (let left = size; left > 0;) {
        if (rest.length === 0) rest = await next()
        const part = rest.subarray(0, left)
        rest = rest.subarray(part.length)
        left -= part.length
        if (size <= most) parts.push(part)
      }
      return size <= most ? Buffer.concat(parts) : null
    },
  }
}
