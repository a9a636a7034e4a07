import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

export type Blobs = ReturnType<typeof createBlobs>

export type Swept = Record<'all' | 'unneeded', { count: number; bytes: number }> & { isWhole: boolean }

const SWEPT_AT_ONCE = 50
const MARK = /^sha256:([0-9a-f]{64})$/

/** Whether the content of a file with this mark is kept, unless it was deleted since. */
export const isKept = (mark: string) => MARK.test(mark)

/**
 * Earlier contents of files, stored by their marks. Only `sha256:` marks have a content; large files have none. A content is stored
 * completely or not at all, also after a power cut.
 */
export function createBlobs(folder: string) {
  let drafts = 0
  /** Contents that a change is about to refer to, and how many do. */
  const held = new Map<string, number>()
  mkdirSync(folder, { recursive: true, mode: 0o700 })

  /** null: the mark has no content. The pattern also keeps any other text from becoming a path. */
  function fileFor(mark: string): string | null {
    const hash = MARK.exec(mark)?.[1]
    return hash === undefined ? null : join(folder, hash.slice(0, 2), hash)
  }

  async function has(mark: string): Promise<boolean> {
    const file = fileFor(mark)
    return file !== null && stat(file).then(Boolean, () => false)
  }

  /** The kept contents and what a crash left of unfinished ones, one folder at a time. */
  async function* listFiles(): AsyncGenerator<{ file: string; mark: string | null }> {
    for (const group of await readdir(folder).catch(() => [])) {
      if (!/^[0-9a-f]{2}$/.test(group)) continue
      for (const name of await readdir(join(folder, group)).catch(() => [])) {
        const mark = MARK.test(`sha256:${name}`) ? `sha256:${name}` : null
        if (mark !== null || /^[0-9a-f]{64}\.\d+-\d+\.tmp$/.test(name)) yield { file: join(folder, group, name), mark }
      }
    }
  }

  return {
    has,
    /** Keeps these contents from being deleted until the returned function is called. */
    hold(marks: readonly string[]): () => void {
      for (const mark of marks) held.set(mark, (held.get(mark) ?? 0) + 1)
      return () => {
        for (const mark of marks) {
          const others = (held.get(mark) ?? 1) - 1
          if (others > 0) held.set(mark, others)
          else held.delete(mark)
        }
      }
    },
    /**
     * Deletes the contents that are not needed, a few at a time, until `goesOn` returns false. With `counts`, only says what it would
     * delete. Returns how many there are of each, and whether it got to the end.
     */
    async sweep(options: { isNeeded(mark: string): boolean; counts?: boolean; goesOn?(): boolean }): Promise<Swept> {
      const { isNeeded, counts = false, goesOn = () => true } = options
      const swept: Swept = { all: { count: 0, bytes: 0 }, unneeded: { count: 0, bytes: 0 }, isWhole: true }
      const add = (sum: Swept['all'], bytes: number) => void ((sum.count += 1), (sum.bytes += bytes))
      let since = 0
      for await (const { file, mark } of listFiles()) {
        if (++since % SWEPT_AT_ONCE === 0) {
          await setImmediate()
          if (!goesOn()) return { ...swept, isWhole: false }
        }
        // Nothing may wait between the question and the deletion: a change could begin to need the content.
        const bytes = statSync(file, { throwIfNoEntry: false })?.size
        if (bytes === undefined) continue
        add(swept.all, bytes)
        const isOfThisProcess = file.includes(`.${process.pid}-`)
        if (mark === null ? isOfThisProcess : held.has(mark) || isNeeded(mark)) continue
        if (!counts) rmSync(file, { force: true })
        add(swept.unneeded, bytes)
      }
      return swept
    },
    /** Resolves when the content is on disk. */
    async keep(mark: string, bytes: Uint8Array): Promise<void> {
      const file = fileFor(mark)
      if (file === null || (await has(mark))) return
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      const draft = `${file}.${process.pid}-${++drafts}.tmp`
      const handle = await open(draft, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } catch (error) {
        await unlink(draft).catch(() => {})
        throw error
      } finally {
        await handle.close()
      }
      await rename(draft, file)
      await syncFolder(dirname(file))
      await syncFolder(folder)
    },
    /** null: it was never stored, or is damaged. */
    async read(mark: string): Promise<Buffer | null> {
      const file = fileFor(mark)
      if (file === null) return null
      const bytes = await readFile(file).catch(() => null)
      if (bytes === null) return null
      return `sha256:${createHash('sha256').update(bytes).digest('hex')}` === mark ? bytes : null
    },
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
