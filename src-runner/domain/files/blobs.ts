import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export type Blobs = ReturnType<typeof createBlobs>

const MARK = /^sha256:([0-9a-f]{64})$/

/**
 * Earlier contents of files, stored by their marks. Only `sha256:` marks have a content; large files have none. A content is stored
 * completely or not at all, also after a power cut.
 */
export function createBlobs(folder: string) {
  let drafts = 0
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

  return {
    has,
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
