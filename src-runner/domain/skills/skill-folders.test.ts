import { appendFileSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { createSkillFolders, type SkillFolders } from './skill-folders.ts'
import { packSkill } from './skill-package.ts'

const version = (text: string) => packSkill([{ path: 'SKILL.md', bytes: Buffer.from(text) }, { path: 'docs/a.md', bytes: Buffer.from('a') }]) // prettier-ignore
const OLD = version('old')
const NEW = version('new')
const nameOf = ({ digest }: typeof OLD) => digest.slice(7)

let root: string
let folders: SkillFolders
beforeEach(async () => {
  root = (await scratchFolder()).at('skills')
  folders = createSkillFolders(root)
  await folders.keep(OLD)
})

describe('the files of installed skills', () => {
  it('are read as they were kept', async () => {
    expect(await folders.load(OLD.digest)).toEqual(OLD)
    await folders.keep(OLD)
    expect(readdirSync(root)).toEqual([nameOf(OLD)])
    expect(packSkill(OLD.files.toReversed()).digest).toBe(OLD.digest)
  })

  const CHANGES: Record<string, (folder: string) => void> = {
    'a changed byte': (folder) => appendFileSync(join(folder, 'SKILL.md'), ' '),
    'one file more': (folder) => writeFileSync(join(folder, 'more.md'), ''),
    'one file that tools leave behind': (folder) => writeFileSync(join(folder, '.DS_Store'), ''),
    'one file less': (folder) => rmSync(join(folder, 'docs/a.md')),
    'another name': (folder) => renameSync(join(folder, 'docs/a.md'), join(folder, 'docs/b.md')),
    'a link with the same content': (folder) => {
      renameSync(join(folder, 'SKILL.md'), join(root, 'elsewhere'))
      symlinkSync(join(root, 'elsewhere'), join(folder, 'SKILL.md'))
    },
    'no folder': (folder) => rmSync(folder, { recursive: true }),
    'a file in place of the folder': (folder) => {
      rmSync(folder, { recursive: true })
      writeFileSync(folder, '')
    },
  }
  it.each(Object.entries(CHANGES))('are not loaded after %s, and whole again when they are kept again', async (_, change) => {
    change(join(root, nameOf(OLD)))
    expect(await folders.load(OLD.digest)).toBe(null)
    await folders.keep(OLD)
    expect(await folders.load(OLD.digest)).toEqual(OLD)
  })

  it.each(['', '..', 'sha256:../../x', `sha256:${'0'.repeat(63)}/`])('are never looked for at %j', async (digest) => {
    await expect(folders.load(digest)).rejects.toThrow()
  })
})

describe('a crash during an update', () => {
  /** What is on the disk after each moment, with the version that the database names then. */
  const MOMENTS: [string, () => void | Promise<void>, named: typeof OLD][] = [
    ['before anything is written', () => {}, OLD],
    ['with an empty folder for the new files', () => mkdirSync(join(root, 'incoming-1-1')), OLD],
    [
      'with a part of the new files',
      () => {
        mkdirSync(join(root, 'incoming-1-1'))
        writeFileSync(join(root, 'incoming-1-1/SKILL.md'), 'ne')
      },
      OLD,
    ],
    [
      'with all new files, before they have their name',
      () => cpSync(join(root, nameOf(OLD)), join(root, 'incoming-1-1'), { recursive: true }),
      OLD,
    ],
    ['with all new files, before the database names them', () => folders.keep(NEW), OLD],
    ['after the database names them, before the old ones are deleted', () => folders.keep(NEW), NEW],
    [
      'while the old ones are deleted',
      async () => {
        await folders.keep(NEW)
        rmSync(join(root, nameOf(OLD), 'SKILL.md'))
      },
      NEW,
    ],
  ]

  it.each(MOMENTS)('leaves one whole version: %s', async (_, happens, named) => {
    await happens()
    const afterwards = createSkillFolders(root)
    await afterwards.sweep([named.digest])
    expect(await afterwards.load(named.digest)).toEqual(named)
    expect(readdirSync(root)).toEqual([nameOf(named)])
    await afterwards.keep(NEW)
    expect(await afterwards.load(NEW.digest)).toEqual(NEW)
  })
})
