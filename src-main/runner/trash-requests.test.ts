import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../log/log.ts'
import { handleTrashRequest, isPlainPath } from './trash-requests.ts'

let folder: string
let dataDir: string
let bin: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'deckhand-trash-')))
  dataDir = join(folder, 'data')
  bin = join(folder, 'bin')
  for (const made of [dataDir, bin]) mkdirSync(made)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A trash like that of a system, without its window. */
const move = async (file: string) => renameSync(file, join(bin, basename(file)))
const ask = (path: string, how: typeof move | null = move) =>
  handleTrashRequest(how, { type: 'trash.ask', requestId: 7, path }, dataDir, silentLog)

describe('a file for the trash', () => {
  it('is moved there', async () => {
    const file = join(folder, 'notes.md')
    writeFileSync(file, 'mine')
    expect(await ask(file)).toEqual({ type: 'trash.answer', requestId: 7, ok: true, message: null })
    expect([existsSync(file), existsSync(join(bin, 'notes.md'))]).toEqual([false, true])
  })

  it('stays in place when the system refuses, with the reason', async () => {
    const file = join(folder, 'notes.md')
    writeFileSync(file, 'mine')
    const refuse = () => Promise.reject(new Error('The volume has\nno trash'))
    expect(await ask(file, refuse)).toMatchObject({ ok: false, message: 'The volume has no trash.' })
    expect(existsSync(file)).toBe(true)
  })

  it("must be a plain file outside Deckhand's folder", async () => {
    const [file, link, own] = [join(folder, 'notes.md'), join(folder, 'link'), join(dataDir, 'deckhand.db')]
    for (const path of [file, own]) writeFileSync(path, 'mine')
    symlinkSync(file, link)
    for (const path of [link, own, folder, dataDir, join(folder, 'none'), 'notes.md', `${folder}/data/../notes.md`]) {
      const { ok, message } = await ask(path)
      expect([path, ok, message]).toEqual([path, false, expect.stringMatching(/^.+\.$/)])
    }
    expect([file, link, own].map((path) => existsSync(path))).toEqual([true, true, true])
  })

  it('stays in place on a system without a trash', async () => {
    const file = join(folder, 'notes.md')
    writeFileSync(file, 'mine')
    expect(await ask(file, null)).toMatchObject({ ok: false, message: 'This machine has no trash that Deckhand can use.' })
  })
})

describe('a plain path', () => {
  it.each([
    ['linux', '/home/ann/notes.md', true],
    ['linux', '/home/ann/a b…/.hidden', true],
    ['linux', 'notes.md', false],
    ['linux', '/home/ann/', false],
    ['linux', '/', false],
    ['linux', '/home//ann/x', false],
    ['linux', '/home/ann/../bo/x', false],
    ['linux', '/home/ann/x\0y', false],
    ['win32', 'C:\\Users\\Ann\\notes.md', true],
    ['win32', '\\\\nas\\share\\notes.md', true],
    ['win32', 'C:\\', false],
    ['win32', 'C:notes.md', false],
    ['win32', '\\Users\\Ann\\notes.md', false],
    ['win32', 'C:/Users/Ann/notes.md', false],
    ['win32', 'C:\\Users\\Ann\\..\\x', false],
    ['win32', 'C:\\Users\\Ann\\notes.md:stream', false],
    ['win32', 'C:\\Users\\Ann\\notes.md.', false],
    ['win32', 'C:\\Users\\Ann \\notes.md', false],
    ['win32', '\\\\?\\C:\\Users\\Ann\\notes.md', false],
    ['win32', '\\\\.\\PhysicalDrive0', false],
    ['win32', '\\\\nas\\share\\', false],
  ] as const)('on %s: %j is one: %s', (platform, path, expected) => {
    expect(isPlainPath(path, platform)).toBe(expected)
  })
})
