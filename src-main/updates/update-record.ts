import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { messageOf, type Log } from '../log/log.ts'
import { writeAtomic } from '../settings/write-atomic.ts'

/** A version that ends this often before it worked is not installed again by itself. */
const CRASHES_AT_START = 2
const MAX_CRASHED = 50

const Contents = z.object({
  /** Starts of this version that did not get as far as a working runner, one after the other. */
  start: z.object({ version: z.string(), failed: z.number().int().min(0) }).nullable(),
  crashed: z.array(z.string()).max(MAX_CRASHED),
  /** The version that was put in place when Deckhand last closed. */
  installing: z.string().nullable(),
})
type Contents = z.infer<typeof Contents>

/** What must outlive a restart. Reading and writing never fail: without the record, updates still work. */
export type UpdateRecord = {
  /** Called once, at start, with this version. true: the version that should be running now is not. */
  begin(version: string): boolean
  /** This start works. */
  markStarted(): void
  hasCrashed(version: string): boolean
  setInstalling(version: string): Promise<void>
}

export function openUpdateRecord(file: string, log: Log): UpdateRecord {
  let contents = read(file)

  function save(change: Partial<Contents>): Promise<void> {
    contents = { ...contents, ...change }
    return writeAtomic(file, `${JSON.stringify(contents)}\n`).catch((error: unknown) =>
      log.warn({ error: messageOf(error) }, 'the record of updates could not be saved'),
    )
  }

  return {
    begin(version) {
      const { start, crashed, installing } = contents
      const failed = start?.version === version ? start.failed : 0
      // Usually another version is running by now: the person went back to one that works.
      const bad = start !== null && start.failed >= CRASHES_AT_START ? start.version : null
      void save({
        start: { version, failed: failed + 1 },
        crashed: bad === null ? crashed : [...crashed.filter((other) => other !== bad), bad].slice(-MAX_CRASHED),
        installing: null,
      })
      return installing !== null && installing !== version
    },
    markStarted() {
      const version = contents.start?.version
      if (version === undefined) return
      void save({ start: { version, failed: 0 }, crashed: contents.crashed.filter((other) => other !== version) })
    },
    hasCrashed: (version) => contents.crashed.includes(version),
    setInstalling: (version) => save({ installing: version }),
  }
}

function read(file: string): Contents {
  try {
    return Contents.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return { start: null, crashed: [], installing: null }
  }
}
