import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { scratchFolder, type ScratchFolder } from '../../testing/scratch-folder.ts'
import { readLoginPath } from './login-path.ts'
import { createUserToolchain } from './user-toolchain.ts'

const BASH = '/bin/bash'

/** A home whose shell creates a file when it starts. */
async function homeOf(): Promise<ScratchFolder & { ask(folders: readonly string[]): Promise<boolean> }> {
  const base = await scratchFolder()
  const home = base.at('home/ada')
  const trace = base.at('ran')
  await base.write('home/ada/.bash_profile', `touch '${trace}'\n`)
  vi.stubEnv('HOME', home)
  vi.stubEnv('SHELL', BASH)
  onTestFinished(() => void vi.unstubAllEnvs())
  return {
    path: home,
    at: (...parts) => [home, ...parts].join('/'),
    write: (path, content) => base.write(`home/ada/${path}`, content),
    async ask(folders) {
      const programs = createUserToolchain({ readPath: readLoginPath, writable: () => folders, dataDir: base.at('data'), home })
      await programs.find()
      return existsSync(trace)
    },
  }
}

describe.skipIf(!existsSync(BASH))("the person's shell", () => {
  it('is started when no agent can write what it reads', async () => {
    const home = await homeOf()
    await home.write('Projects/app/a')
    expect(await home.ask([home.at('Projects/app')])).toBe(true)
  })

  it.each<[string, (home: ScratchFolder) => Promise<string>]>([
    ['the home', async (home) => home.path],
    ['the folder around the home', async (home) => home.at('..')],
    ['a hidden folder of the home', async (home) => (await home.write('.oh-my-zsh/custom/a'), home.at('.oh-my-zsh/custom'))],
    ['the system folders', async () => '/etc'],
    [
      'the target of a link in the home',
      async (home) => (await symlink(await home.write('dotfiles/bashrc', ''), home.at('.bashrc')), home.at('dotfiles')),
    ],
    [
      'a folder that a start-up file names',
      async (home) => (await home.write('.profile', '. ~/tools/env.sh\n'), await home.write('tools/env.sh'), home.at('tools')),
    ],
    [
      'a folder that a start-up file names by a variable',
      async (home) => (await home.write('.bashrc', 'export PATH="$HOME/tools:$PATH"\n'), await home.write('tools/git'), home.at('tools')),
    ],
    [
      'a folder that an environment variable names',
      async (home) => (await home.write('zsh/.zshrc'), vi.stubEnv('ZDOTDIR', home.at('zsh')), home.at('zsh')),
    ],
  ])('is not started when an agent can write to %s', async (_, prepare) => {
    const home = await homeOf()
    expect(await home.ask([await prepare(home)])).toBe(false)
  })
})
