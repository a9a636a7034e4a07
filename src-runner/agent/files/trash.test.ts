import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHandClock } from '../../testing/hand-clock.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { findFile } from './file-state.ts'
import { openSpot } from './file-spot.ts'
import { nameFolders, parsePath } from './folder-paths.ts'
import { createFreedesktopTrash } from './trash.ts'

const uid = process.getuid?.() ?? 0

async function bin(folder: string, homeTrash: string) {
  const clock = createHandClock()
  const trash = createFreedesktopTrash({ homeTrash, uid, clock })
  return {
    clock,
    async take(name: string) {
      const spot = await openSpot(parsePath(`${folder}/${name}`, nameFolders([folder]))!)
      try {
        return await trash.take(spot, (await findFile(spot))!.stats)
      } finally {
        await spot.close()
      }
    },
  }
}

describe.runIf(process.platform === 'linux')('the trash of Linux desktops', () => {
  it('stores a file with an info file that names its path and date', async () => {
    const base = await scratchFolder()
    await base.write('Docs/sub/a b ü%.md', 'content')
    const { take, clock } = await bin(base.at('Docs'), base.at('Trash'))
    expect(await take('sub/a b ü%.md')).toBe(true)
    expect(readdirSync(base.at('Docs/sub'))).toEqual([])
    expect(readFileSync(base.at('Trash/files/a b ü%.md'), 'utf8')).toBe('content')
    const [head, path, date, end] = readFileSync(base.at('Trash/info/a b ü%.md.trashinfo'), 'utf8').split('\n')
    expect([head, end]).toEqual(['[Trash Info]', ''])
    expect(decodeURIComponent(path!.slice('Path='.length))).toBe(base.at('Docs/sub/a b ü%.md'))
    expect(path).toMatch(/%20b%20%C3%BC%25\.md$/)
    expect(new Date(date!.slice('DeletionDate='.length)).getTime()).toBe(Math.floor(clock.now() / 1000) * 1000)
  })

  it('gives files of the same name different names', async () => {
    const base = await scratchFolder()
    const { take } = await bin(base.at('Docs'), base.at('Trash'))
    for (const text of ['1', '2', '3']) {
      await base.write('Docs/a.md', text)
      await take('a.md')
    }
    expect(readdirSync(base.at('Trash/files')).sort()).toEqual(['a.2.md', 'a.3.md', 'a.md'])
    expect(['a.md', 'a.2.md', 'a.3.md'].map((name) => readFileSync(base.at('Trash/files', name), 'utf8'))).toEqual(['1', '2', '3'])
    expect(readdirSync(base.at('Trash/info'))).toHaveLength(3)
  })

  it('leaves a file that has changed meanwhile, without an info file', async () => {
    const base = await scratchFolder()
    await base.write('Docs/a.md', 'old')
    const trash = createFreedesktopTrash({ homeTrash: base.at('Trash'), uid, clock: createHandClock() })
    const spot = await openSpot(parsePath('Docs/a.md', nameFolders([base.at('Docs')]))!)
    const { stats } = (await findFile(spot))!
    await base.write('Docs/a.md', 'by somebody else')
    await expect(trash.take(spot, stats)).rejects.toThrow('was changed by something else')
    await spot.close()
    expect(readdirSync(base.at('Trash/info'))).toEqual([])
    expect(readFileSync(base.at('Docs/a.md'), 'utf8')).toBe('by somebody else')
  })

  describe.runIf(existsSync('/dev/shm'))('for a file on another disk', () => {
    async function otherDisk() {
      const folder = `/dev/shm/deckhand-trash-${process.pid}`
      const top = '/dev/shm'
      const own = join(top, `.Trash-${uid}`)
      const before = existsSync(own)
      await mkdir(folder)
      await writeFile(join(folder, 'a.md'), 'far away')
      onTestFinished(async () => {
        await rm(folder, { recursive: true, force: true })
        if (!before) await rm(own, { recursive: true, force: true })
        await rm(join(top, '.Trash'), { recursive: true, force: true })
      })
      return { folder, top, own, base: await scratchFolder() }
    }

    it('uses the top folder of that disk, with a relative path', async () => {
      const { folder, top, own, base } = await otherDisk()
      expect(await (await bin(folder, base.at('Trash'))).take('a.md')).toBe(true)
      expect(readFileSync(join(own, 'files/a.md'), 'utf8')).toBe('far away')
      expect(readFileSync(join(own, 'info/a.md.trashinfo'), 'utf8')).toContain(`\nPath=${folder.slice(top.length + 1)}/a.md\n`)
      expect(existsSync(base.at('Trash/files/a.md'))).toBe(false)
    })

    it.each([
      ['a link', (at: string, to: string) => symlink(to, at)],
      ['a file', (at: string) => writeFile(at, '')],
    ])('has no trash if %s is in its place', async (_, make) => {
      const { folder, own, base } = await otherDisk()
      if (existsSync(own)) return // somebody's own: not for a test to touch
      await base.write('elsewhere/x')
      await make(own, base.at('elsewhere'))
      expect(await (await bin(folder, base.at('Trash'))).take('a.md')).toBe(false)
      expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('far away')
      expect(readdirSync(base.at('elsewhere'))).toEqual(['x'])
    })

    it('uses the shared trash of the administrator only if it is safe', async () => {
      const { folder, top, own, base } = await otherDisk()
      await mkdir(join(top, '.Trash'))
      await chmod(join(top, '.Trash'), 0o777)
      const { take } = await bin(folder, base.at('Trash'))
      await take('a.md')
      expect(existsSync(join(own, 'files/a.md'))).toBe(true)
      await writeFile(join(folder, 'a.md'), 'again')
      await chmod(join(top, '.Trash'), 0o1777)
      await take('a.md')
      expect(readFileSync(join(top, '.Trash', `${uid}`, 'files/a.md'), 'utf8')).toBe('again')
    })
  })
})
