import { link, symlink } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { findProtected } from './find-protected.ts'

describe('the search for protected places', () => {
  it('says when it was cut, and finds what lies behind many files without a limit', async () => {
    const work = await scratchFolder('Work')
    for (let at = 0; at < 60; at++) await work.write(`vendor/a/${at}`)
    await work.write('vendor/z/zz/y/.git/config')
    expect((await findProtected(work.path, 100)).isCut).toBe(false)
    expect((await findProtected(work.path, 10)).isCut).toBe(true)
    expect([...(await findProtected(work.path, Infinity)).places.keys()]).toContain(work.at('vendor/z/zz/y/.git/config'))
  })
  it('finds secrets inside code places', async () => {
    const work = await scratchFolder('disk')
    for (const path of ['.codex/auth.json', '.config/git/credentials']) await work.write(path)
    const { places } = await findProtected(work.path, 100)
    for (const path of ['.codex/auth.json', '.config/git/credentials']) expect(places.get(work.at(path))?.is).toBe('secret')
  })
  it('reads files with several names in code places only, and no objects of repositories', async () => {
    const work = await scratchFolder('Work')
    const [outside, all] = [await scratchFolder('Far'), ['.vscode/deep/tasks.json', '.hg/hgrc', '.hg/store/data/a.i', 'src/a', '.envrc']]
    for (const path of all) {
      await work.write(path)
      await link(work.at(path), work.at(`other${path.replaceAll('/', '-')}`))
    }
    await link(await outside.write('a'), outside.at('b'))
    await symlink(outside.path, work.at('.idea'))
    await symlink('.', work.at('.zed'))
    expect(Object.keys((await findProtected(work.path, 100)).shared).toSorted()).toEqual(
      ['.envrc', '.hg/hgrc', '.vscode/deep/tasks.json'].map((path) => work.at(path)),
    )
  })
})
