import { mkdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { listProgramFolders } from './program-folders.ts'

async function homeWith(folders: readonly string[]) {
  const home = await scratchFolder('ada')
  for (const folder of folders) await mkdir(home.at(folder), { recursive: true })
  const list = async (path = '') => {
    const listed = await listProgramFolders({ path: path.replaceAll('~', home.path), home: home.path })
    return listed.map((folder) => folder.replace(home.path, '~'))
  }
  return { home, list }
}

describe.skipIf(process.platform === 'win32')('the folders of programs', () => {
  it("are the person's folders of PATH, the well-known ones, and the system's, in this order", async () => {
    const { list } = await homeWith([])
    const folders = await list('/usr/bin:~/tools:/bin:~/.cargo/bin')
    expect(folders.slice(0, 3)).toEqual(['~/tools', '~/.cargo/bin', '~/.local/bin'])
    expect(folders.slice(-2)).toEqual(['/usr/bin', '/bin'])
  })

  it('include the newest version of each tool', async () => {
    const installs = ['.nvm/versions/node/v9.1.0', '.nvm/versions/node/v22.1.0', '.nvm/versions/node/v22.9.0', '.pyenv/versions/my-env']
    const more = ['.pyenv/versions/3.13.1', '.asdf/installs/ruby/3.4.1', '.asdf/installs/java/21', '.asdf/installs/java/9']
    const { list } = await homeWith([...installs, ...more])
    const found = (await list()).filter((folder) => /versions|asdf/.test(folder))
    const newest = ['.nvm/versions/node/v22.9.0', '.pyenv/versions/3.13.1', '.asdf/installs/java/21', '.asdf/installs/ruby/3.4.1']
    expect(found.toSorted()).toEqual(newest.map((folder) => `~/${folder}/bin`).toSorted())
  })

  it('hold each folder once, without shims, empty and unprintable names', async () => {
    const { list } = await homeWith([])
    const folders = await list('/a:/b::/a:/c d:/e\nf:.:~/.pyenv/shims:relative:/z')
    expect(folders.slice(-6)).toEqual(['/a', '/b', '/c d', '.', 'relative', '/z'])
    expect(folders.filter((folder) => folder.includes('shims'))).toEqual([])
  })
})
