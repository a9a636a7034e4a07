import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeFolder, writeAtomic } from './write-atomic.ts'

let folder: string
beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), 'deckhand-write-')))))
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

/** Notes which folder is synced and what `file` holds at that moment. */
async function watchFolderSyncs(file: string): Promise<{ path: string; text: string }[]> {
  const synced: { path: string; text: string }[] = []
  const handle = await open(folder, 'r')
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const sync = prototype.sync
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    await sync.call(this)
    synced.push({ path: readlinkSync(`/proc/self/fd/${this.fd}`), text: readFileSync(file, 'utf8') })
  })
  return synced
}

describe.skipIf(process.platform !== 'linux')('a file that is replaced as a whole', () => {
  it('is on disk with its folder before the promise resolves', async () => {
    const file = join(folder, 'vault.json')
    writeFileSync(file, 'old')
    const synced = await watchFolderSyncs(file)
    await writeAtomic(file, 'new')
    expect(synced).toEqual([{ path: folder, text: 'new' }])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('syncs the folder of the real file behind a link', async () => {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'settings.json'), 'old')
    const file = join(folder, 'settings.json')
    symlinkSync(join(elsewhere, 'settings.json'), file)
    const synced = await watchFolderSyncs(file)
    await writeAtomic(file, 'new')
    expect(synced).toEqual([{ path: elsewhere, text: 'new' }])
  })

  it('rejects if the folder cannot be synced', async () => {
    const handle = await open(folder, 'r')
    const prototype = Object.getPrototypeOf(handle) as FileHandle
    await handle.close()
    vi.spyOn(prototype, 'sync').mockRejectedValue(new Error('EIO: i/o error, fsync'))
    await expect(writeAtomic(join(folder, 'vault.json'), 'new')).rejects.toThrow('EIO')
  })
})

describe('a new folder', () => {
  it('is created with its parents, only for its owner, and may exist already', () => {
    const deep = join(folder, 'a', 'b', 'c')
    makeFolder(deep)
    makeFolder(deep)
    if (process.platform !== 'win32') for (const made of [deep, join(folder, 'a')]) expect(statSync(made).mode & 0o777).toBe(0o700)
  })
})
