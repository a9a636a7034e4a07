import { mkdir, symlink } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { guardFolders } from './sandbox-folders.ts'

async function opened(home: string) {
  vi.stubEnv('HOME', home)
  onTestFinished(() => void vi.unstubAllEnvs())
  return guardFolders({ writable: [home], readable: [] }, [])
}

it('hides keys and logins, and nothing else, when an agent has the whole home', async () => {
  const home = await scratchFolder('home')
  const files = ['.cargo/credentials.toml', '.gem/credentials', '.m2/settings.xml', '.terraform.d/credentials.tfrc.json', '.npmrc']
  const folders = ['.ssh', '.config/gh', '.config/hub', '.local/share/uv/credentials']
  for (const file of [...files, '.cargo/config.toml', '.config/app/settings', 'letter.txt']) await home.write(file, 'x')
  for (const folder of folders) await mkdir(home.at(folder), { recursive: true })
  const { hidden, frozen } = await opened(home.path)
  const expected = [...files, ...folders].map((path) => home.at(path.startsWith('.terraform.d') ? '.terraform.d' : path))
  expect(hidden.map(({ path }) => path).sort()).toEqual(expected.sort())
  expect(hidden.find(({ path }) => path.endsWith('.npmrc'))?.kind).toBe('file')
  expect(hidden.find(({ path }) => path.endsWith('.ssh'))?.kind).toBe('folder')
  // All other hidden things of a home can be read, and not changed.
  expect(frozen.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['.cargo', '.config', '.local', '.m2'].map((name) => home.at(name))),
  )
})

it('hides keys under any spelling, in another home and behind links', async () => {
  const home = await scratchFolder('home')
  for (const path of ['backup/bo/.ssh/id', 'old/.AWS/credentials', 'dotfiles/token']) await home.write(path, 'x')
  await symlink(home.at('dotfiles/token'), home.at('.netrc'))
  const { hidden } = await opened(home.path)
  expect(hidden.map(({ path }) => path).sort()).toEqual(['backup/bo/.ssh', 'dotfiles/token', 'old/.AWS'].map((path) => home.at(path)))
})
