import { mkdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { protectedPlaces } from './box-folders.ts'

it('hides keys and logins of programs where an agent was given the whole home, and nothing beside them', async () => {
  const home = await scratchFolder('home')
  const files = ['.cargo/credentials.toml', '.gem/credentials', '.m2/settings.xml', '.terraform.d/credentials.tfrc.json', '.npmrc']
  const folders = ['.ssh', '.config/gh', '.config/hub', '.local/share/uv/credentials']
  for (const file of [...files, '.cargo/config.toml', '.config/app/settings', 'letter.txt']) await home.write(file, 'x')
  for (const folder of folders) await mkdir(home.at(folder), { recursive: true })
  const { hidden } = await protectedPlaces([home.path], [], home.path)
  expect(new Map(hidden.map(({ path, kind }) => [path, kind]))).toEqual(
    new Map([...files.map((path) => [home.at(path), 'file']), ...folders.map((path) => [home.at(path), 'folder'])] as [string, string][]),
  )
})
