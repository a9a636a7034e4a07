import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { chmod, link, mkdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openFileRig, type FileRig } from '../../testing/file-rig.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { deleteFile } from '../tools/delete-file/delete-file.ts'
import { editFile } from '../tools/edit-file/edit-file.ts'
import { moveFile as moveTool } from '../tools/move-file/move-file.ts'
import { writeFile } from '../tools/write-file/write-file.ts'
import { moveFile, putFile, removeFile } from './change-file.ts'
import { findFile } from './file-state.ts'
import { findRealPath, openSpot } from './file-spot.ts'
import { nameFolders, parsePath, PathRefused } from './folder-paths.ts'
import type { Guard } from './held-path.ts'

const guards: Guard[] = process.platform === 'linux' ? ['descriptor', 'real_path'] : ['real_path']
const DRAFT = '.draft.tmp'

/** Everything that leads out of `Docs`, and what it would lead to. */
async function trap() {
  const rig = openFileRig()
  const secret = await rig.write(join(rig.outside, 'secret.txt'), 'SECRET')
  await rig.write('notes.md', 'plain notes')
  await rig.write('sub/deep/inner.md', 'inner')
  const links: [string, string][] = [
    ['absolute-link', secret],
    ['relative-link', '../outside/secret.txt'],
    ['folder-link', rig.outside],
    ['up', '..'],
    ['sub/up-twice', '../..'],
    ['link-to-link', 'folder-link'],
    ['slash', '/'],
    ['proc-root', '/proc/self/root'],
    ['proc-cwd', '/proc/self/cwd'],
    ['proc-fd', '/proc/self/fd'],
    ['dangling', join(rig.outside, 'new.txt')],
    ['dangling-folder', join(rig.outside, 'new-folder')],
    ['loop-a', 'loop-b'],
    ['loop-b', 'loop-a'],
    ['null', '/dev/null'],
    ['inside-link', 'notes.md'],
  ]
  for (const [name, to] of links) await symlink(to, join(rig.docs, name))
  await link(secret, join(rig.docs, 'hard-link'))
  const base = dirname(rig.docs)
  const escapes = [
    '..',
    '../outside/secret.txt',
    '../new.txt',
    'Docs/..',
    'Docs/../outside/secret.txt',
    'Docs/../outside/new.txt',
    'Docs/sub/../../outside/secret.txt',
    'Docs/./../new.txt',
    'Docs//..//outside//new.txt',
    'Docs/sub/deep/inner.md/../../../../outside/new.txt',
    `${base}/outside/secret.txt`,
    `${base}/outside/new.txt`,
    `${base}/Docs/../outside/new.txt`,
    `${base}/Docs-new/x.txt`,
    '/etc/deckhand-test',
    '/proc/self/root/tmp/deckhand-test',
    '/dev/null',
    '~/.bashrc',
    '$HOME/x',
    'outside/secret.txt',
    'Docs/absolute-link',
    'Docs/relative-link',
    'Docs/folder-link/secret.txt',
    'Docs/folder-link/new.txt',
    'Docs/folder-link',
    'Docs/up/new.txt',
    'Docs/up/outside/secret.txt',
    'Docs/sub/up-twice/new.txt',
    'Docs/link-to-link/new.txt',
    `Docs/slash${base}/outside/new.txt`,
    'Docs/slash/tmp/deckhand-test',
    `Docs/proc-root${base}/outside/new.txt`,
    'Docs/proc-cwd/new.txt',
    'Docs/proc-fd/1',
    'Docs/dangling',
    'Docs/dangling-folder/new.txt',
    'Docs/loop-a',
    'Docs/loop-a/new.txt',
    'Docs/null',
    'Docs/inside-link',
    'Docs/notes.md/new.txt',
    'Docs/notes.md\0.txt',
    'Docs/\\u{2e}\\u{2e}/new.txt',
    'Docs/..\\u{2f}new.txt',
    'Docs/new\\u{a}name.txt',
    'Docs/exe\\u{202e}txt.sh',
    'Docs',
    '',
    'Docs/sub',
    `Docs/${'x'.repeat(300)}`,
  ]
  return { ...rig, rig, base, escapes, secret }
}

/** All that lies beside `Docs`: names, kinds and contents. */
function snapshot({ base, docs }: { base: string; docs: string }): string {
  const list = execFileSync('find', [base, '-path', docs, '-prune', '-o', '-printf', '%P %y %s %m\n'], { encoding: 'utf8' })
  return list.split('\n').sort().join('\n')
}

describe("writing outside of the agent's folders", () => {
  it('is refused for fifty escaping paths, with every tool, with and without makeFolders', async () => {
    const { rig, base, escapes, secret } = await trap()
    await mkdir(`${base}/Other`)
    const before = snapshot({ base, docs: rig.docs })
    // With one folder a path may leave out its name; with two, every path has to say which one is meant.
    const folders = [rig.docs, `${base}/Other`]
    const accepted: string[] = []
    for (const path of escapes) {
      for (const makeFolders of [false, true]) {
        for (const [tool, args] of [
          [writeFile, { path, content: 'ESCAPED', makeFolders }],
          [editFile, { path, oldText: 'SECRET', newText: 'ESCAPED' }],
          [moveTool, { from: 'Docs/sub/deep/inner.md', to: path, makeFolders }],
          [moveTool, { from: path, to: 'Docs/taken.txt' }],
          [deleteFile, { path }],
        ] as const) {
          const { ok, output } = await rig.call(tool, args, { folders })
          if (ok) accepted.push(`${tool.name} ${path}: ${output}`)
          expect(output, `${tool.name} ${path}`).not.toContain('SECRET')
          await expect(rig.facts(tool, args, folders), `${tool.name} ${path}`).rejects.toBeInstanceOf(PathRefused)
        }
      }
    }
    expect(accepted).toEqual([])
    expect(snapshot({ base, docs: rig.docs })).toBe(before)
    expect(await rig.read(secret)).toBe('SECRET')
    expect(readdirSync(rig.docs).filter((name) => name.startsWith('.deckhand'))).toEqual([])
  })

  it.each(guards)('is refused on random walks over links and folders (%s)', async (guard) => {
    const { rig, base } = await trap()
    const before = snapshot({ base, docs: rig.docs })
    const part = fc.constantFrom(
      '..',
      'up',
      'sub',
      'deep',
      'folder-link',
      'link-to-link',
      'up-twice',
      'slash',
      'Docs',
      'outside',
      'new',
      'loop-a',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 8 }), async (parts) => {
        const place = (() => {
          try {
            return parsePath(['Docs', ...parts, 'w.txt'].join('/'), nameFolders([rig.docs]))!
          } catch {
            return null
          }
        })()
        if (place === null) return
        const spot = await openSpot(place, { makeFolders: true, guard }).catch(() => null)
        if (spot === null) return
        const found = await findFile(spot).catch(() => null)
        if (found === null) await putFile(spot, Buffer.from('x'), { expected: null, mode: null, draft: DRAFT }).catch(() => {})
        await spot.close()
      }),
      { numRuns: 300 },
    )
    expect(snapshot({ base, docs: rig.docs })).toBe(before)
  })

  it.runIf(process.platform === 'linux')('is refused while a folder is swapped for a link repeatedly', async () => {
    const rig = openFileRig()
    const base = dirname(rig.docs)
    await rig.write('turn/file.txt', 'harmless')
    await rig.write(join(rig.outside, 'file.txt'), 'SECRET')
    symlinkSync(rig.outside, join(base, 'link-away'))
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const swapper = new Worker(
      `const { renameSync } = require('node:fs'); const { workerData: p, parentPort } = require('node:worker_threads')
       const flag = new Int32Array(p.flag); let swaps = 0
       while (Atomics.load(flag, 0) === 0) {
         renameSync(p.turn, p.real); renameSync(p.link, p.turn)
         renameSync(p.turn, p.link); renameSync(p.real, p.turn); swaps++
       }
       parentPort.postMessage(swaps)`,
      {
        eval: true,
        workerData: { turn: join(rig.docs, 'turn'), real: join(base, 'real'), link: join(base, 'link-away'), flag: flag.buffer },
      },
    )
    const put = async (n: number) => {
      const place = parsePath('Docs/turn/file.txt', nameFolders([rig.docs]))!
      const spot = await openSpot(place)
      try {
        const found = await findFile(spot)
        const options = { expected: found?.stats ?? null, mode: null, draft: `.draft-${n}.tmp` }
        if (n % 3 === 2 && found !== null) await removeFile(spot, found.stats)
        else await putFile(spot, Buffer.from(`written ${n}`), options)
      } finally {
        await spot.close()
      }
    }
    let written = 0
    let refused = 0
    for (let n = 0; n < 1_500 || written < 10 || refused < 10; n++) {
      await put(n).then(
        () => written++,
        (thrown: unknown) => {
          expect(thrown).toBeInstanceOf(PathRefused)
          refused++
        },
      )
    }
    const swaps = new Promise((resolve) => swapper.once('message', resolve))
    Atomics.store(flag, 0, 1)
    expect(await swaps).toBeGreaterThan(100)
    expect(readdirSync(rig.outside)).toEqual(['file.txt'])
    expect(await rig.read(join(rig.outside, 'file.txt'))).toBe('SECRET')
  })

  it("is refused for Deckhand's own folder, even inside an agent's folder", async () => {
    const rig = openFileRig()
    const { folder } = rig.domain
    await symlink(folder, join(rig.docs, 'data'))
    const folders = [dirname(folder)]
    const name = folder.split('/').at(-1)!
    for (const path of [
      `${folder}/deckhand.db`,
      `${folder}/new.txt`,
      `${dirname(folder).split('/').at(-1)}/${name}/files/x`,
      'Docs/data/new.txt',
    ]) {
      for (const [tool, args] of [
        [writeFile, { path, content: 'x', makeFolders: true }],
        [deleteFile, { path }],
        [moveTool, { from: path, to: `${dirname(folder)}/stolen` }],
      ] as const) {
        expect(await rig.call(tool, args, { folders: path.startsWith('Docs') ? [rig.docs] : folders })).toMatchObject({
          ok: false,
          output: expect.stringMatching(/closed to agents|leads out/),
        })
      }
    }
  })
})

describe('a call that the policy has allowed', () => {
  it('is not made if its file would by now run later', async () => {
    const rig = openFileRig()
    await rig.write('store/refs/main', '')
    await rig.write('store/objects/a', '')
    const args = { path: 'Docs/store/config', content: 'x' }
    const judged = await rig.facts(writeFile, args)
    expect(judged.runsLater).toBeUndefined()
    await rig.write('store/HEAD', 'ref: refs/heads/main\n')
    const signal = new AbortController().signal
    const context = { jobId: rig.job.id, agentId: 'a', callId: 'c', folders: [rig.docs], closedFolders: [], signal, journal: rig.journal }
    await expect(writeFile.run(args, { ...context, judged })).rejects.toThrow('was changed by something else just now')
    expect(existsSync(join(rig.docs, 'store/config'))).toBe(false)
  })

  it('counts as running code if it creates a HEAD, which another call could complete to a repository', async () => {
    const rig = openFileRig()
    const facts = await rig.facts(writeFile, { path: 'Docs/store/HEAD', content: 'x', makeFolders: true })
    expect(facts).toMatchObject({ runsCode: true, runsLater: true })
  })
})

describe.each(guards)('changing a file (%s)', (guard) => {
  async function spotAt(path: string, makeFolders = false) {
    const folder = await scratchFolder('Docs')
    const open = async (name: string) => {
      const spot = await openSpot(parsePath(`Docs/${name}`, nameFolders([folder.path]))!, { guard, makeFolders })
      onTestFinished(() => spot.close())
      return spot
    }
    return { folder, open, spot: await open(path) }
  }

  it('keeps its permissions; a new file is no more open than its folder', async () => {
    const { folder, open } = await spotAt('x')
    await chmod(await folder.write('run.sh', 'old'), 0o750)
    const old = await open('run.sh')
    const found = (await findFile(old))!
    await putFile(old, Buffer.from('new'), { expected: found.stats, mode: found.state.mode, draft: DRAFT })
    expect([await readFile(folder.at('run.sh'), 'utf8'), (await stat(folder.at('run.sh'))).mode & 0o7777]).toEqual(['new', 0o750])
    for (const [mode, file] of [
      [0o700, 0o600],
      [0o755, 0o644],
      [0o777, 0o644],
    ] as const) {
      await mkdir(folder.at(`d${mode}`))
      await chmod(folder.at(`d${mode}`), mode)
      await putFile(await open(`d${mode}/f`), Buffer.from('x'), { expected: null, mode: null, draft: DRAFT })
      expect((await stat(folder.at(`d${mode}/f`))).mode & 0o777).toBe(file)
    }
    expect(readdirSync(folder.path).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('fails if the file has changed since it was read', async () => {
    const { folder, open, spot } = await spotAt('new.md')
    await folder.write('old.md', 'first')
    const old = await open('old.md')
    const { stats } = (await findFile(old))!
    await folder.write('old.md', 'somebody else')
    await folder.write('new.md', 'somebody else')
    const changed = 'was changed by something else just now'
    await expect(putFile(old, Buffer.from('x'), { expected: stats, mode: null, draft: DRAFT })).rejects.toThrow(changed)
    await expect(removeFile(old, stats)).rejects.toThrow(changed)
    await expect(moveFile(old, await open('other.md'), { expected: stats, draft: DRAFT })).rejects.toThrow(changed)
    await expect(putFile(spot, Buffer.from('x'), { expected: null, mode: null, draft: DRAFT })).rejects.toThrow(changed)
    expect(readdirSync(folder.path).sort()).toEqual(['new.md', 'old.md'])
    expect(await readFile(folder.at('old.md'), 'utf8')).toBe('somebody else')
  })

  it('fails if its folder has been moved', async () => {
    const { folder, open } = await spotAt('x')
    await mkdir(folder.at('store'))
    const spot = await open('store/config')
    await rename(folder.at('store'), folder.at('.git'))
    await expect(putFile(spot, Buffer.from('x'), { expected: null, mode: null, draft: DRAFT })).rejects.toThrow()
    expect(readdirSync(folder.at('.git'))).toEqual([])
  })

  it('replaces a link that lies under the name of its draft, without following it', async () => {
    const { folder, spot } = await spotAt('new.md')
    await folder.write('victim', 'untouched')
    await symlink('victim', folder.at(DRAFT))
    await putFile(spot, Buffer.from('new'), { expected: null, mode: null, draft: DRAFT })
    expect([await readFile(folder.at('victim'), 'utf8'), await readFile(folder.at('new.md'), 'utf8')]).toEqual(['untouched', 'new'])
    expect(readdirSync(folder.path).sort()).toEqual(['new.md', 'victim'])
  })

  it('leaves the old text under another hard link', async () => {
    const { folder, open } = await spotAt('x')
    await folder.write('a', 'old')
    await link(folder.at('a'), folder.at('b'))
    const spot = await open('a')
    await putFile(spot, Buffer.from('new'), { expected: (await findFile(spot))!.stats, mode: null, draft: DRAFT })
    expect([await readFile(folder.at('a'), 'utf8'), await readFile(folder.at('b'), 'utf8')]).toEqual(['new', 'old'])
  })

  it('moves never replace a file, and finish half a move', async () => {
    const { folder, open } = await spotAt('x')
    await folder.write('a', 'content')
    await folder.write('taken', 'other')
    const [a, b, taken] = [await open('a'), await open('b'), await open('taken')]
    const { stats } = (await findFile(a))!
    await expect(moveFile(a, taken, { expected: stats, draft: DRAFT })).rejects.toThrow("There is something at 'Docs/taken' already")
    await link(folder.at('a'), folder.at('b'))
    await moveFile(a, b, { expected: stats, draft: DRAFT })
    expect(readdirSync(folder.path).sort()).toEqual(['b', 'taken'])
  })

  it('moves keep a file that has a third name when only the case of its name changes', async () => {
    const { folder, open } = await spotAt('x')
    await folder.write('a', 'content')
    await link(folder.at('a'), folder.at('elsewhere'))
    const a = await open('a')
    // As on a disk where both are one name.
    const upper = { ...(await open('A')), stat: a.stat }
    await moveFile(a, upper, { expected: (await findFile(a))!.stats, draft: DRAFT })
    expect(readdirSync(folder.path).sort()).toEqual(['A', 'elsewhere'])
  })

  it.each([
    ['beside it', () => null],
    ['on another disk', () => (existsSync('/dev/shm') ? `/dev/shm/deckhand-kept-${process.pid}-${guard}` : null)],
  ])('a move whose source cannot be removed leaves nothing at the target, %s', async (_where, otherDisk) => {
    const { folder, open } = await spotAt('x')
    await folder.write('a', 'content')
    await mkdir(folder.at('cannot-be-removed'))
    const other = otherDisk() ?? folder.at('other')
    await mkdir(other)
    onTestFinished(() => rm(other, { recursive: true }))
    const a = await open('a')
    const target = await openSpot(parsePath(`${other}/b`, nameFolders([other]))!, { guard })
    onTestFinished(() => target.close())
    let reads = 0
    // As in a folder without write permission, which root does not need: linking works, and removing does not.
    const source = Object.defineProperty({ ...a }, 'path', { get: () => (reads++ === 0 ? a.path : folder.at('cannot-be-removed')) })
    const moved = moveFile(source, target, { expected: (await findFile(a))!.stats, draft: DRAFT })
    await expect(moved).rejects.toThrow("'Docs/a'")
    expect(readdirSync(other)).toEqual([])
    expect(await readFile(folder.at('a'), 'utf8')).toBe('content')
  })

  it.runIf(existsSync('/dev/shm'))('moves to another disk completely', async () => {
    const { folder, open } = await spotAt('x')
    const other = `/dev/shm/deckhand-${process.pid}-${guard}`
    await mkdir(other)
    onTestFinished(() => rm(other, { recursive: true }))
    await chmod(await folder.write('a', 'y'.repeat(200_000)), 0o640)
    const a = await open('a')
    const target = await openSpot(parsePath(`${other}/b`, nameFolders([other]))!, { guard })
    await moveFile(a, target, { expected: (await findFile(a))!.stats, draft: DRAFT })
    await target.close()
    expect(readdirSync(folder.path)).toEqual([])
    expect(readdirSync(other)).toEqual(['b'])
    expect([await readFile(`${other}/b`, 'utf8'), (await stat(`${other}/b`)).mode & 0o777]).toEqual(['y'.repeat(200_000), 0o640])
  })

  it('creates missing folders only with makeFolders, with the permissions of their parent', async () => {
    const { folder, spot } = await spotAt('a/b/c.md', true)
    await putFile(spot, Buffer.from('x'), { expected: null, mode: null, draft: DRAFT })
    expect(await readFile(folder.at('a/b/c.md'), 'utf8')).toBe('x')
    expect((await stat(folder.at('a'))).mode & 0o777).toBe((await stat(folder.path)).mode & 0o755)
    const place = parsePath('Docs/p/q/r.md', nameFolders([folder.path]))!
    await expect(openSpot(place, { guard })).rejects.toThrow("There is no folder 'p' in 'Docs'. It is made when makeFolders is true.")
    expect(await findRealPath(place, guard)).toBe(folder.at('p/q/r.md'))
    expect(existsSync(folder.at('p'))).toBe(false)
  })

  it('names and refuses anything that is not a plain file', async () => {
    const { folder, open } = await spotAt('x')
    execFileSync('sh', ['-c', 'mkfifo "$0"', folder.at('pipe')])
    const server = createServer().listen(folder.at('socket'))
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    await mkdir(folder.at('dir'))
    await symlink('dir', folder.at('link'))
    for (const [name, sentence] of [
      ['pipe', 'is a pipe, not a file, and is left alone'],
      ['socket', 'is a socket, not a file, and is left alone'],
      ['dir', 'is a folder, not a file'],
      ['link', 'is a link, which is left alone. Name the file that it leads to'],
    ]) {
      await expect(findFile(await open(name!))).rejects.toThrow(`'Docs/${name}' ${sentence}.`)
    }
    expect(await readlink(folder.at('link'))).toBe('dir')
  })

  it('finds a file by any Unicode form of its name', async () => {
    const { folder, open } = await spotAt('x')
    await folder.write('Re\u0301sume\u0301/A\u0308.md', 'old')
    const spot = await open('R\u00e9sum\u00e9/\u00c4.md')
    const found = (await findFile(spot))!
    await putFile(spot, Buffer.from('new'), { expected: found.stats, mode: null, draft: DRAFT })
    expect(await readFile(folder.at('Re\u0301sume\u0301/A\u0308.md'), 'utf8')).toBe('new')
    expect(spot.realPath).toBe(folder.at('Re\u0301sume\u0301/A\u0308.md'))
    expect(readdirSync(folder.at('Re\u0301sume\u0301'))).toHaveLength(1)
  })
})

it('leaves no descriptor open', async () => {
  if (!existsSync('/proc/self/fd')) return
  const { rig, escapes } = await trap()
  const count = () => readdirSync('/proc/self/fd').length
  const round = async (r: FileRig) => {
    for (const path of escapes) await r.call(writeFile, { path, content: 'x', makeFolders: true })
    await r.call(writeFile, { path: 'Docs/ok.md', content: `${Math.random()}` })
  }
  await round(rig)
  const before = count()
  for (let i = 0; i < 3; i++) await round(rig)
  expect(count()).toBeLessThanOrEqual(before + 2)
  writeFileSync(join(rig.docs, 'end'), '')
})
