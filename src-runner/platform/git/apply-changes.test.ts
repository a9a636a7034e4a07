import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { chmod, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createGitRig } from '../../testing/git-rig.ts'
import type { Misfit } from './apply-changes.ts'

/** A branch with every kind of change, and what is needed to apply it. */
async function createApplyRig() {
  const rig = await createGitRig()
  await rig.write('bin/tool', '#!/bin/sh\n')
  rig.gitIn('add', '--all')
  rig.gitIn('commit', '--quiet', '-m', 'More')
  const base = rig.head()
  const task = await rig.addTask('job-1', base)
  const apply = async (of = task) => rig.git.applyTo({ repository: rig.repository, base, commit: rig.gitIn('rev-parse', of.branch) })
  const read = (path: string) => readFileSync(join(rig.repository, path), 'utf8')
  return { ...rig, base, task, apply, read }
}

async function changeAll(task: Task) {
  await task.write('README.md', task.read('README.md').replace('Two.', '2.'))
  await rename(task.at('src/old.ts'), task.at('src/renamed.ts'))
  await rm(task.at('src/main.ts'))
  await task.write('docs/deep/new.md', 'new\n')
  await task.write('picture.png', Buffer.from([0x89, 0, 1]))
  await chmod(task.at('bin/tool'), 0o755)
  symlinkSync('README.md', task.at('link'))
}

describe('applying a branch to the checkout', () => {
  test('brings all kinds of changes, and leaves the index and other changes of the person', async () => {
    const rig = await createApplyRig()
    await changeAll(rig.task)
    await rig.task.commit()
    await rig.write('mine.txt', 'mine\n')
    await rig.write('staged.txt', 'staged\n')
    rig.gitIn('add', 'staged.txt')
    // The same file, elsewhere.
    await rig.write('README.md', `${rig.read('README.md')}Eight.\n`)
    const index = readFileSync(join(rig.repository, '.git/index'))

    expect(await rig.apply()).toEqual({ is: 'applied', files: 8 })
    expect(rig.read('README.md')).toBe('# Project\n\nOne.\n2.\nThree.\nFour.\nFive.\nSix.\nSeven.\nEight.\n')
    expect(existsSync(join(rig.repository, 'src/old.ts'))).toBe(false)
    expect(existsSync(join(rig.repository, 'src/main.ts'))).toBe(false)
    expect(rig.read('src/renamed.ts')).toContain('export const old')
    expect(rig.read('docs/deep/new.md')).toBe('new\n')
    expect(readFileSync(join(rig.repository, 'picture.png'))).toEqual(Buffer.from([0x89, 0, 1]))
    expect(lstatSync(join(rig.repository, 'bin/tool')).mode & 0o111).toBe(0o111)
    expect(readlinkSync(join(rig.repository, 'link'))).toBe('README.md')
    expect(rig.read('mine.txt')).toBe('mine\n')
    expect(readFileSync(join(rig.repository, '.git/index'))).toEqual(index)

    const after = rig.snapshot(rig.repository)
    expect(await rig.apply()).toEqual({ is: 'applied', files: 0 })
    expect(rig.snapshot(rig.repository)).toEqual(after)
  })

  test('completes an interrupted call', async () => {
    const rig = await createApplyRig()
    await changeAll(rig.task)
    await rig.task.commit()
    // It ended after some of its steps.
    await rig.write('.git/deckhand-apply-0123/0', 'half')
    await rig.write('docs/deep/new.md', 'new\n')
    await rm(join(rig.repository, 'src/main.ts'))
    expect(await rig.apply()).toEqual({ is: 'applied', files: 6 })
    expect(rig.read('src/renamed.ts')).toContain('export const old')
    expect(existsSync(join(rig.repository, '.git/deckhand-apply-0123'))).toBe(false)
  })

  test.each<[string, (rig: ApplyRig) => unknown, string, string]>([
    ['the same lines were changed', (rig) => rig.write('README.md', rig.read('README.md').replace('Two.', 'II.')), 'README.md', 'changed'],
    ['a changed file was deleted', (rig) => rm(join(rig.repository, 'README.md')), 'README.md', 'deleted'],
    ['a deleted file was changed', (rig) => rig.write('src/main.ts', 'mine\n'), 'src/main.ts', 'changed'],
    ['another file is where a new one goes', (rig) => rig.write('docs/deep/new.md', 'mine\n'), 'docs/deep/new.md', 'exists'],
    ['a folder is where a new file goes', (rig) => rig.write('picture.png/mine', 'mine\n'), 'picture.png', 'exists'],
    ['a file is where a new folder goes', (rig) => rig.write('docs', 'mine\n'), 'docs/deep/new.md', 'exists'],
    ['another link is where a new one goes', (rig) => symlinkSync('src', join(rig.repository, 'link')), 'link', 'exists'],
    [
      'a folder on the way is a link',
      (rig) => {
        mkdirSync(rig.scratch.at('elsewhere'))
        symlinkSync(rig.scratch.at('elsewhere'), join(rig.repository, 'docs'))
      },
      'docs/deep/new.md',
      'through_a_link',
    ],
  ])('changes nothing when %s', async (_, change, path, why) => {
    const rig = await createApplyRig()
    await changeAll(rig.task)
    await rig.task.commit()
    await change(rig)
    const before = rig.snapshot(rig.scratch.path)
    expect(await rig.apply()).toEqual({ is: 'refused', misfits: [{ path, why }] })
    expect(rig.snapshot(rig.scratch.path)).toEqual(before)
  })

  /** A task that changed these files of the last commit. */
  async function createSwapRig(files: Record<string, string | { linkTo: string }>, change: (task: Task) => Promise<unknown>) {
    const rig = await createGitRig()
    for (const [path, file] of Object.entries(files)) {
      await rig.write(path, typeof file === 'string' ? file : '')
      if (typeof file === 'string') continue
      await rm(join(rig.repository, path))
      symlinkSync(file.linkTo, join(rig.repository, path))
    }
    rig.gitIn('add', '--all')
    rig.gitIn('commit', '--quiet', '-m', 'More')
    const base = rig.head()
    const task = await rig.addTask('job-1', base)
    await change(task)
    const { commit } = await task.commit()
    return { ...rig, at: (path: string) => join(rig.repository, path), apply: () => rig.git.applyTo({ ...task, base, commit }) }
  }
  const FOLDER = { 'lib/util/a': 'a\n', 'lib/util/deep/b': 'b\n' }
  const toFile = async (task: Task) => {
    await rm(task.at('lib/util'), { recursive: true })
    await task.write('lib/util', 'util\n')
  }
  const toLink = async (task: Task) => {
    await rm(task.at('lib/util'), { recursive: true })
    symlinkSync('../src', task.at('lib/util'))
  }
  const toFolder = async (task: Task) => {
    await rm(task.at('lib/util'))
    for (const [path, text] of Object.entries(FOLDER)) await task.write(path, text)
  }

  test.each<[string, Record<string, string | { linkTo: string }>, (task: Task) => Promise<unknown>, string]>([
    ['a folder in the place of a file', { 'lib/util': 'util\n' }, toFolder, 'lib/util/deep/b'],
    ['a folder in the place of a link', { 'lib/util': { linkTo: '../src' } }, toFolder, 'lib/util/deep/b'],
    ['a file in the place of a folder', FOLDER, toFile, 'lib/util'],
    ['a link in the place of a folder', FOLDER, toLink, 'lib/util/main.ts'],
  ])('brings %s', async (_, files, change, path) => {
    const rig = await createSwapRig(files, change)
    expect(await rig.apply()).toEqual({ is: 'applied', files: 3 })
    expect(existsSync(rig.at(path))).toBe(true)
    const after = rig.snapshot(rig.repository)
    expect(await rig.apply()).toEqual({ is: 'applied', files: 0 })
    expect(rig.snapshot(rig.repository)).toEqual(after)
  })

  test('brings a file in the place of a folder whose files a call before this one has deleted', async () => {
    const rig = await createSwapRig(FOLDER, toFile)
    for (const path of Object.keys(FOLDER)) await rm(rig.at(path))
    expect(await rig.apply()).toEqual({ is: 'applied', files: 1 })
    expect(readFileSync(rig.at('lib/util'), 'utf8')).toBe('util\n')
  })

  test.each<[string, Record<string, string>, (task: Task) => Promise<unknown>, string, Misfit[]]>([
    ['the folder that becomes a file has another one', FOLDER, toFile, 'lib/util/mine', [{ path: 'lib/util', why: 'exists' }]],
    [
      'the file that becomes a folder was changed',
      { 'lib/util': 'util\n' },
      toFolder,
      'lib/util',
      [
        { path: 'lib/util', why: 'changed' },
        { path: 'lib/util/a', why: 'exists' },
        { path: 'lib/util/deep/b', why: 'exists' },
      ],
    ],
  ])('changes nothing when %s', async (_, files, change, path, misfits) => {
    const rig = await createSwapRig(files, change)
    await rig.write(path, 'mine\n')
    const before = rig.snapshot(rig.scratch.path)
    expect(await rig.apply()).toEqual({ is: 'refused', misfits })
    expect(rig.snapshot(rig.scratch.path)).toEqual(before)
  })

  test('lets a binary file be replaced only as it was', async () => {
    const rig = await createApplyRig()
    await rig.write('image.bin', Buffer.from([0, 1]))
    rig.gitIn('add', '--all')
    rig.gitIn('commit', '--quiet', '-m', 'Image')
    const base = rig.head()
    const task = await rig.addTask('job-2', base)
    await task.write('image.bin', Buffer.from([0, 2]))
    const { commit } = await task.commit()
    await rig.write('image.bin', Buffer.from([0, 3]))
    expect(await rig.git.applyTo({ ...task, base, commit })).toEqual({ is: 'refused', misfits: [{ path: 'image.bin', why: 'changed' }] })
    await rig.write('image.bin', Buffer.from([0, 1]))
    expect(await rig.git.applyTo({ ...task, base, commit })).toEqual({ is: 'applied', files: 1 })
  })

  test('brings two tasks into the same file, and refuses the second if they changed the same lines', async () => {
    const rig = await createApplyRig()
    const second = await rig.addTask('job-2', rig.base)
    const third = await rig.addTask('job-3', rig.base)
    await rig.task.write('README.md', rig.task.read('README.md').replace('One.', '1.'))
    await second.write('README.md', second.read('README.md').replace('Seven.', '7.'))
    await third.write('README.md', third.read('README.md').replace('One.', 'I.'))
    for (const task of [rig.task, second, third]) await task.commit()
    const [one, two] = await Promise.all([rig.apply(), rig.apply(second)])
    expect([one, two]).toEqual([{ is: 'applied', files: 1 }, { is: 'applied', files: 1 }]) // prettier-ignore
    expect(await rig.apply(third)).toEqual({ is: 'refused', misfits: [{ path: 'README.md', why: 'changed' }] })
    expect(rig.read('README.md')).toBe('# Project\n\n1.\nTwo.\nThree.\nFour.\nFive.\nSix.\n7.\n')
    expect(await rig.apply()).toEqual({ is: 'applied', files: 0 })
  })

  test('applies to whatever branch is checked out, if it fits', async () => {
    const rig = await createApplyRig()
    await rig.task.write('src/main.ts', 'export const answer = 42\n')
    await rig.task.commit()
    rig.gitIn('checkout', '--quiet', '-b', 'other')
    await rig.write('README.md', 'other\n')
    rig.gitIn('commit', '--quiet', '--all', '-m', 'Other')
    expect(await rig.apply()).toEqual({ is: 'applied', files: 1 })
    expect(rig.gitIn('status', '--porcelain')).toBe('M src/main.ts')
  })

  test('keeps the line ends of a checkout that has others than the commit', async () => {
    const rig = await createApplyRig()
    const withCr = (text: string) => text.replaceAll('\n', '\r\n')
    await rig.task.write('README.md', rig.task.read('README.md').replace('One.', '1.'))
    await rig.task.write('src/main.ts', 'export const answer = 42\n')
    await rig.task.commit()
    await rig.write('src/main.ts', withCr(rig.read('src/main.ts')))
    await rig.write('README.md', withCr(rig.read('README.md').replace('Seven.', '7.')))
    expect(await rig.apply()).toEqual({ is: 'applied', files: 2 })
    expect(rig.read('src/main.ts')).toBe('export const answer = 42\r\n')
    expect(rig.read('README.md')).toBe(withCr('# Project\n\n1.\nTwo.\nThree.\nFour.\nFive.\nSix.\n7.\n'))
    expect(await rig.apply()).toEqual({ is: 'applied', files: 0 })
  })

  test.each([
    ['out of the repository', '../outside'],
    ['to an absolute path', '/etc/passwd'],
    ['into .git', 'src/../.git/hooks'],
  ])('refuses a new link that leads %s', async (_, target) => {
    const rig = await createApplyRig()
    symlinkSync(target, rig.task.at('link'))
    await rig.task.commit()
    expect(await rig.apply()).toEqual({ is: 'refused', misfits: [{ path: 'link', why: 'link_leads_out' }] })
    expect(existsSync(join(rig.repository, 'link'))).toBe(false)
  })

  test('says that the repository is gone', async () => {
    const rig = await createApplyRig()
    await rename(rig.repository, `${rig.repository}-moved`)
    await expect(rig.git.applyTo({ repository: rig.repository, base: rig.base, commit: rig.base })).rejects.toMatchObject({
      trouble: 'no_repository',
    })
  })
})

type ApplyRig = Awaited<ReturnType<typeof createApplyRig>>
type Task = ApplyRig['task']
