import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cleanFileName, putReceivedFile, readFileOfAgent } from './agent-files.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'deckhand-received-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function folder(name: string): string {
  const path = join(home, name)
  mkdirSync(path)
  return path
}
const put = (folders: string[], name: string, text: string, closedFolders: string[] = []) =>
  putReceivedFile({ folders, closedFolders }, name, Buffer.from(text))

describe('the name of a received file', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['Grüße aus Köln.txt', 'Grüße aus Köln.txt'],
    ['../../etc/passwd', 'etc passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['.bashrc', 'bashrc'],
    ['...', 'file'],
    ['', 'file'],
    ['a\u0000b\nc.txt', 'a b c.txt'],
    ['evil\u202Etxt.exe', 'evil txt.exe'],
    ['a<b>:"|?*.txt', 'a b .txt'],
    ['NUL', '_NUL'],
    ['com1.txt', '_com1.txt'],
    ['ends with dots..', 'ends with dots'],
    ['~/x', '~ x'],
    ['e\u0301.txt', 'é.txt'],
  ])('%j becomes %j', (given, name) => expect(cleanFileName(given)).toBe(name))

  test('is shortened to 150 bytes, with its extension and whole characters', () => {
    const name = cleanFileName(`${'👨‍👩‍👧'.repeat(50)}.tar.gz`)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(150)
    expect(name).toMatch(/^👨 👩.*\.gz$/u)
    expect(name.isWellFormed()).toBe(true)
  })
})

describe('a received file', () => {
  test('is stored in the first folder under a free name', async () => {
    const notes = folder('notes')
    expect(await put([notes, folder('more')], 'a.txt', 'one')).toEqual({ path: 'notes/Received/a.txt' })
    expect(await put([notes], 'a.txt', 'two')).toEqual({ path: 'notes/Received/a (2).txt' })
    expect(readFileSync(join(notes, 'Received', 'a (2).txt'), 'utf8')).toBe('two')
  })

  test('is stored once', async () => {
    const notes = folder('notes')
    await put([notes], 'a.txt', 'one')
    await put([notes], 'a.txt', 'two')
    expect(await put([notes], 'a.txt', 'two')).toEqual({ path: 'notes/Received/a (2).txt' })
    expect(await put([notes], 'a.txt', 'one')).toEqual({ path: 'notes/Received/a.txt' })
    expect(readdirSync(join(notes, 'Received'))).toHaveLength(2)
  })

  test.each([
    ['different names', (n: number) => `${n}.txt`],
    ['one name', () => 'a.txt'],
  ])('keeps its content when others are stored at the same moment under %s', async (_, nameOf) => {
    const notes = folder('notes')
    for (let round = 0; round < 2; round++) {
      const texts = Array.from({ length: 4 }, (_, n) => `${round}.${n} `.repeat(500_000))
      const stored = await Promise.all(texts.map((text, n) => put([notes], nameOf(round * 4 + n), text)))
      const found = stored.map((one) => ('path' in one ? readFileSync(join(home, one.path), 'utf8').slice(0, 4) : one.problem))
      expect(found).toEqual(texts.map((text) => text.slice(0, 4)))
    }
    expect(readdirSync(join(notes, 'Received'))).toHaveLength(8)
  })

  test('is stored in the next folder if the first one fails', async () => {
    const [first, second] = [folder('first'), folder('second')]
    writeFileSync(join(first, 'Received'), 'a file, where the folder would be')
    expect(await put([join(home, 'gone'), first, second], 'a.txt', 'one')).toEqual({ path: 'second/Received/a.txt' })
  })

  test('is not stored through a link to another folder', async () => {
    const [inside, outside] = [folder('inside'), folder('outside')]
    symlinkSync(outside, join(inside, 'Received'))
    expect(await put([inside], 'a.txt', 'one')).toHaveProperty('problem')
    expect(readdirSync(outside)).toEqual([])
  })

  test('is not stored in a folder that is closed to agents', async () => {
    const data = folder('data')
    expect(await put([home], 'a.txt', 'one', [join(home, 'Received')])).toHaveProperty('problem')
    expect(await put([data], 'a.txt', 'one', [data])).toHaveProperty('problem')
    expect(readdirSync(data)).toEqual([])
  })

  test('does not replace a link of the same name', async () => {
    const notes = folder('notes')
    mkdirSync(join(notes, 'Received'))
    writeFileSync(join(home, 'target'), 'mine')
    symlinkSync(join(home, 'target'), join(notes, 'Received', 'a.txt'))
    expect(await put([notes], 'a.txt', 'mine')).toEqual({ path: 'notes/Received/a (2).txt' })
    expect(readFileSync(join(home, 'target'), 'utf8')).toBe('mine')
  })

  test('is not stored if the agent has no folder', async () => {
    expect(await put([], 'a.txt', 'one')).toEqual({ problem: 'this agent has no folder to put it in' })
  })
})

describe('a file to send', () => {
  const read = async (folders: string[], path: string, { closedFolders = [] as string[], most = 1000 } = {}) => {
    const found = await readFileOfAgent({ folders, closedFolders }, path, most)
    return 'bytes' in found ? Buffer.from(found.bytes).toString() : found.problem
  }

  test('is read as it is now', async () => {
    const notes = folder('notes')
    writeFileSync(join(notes, 'a.txt'), 'alpha')
    expect(await read([notes], join(notes, 'a.txt'))).toBe('alpha')
    expect(await read([notes], join(notes, 'a.txt'), { most: 4 })).toMatch(/larger/)
  })

  test('is not read through a link that has replaced it', async () => {
    const notes = folder('notes')
    writeFileSync(join(home, 'secret'), 'mine')
    symlinkSync(join(home, 'secret'), join(notes, 'a.txt'))
    expect(await read([notes], join(notes, 'a.txt'))).toBe('it is not in a folder of this agent any more')
  })

  test('is only read from an open folder that the agent still has', async () => {
    const [notes, more] = [folder('notes'), folder('more')]
    writeFileSync(join(notes, 'a.txt'), 'alpha')
    const refusal = 'it is not in a folder of this agent any more'
    expect(await read([more], join(notes, 'a.txt'))).toBe(refusal)
    expect(await read([], join(notes, 'a.txt'))).toBe(refusal)
    expect(await read([home], join(notes, 'a.txt'), { closedFolders: [notes] })).toBe(refusal)
    expect(await read([notes], join(notes, 'gone.txt'))).toBe(refusal)
    expect(await read([home], notes)).toBe(refusal)
  })
})
