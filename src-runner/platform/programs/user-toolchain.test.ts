import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratchFolder, type ScratchFolder } from '../../testing/scratch-folder.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { programFolders } from '../sandbox/launch.ts'
import { runSandboxed } from '../sandbox/run-sandboxed.ts'
import { seatbeltProfile } from '../sandbox/seatbelt-profile.ts'
import { createUserToolchain, findByName, systemPrograms, type UserToolchain } from './user-toolchain.ts'

const { sandbox, isMissing } = await findSandboxHere('bubblewrap')

type Home = ScratchFolder & {
  /** A script that prints its path. */
  program(path: string, script?: string): Promise<string>
  link(path: string, to: string): Promise<void>
  outside: string
  work: string
}

const SECRETS = [
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.config/gh/hosts.yml',
  '.config/mise/config.toml',
  '.npmrc',
  '.netrc',
  '.cargo/credentials.toml',
  '.cargo/config.toml',
  '.rustup/secret',
  '.volta/hooks.json',
  '.local/bin/.env',
  '.local/bin/notes/diary.txt',
  '.local/share/keyrings/login.keyring',
  '.nvm/versions/node/v22.1.0/etc/npmrc',
  '.local/share/pipx/venvs/black/pip.conf',
  'Documents/letter.txt',
]

/** A home with secrets beside every program. */
async function homeOf(): Promise<Home> {
  const base = await scratchFolder()
  const home = base.at('home/ada')
  const at = (...parts: string[]) => join(home, ...parts)
  const place = async (path: string) => {
    const full = path.startsWith('/') ? path : at(path)
    await mkdir(dirname(full), { recursive: true })
    return full
  }
  const made: Home = {
    path: home,
    at,
    outside: base.at('outside'),
    work: at('Projects/app'),
    async write(path, content = '') {
      const full = await place(path)
      await writeFile(full, content)
      return full
    },
    async program(path, script = `echo "this is ${path}"`) {
      const full = await made.write(path, `#!/bin/sh\n${script}\n`)
      await chmod(full, 0o755)
      return full
    },
    async link(path, to) {
      await symlink(to, await place(path))
    },
  }
  await mkdir(made.work, { recursive: true })
  await mkdir(made.outside, { recursive: true })
  for (const secret of SECRETS) await made.write(secret, 'CANARY')
  return made
}

async function withManagers(): Promise<Home> {
  const home = await homeOf()
  await home.program('.local/bin/gh')
  // nvm: a program that needs what lies beside its folder.
  await home.program('.nvm/versions/node/v22.1.0/bin/node', 'cat "$(dirname "$0")/../lib/words"')
  await home.write('.nvm/versions/node/v22.1.0/lib/words', 'node and its library\n')
  await home.write('.nvm/versions/node/v22.1.0/lib/node_modules/npm/bin/npm-cli.js', '#!/usr/bin/env node\n')
  await chmod(home.at('.nvm/versions/node/v22.1.0/lib/node_modules/npm/bin/npm-cli.js'), 0o755)
  await home.link('.nvm/versions/node/v22.1.0/bin/npm', '../lib/node_modules/npm/bin/npm-cli.js')
  // pipx: a link to a script, whose interpreter is a link to a Python that uv brought.
  await home.program('.local/share/uv/python/cpython-3.13/bin/python3.13', 'echo "python reads $(cat "$1" | tail -1)"')
  await home.link('.local/share/uv/python/cpython-3.13/bin/python3', 'python3.13')
  await home.link('.local/share/pipx/venvs/black/bin/python3', home.at('.local/share/uv/python/cpython-3.13/bin/python3'))
  await home.write('.local/share/pipx/venvs/black/bin/black', `#!${home.at('.local/share/pipx/venvs/black/bin/python3')}\nblack\n`)
  await chmod(home.at('.local/share/pipx/venvs/black/bin/black'), 0o755)
  await home.link('.local/bin/black', '../share/pipx/venvs/black/bin/black')
  // cargo: a link to a shim that finds its toolchain by a variable.
  await mkdir(home.at('.rustup/update-hashes'), { recursive: true })
  await home.program(
    '.cargo/bin/rustup',
    'mkdir -p "$RUSTUP_HOME/update-hashes" && exec "$RUSTUP_HOME/toolchains/stable/bin/$(basename "$0")"',
  )
  await home.link('.cargo/bin/cargo', 'rustup')
  await home.program('.rustup/toolchains/stable/bin/cargo', 'echo "cargo of the toolchain"')
  // A link to one file of an unknown folder.
  await home.program('Applications/tool-1.2/tool')
  await home.write('Applications/tool-1.2/config', 'CANARY')
  await home.link('.local/bin/tool', home.at('Applications/tool-1.2/tool'))
  return home
}

const PATHS = ['.nvm/versions/node/v22.1.0/bin', '.cargo/bin', '.local/bin']

function toolchainOf(home: Home, path: readonly string[], { writable = [home.work], dataDir = home.at('.deckhand') } = {}) {
  const folders = path.map((folder) => (/^[/.]*$|^\/|^\.\/|^relative/.test(folder) ? folder : home.at(folder)))
  return createUserToolchain({
    listFolders: async () => folders,
    writable: () => writable,
    dataDir,
    home: home.path,
  })
}
const findIn = (home: Home, path: readonly string[], more: Parameters<typeof toolchainOf>[2] = {}) => toolchainOf(home, path, more).find()
const whyOf = (home: Home, { leftOut }: UserToolchain) =>
  Object.fromEntries(leftOut.map(({ folder, why }) => [folder.replace(`${home.path}/`, ''), why]))

const runIn = (home: Home, programs: UserToolchain, script: string) =>
  runSandboxed({ sandbox, command: ['/bin/sh', '-c', script], folder: home.work, writable: [home.work], programs, timeoutMs: 20_000 })
    .outcome

describe.skipIf(process.platform === 'win32')('the user toolchain', () => {
  it('keeps the order of PATH and adds the system folders', async () => {
    const home = await withManagers()
    const programs = await findIn(home, ['.cargo/bin', '/usr/bin', '.local/bin', '/bin'])
    expect(programs.path.slice(0, 4)).toEqual([home.at('.cargo/bin'), '/usr/bin', home.at('.local/bin'), '/bin'])
    expect(programs.path.toSorted()).toEqual([...new Set([...programFolders(), home.at('.cargo/bin'), home.at('.local/bin')])].toSorted())
    expect(programs.used).toEqual([home.at('.cargo/bin'), home.at('.local/bin')])
    expect(programs.leftOut).toEqual([])
  })

  it('shows the smallest folder in which each program runs', async () => {
    const home = await withManagers()
    const { shown, env } = await findIn(home, PATHS)
    const places = [
      '.cargo/bin',
      '.local/bin',
      '.local/share/pipx/venvs/black',
      '.local/share/uv/python/cpython-3.13',
      '.nvm/versions/node/v22.1.0',
      '.rustup/toolchains',
      '.rustup/update-hashes',
      'Applications/tool-1.2/tool',
    ]
    expect(shown.toSorted()).toEqual(places.map((place) => home.at(place)))
    expect(env).toEqual({ RUSTUP_HOME: home.at('.rustup') })
  })

  it.each<[string, string, string, (home: Home) => Promise<unknown>]>([
    ['the home itself', '', 'home_itself', async () => {}],
    ['a folder around the home', '/', 'home_itself', async () => {}],
    ['the current folder', '.', 'relative', async () => {}],
    ['a relative path', 'relative/bin', 'relative', async () => {}],
    ['a path with ..', '/usr/../tmp', 'relative', async () => {}],
    ["an agent's folder", 'Projects/app/bin', 'agents_write', (home) => home.program('Projects/app/bin/git')],
    ["a folder around an agent's folder", 'Projects', 'agents_write', async () => {}],
    ["Deckhand's data", '.deckhand/bin', 'closed', (home) => home.program('.deckhand/bin/git')],
    ['a folder of settings', '.config/tool/bin', 'secrets', (home) => home.program('.config/tool/bin/git')],
    ['a folder of keys', '.ssh', 'secrets', async () => {}],
    ['a link out of the home', 'bin', 'leads_out', (home) => home.link('bin', home.outside)],
    ["a link to an agent's folder", 'bin', 'agents_write', (home) => home.link('bin', home.work)],
    ['a link to keys', 'bin', 'secrets', (home) => home.link('bin', '.ssh')],
    [
      'a folder that everybody can write to',
      'bin',
      'others_write',
      (home) => home.program('bin/git').then(() => chmod(home.at('bin'), 0o777)),
    ],
    ['a folder full of other files', 'Downloads', 'not_programs', (home) => fill(home, 'Downloads', 150)],
    ['a folder with links to hundreds of places', 'bin', 'too_much', (home) => scatter(home, 400)],
  ])('leaves out %s', async (_, folder, why, prepare) => {
    const home = await homeOf()
    await prepare(home)
    const programs = await toolchainOf(home, folder === '' ? [home.path] : folder === '/' ? [dirname(home.path)] : [folder]).find()
    expect(programs.leftOut.map((one) => one.why)).toEqual([why])
    expect(programs).toMatchObject({ path: programFolders(), shown: [], used: [] })
  })

  it('leaves out folders outside the home and the system', async () => {
    const home = await homeOf()
    await home.program(join(home.outside, 'bin/git'))
    await symlink(home.at('.local/bin'), join(home.outside, 'link'))
    const programs = await findIn(home, [join(home.outside, 'bin'), join(home.outside, 'link')])
    expect(programs.leftOut.map(({ why }) => why)).toEqual(['elsewhere', 'leads_out'])
    expect(programs.path).toEqual(programFolders())
  })

  it('ignores a missing folder, a file and a link loop', async () => {
    const home = await homeOf()
    await home.write('file')
    await home.link('a', 'b')
    await home.link('b', 'a')
    expect(await findIn(home, ['gone/bin', 'file', 'a'])).toMatchObject({ path: programFolders(), leftOut: [], shown: [] })
  })

  it('is empty while an agent has the whole home', async () => {
    const home = await withManagers()
    const programs = await findIn(home, PATHS, { writable: [home.path] })
    expect(programs.used).toEqual([])
    expect(programs.shown).toEqual([])
  })

  it('leaves out what a rule closes to the agent', async () => {
    const home = await withManagers()
    const programs = await toolchainOf(home, PATHS).find([home.at('.nvm'), home.at('.local/share/pipx')])
    expect(whyOf(home, programs)).toEqual({ '.nvm/versions/node/v22.1.0/bin': 'closed' })
    expect(await findByName('black', programs)).toBeNull()
    expect(await findByName('gh', programs)).toBe(home.at('.local/bin/gh'))
  })

  it('starts no program that an agent could have written', async () => {
    const home = await homeOf()
    await home.program('Projects/app/evil')
    await home.link('.local/bin/helper', home.at('Projects/app/evil'))
    await home.program('.local/bin/gh')
    const programs = await findIn(home, ['.local/bin'])
    expect(await findByName('helper', programs)).toBeNull()
    expect(await findByName('gh', programs)).toBe(home.at('.local/bin/gh'))
    // If it has the name of another program, its folder is left out, since the sandbox would find that name.
    await home.link('.local/bin/ls', home.at('Projects/app/evil'))
    const without = await findIn(home, ['.local/bin'])
    expect(whyOf(home, without)).toEqual({ '.local/bin': 'agents_write' })
    expect(await findByName('ls', without)).toMatch(/^\/(usr\/)?bin\/ls$/)
  })

  it('notices programs that come and go', async () => {
    const home = await homeOf()
    const toolchain = toolchainOf(home, ['.local/bin'])
    expect(await findByName('black', await toolchain.find())).toBeNull()
    await home.program('.local/share/pipx/venvs/black/bin/black')
    await home.link('.local/bin/black', '../share/pipx/venvs/black/bin/black')
    expect(await findByName('black', await toolchain.find())).toBe(home.at('.local/bin/black'))
    await rm(home.at('.local/bin'), { recursive: true })
    expect(await findByName('black', await toolchain.find())).toBeNull()
  })

  it('shows Homebrew without the data of its services', async () => {
    const home = await homeOf()
    await home.program('.linuxbrew/Cellar/gh/2.60/bin/gh')
    await home.link('.linuxbrew/bin/gh', '../Cellar/gh/2.60/bin/gh')
    await home.write('.linuxbrew/var/postgres/secrets', 'CANARY')
    await home.write('.linuxbrew/etc/my.cnf', 'CANARY')
    const programs = await findIn(home, ['.linuxbrew/bin'])
    expect(programs.shown.toSorted()).toEqual([home.at('.linuxbrew/Cellar'), home.at('.linuxbrew/bin')])
    expect(await findByName('gh', programs)).toBe(home.at('.linuxbrew/bin/gh'))
  })

  it('lists well-known programs', async () => {
    const home = await withManagers()
    const toolchain = toolchainOf(home, PATHS)
    const names = await toolchain.names(await toolchain.find())
    expect(names.filter((name) => ['gh', 'node', 'npm', 'cargo', 'deno'].includes(name))).toEqual(['gh', 'node', 'npm', 'cargo'])
    expect(await toolchain.names({ ...systemPrograms(), path: [] })).toEqual([])
  })

  it('handles thousands of programs', async () => {
    const home = await homeOf()
    await fill(home, '.local/bin', 2_000, 0o755)
    await mkdir(home.at('.nvm/versions/node/v22.1.0/bin'), { recursive: true })
    for (let i = 0; i < 2_000; i++) symlinkSync('../lib/cli.js', home.at(`.nvm/versions/node/v22.1.0/bin/tool-${i}`))
    await home.program('.nvm/versions/node/v22.1.0/lib/cli.js')
    const programs = await findIn(home, PATHS)
    expect(programs.shown.toSorted()).toEqual([home.at('.local/bin'), home.at('.nvm/versions/node/v22.1.0')])
    expect(await findByName('tool-1999', programs)).toBe(home.at('.nvm/versions/node/v22.1.0/bin/tool-1999'))
  })

  it('is readable in a Seatbelt profile, without the files beside the programs', async () => {
    const home = await withManagers()
    const { shown, covered } = await findIn(home, PATHS)
    const closed = covered.map(({ path }) => path)
    const lines = seatbeltProfile({ writable: [home.work], readable: shown, closed, frozen: [], temporary: '/t', proxy: null }).split('\n')
    const read = lines.find((line) => line.startsWith('(allow file-read* (subpath'))!
    expect(read).toContain(`(subpath "${home.at('.nvm/versions/node/v22.1.0')}")`)
    for (const place of ['', '.cargo', '.rustup', '.local', '.local/share', '.nvm', 'Applications', 'Applications/tool-1.2', '.ssh'])
      expect(read).not.toContain(`(subpath "${join(home.path, place)}")`)
    expect(lines.find((line) => line.startsWith('(allow file-write*'))).not.toMatch(/\.nvm|\.local|\.cargo/)
    const denied = lines.findIndex((line) => line.startsWith('(deny file-read* file-write*'))
    expect(denied).toBeGreaterThan(lines.indexOf(read))
    for (const place of ['.local/bin/.env', '.local/bin/notes', '.nvm/versions/node/v22.1.0/etc/npmrc'])
      expect(lines[denied]).toContain(`(subpath "${home.at(place)}")`)
  })
})

describe.skipIf(isMissing)('the user toolchain in the sandbox', () => {
  it('runs with everything it needs', async () => {
    const home = await withManagers()
    const { output } = await runIn(home, await findIn(home, PATHS), 'gh; node; black; cargo; tool; command -v npm')
    expect(output.split('\n')).toEqual([
      'this is .local/bin/gh',
      'node and its library',
      'python reads black',
      'cargo of the toolchain',
      'this is Applications/tool-1.2/tool',
      home.at('.nvm/versions/node/v22.1.0/bin/npm'),
      '',
    ])
  })

  it('shows no secret beside the programs', async () => {
    const home = await withManagers()
    const programs = await findIn(home, PATHS)
    for (const secret of SECRETS) expect(await readFile(home.at(secret), 'utf8')).toBe('CANARY')
    const script = `for f in ${SECRETS.map((secret) => `'${home.at(secret)}'`).join(' ')} '${home.at('Applications/tool-1.2/config')}'; do cat "$f"; done 2>/dev/null
find '${home.path}' -type f -exec grep -l CANARY {} + 2>/dev/null; ls -A '${home.at('.local/bin/notes')}' '${home.at('.config')}' '${home.at('.cargo')}' 2>/dev/null`
    const { output } = await runIn(home, programs, script)
    expect(output).not.toMatch(/CANARY|diary|hosts|config\.toml|credentials/)
    expect(output).toContain('bin\n')
  })

  it('cannot be changed', async () => {
    const home = await withManagers()
    const places = [
      '.local/bin/gh',
      '.nvm/versions/node/v22.1.0/bin/node',
      '.rustup/toolchains/stable/bin/cargo',
      'Applications/tool-1.2/tool',
    ]
    const script = places
      .map((place) => `echo evil > '${home.at(place)}'; rm -f '${home.at(place)}'; mv '${dirname(home.at(place))}' '${home.work}/x'`)
      .join('\n')
    await runIn(home, await findIn(home, PATHS), `${script}\nln -s /bin/false '${home.at('.local/bin/planted')}'; true`)
    for (const place of places) expect(await readFile(home.at(place), 'utf8')).toContain('#!/bin/sh')
    expect(existsSync(home.at('.local/bin/planted'))).toBe(false)
  })

  it('works when the home is a link', async () => {
    const home = await withManagers()
    const name = join(home.outside, 'ada')
    await symlink(home.path, name)
    await home.link('.local/bin/by-name', join(name, 'Applications/tool-1.2/tool'))
    const toolchain = createUserToolchain({
      listFolders: async () => [join(name, '.local/bin')],
      writable: () => [home.work],
      dataDir: home.at('.deckhand'),
      home: name,
    })
    expect((await runIn(home, await toolchain.find(), 'by-name')).output).toBe('this is Applications/tool-1.2/tool\n')
  })

  it('does not fail a command when a program disappears', async () => {
    const home = await withManagers()
    const programs = await findIn(home, PATHS)
    await rm(home.at('.nvm'), { recursive: true })
    await rm(home.at('.local/bin/notes'), { recursive: true })
    expect((await runIn(home, programs, 'gh')).output).toBe('this is .local/bin/gh\n')
  })

  it('shows no configuration at any depth', async () => {
    const home = await homeOf()
    const deep = [
      'miniconda3/.condarc',
      'miniconda3/conda-meta/state',
      'miniconda3/envs/a/conda-meta/state',
      'miniconda3/envs/a/etc/conda/activate.d/env_vars.sh',
      'miniconda3/envs/a/etc/conda/env_vars.d/aws.json',
      'miniconda3/envs/a/pip.conf',
      'miniconda3/etc/jupyter/jupyter_server_config.json',
      'miniconda3/envs/a/share/jupyter_notebook_config.py',
      'miniconda3/pkgs/token-1.0/info/token',
      '.sdkman/candidates/maven/3.9.9/conf/settings.xml',
      '.volta/tools/image/node/22.1.0/etc/npmrc',
      '.nvm/versions/node/v22.1.0/lib/node_modules/npm/npmrc',
      '.nvm/versions/node/v22.1.0/lib/node_modules/x/y/z/.npmrc',
      '.nvm/versions/node/v22.1.0/lib/.NETRC',
      '.nvm/versions/node/v22.1.0/lib/.aws/credentials',
    ]
    for (const path of deep) await home.write(path, 'CANARY')
    await symlink('pip.conf', home.at('miniconda3/envs/a/settings.link'))
    await home.program('miniconda3/bin/conda', 'cat "$(dirname "$0")/../lib/words"')
    await home.write('miniconda3/lib/words', 'conda and its library\n')
    await home.program('.sdkman/candidates/maven/3.9.9/bin/mvn')
    await home.program('.nvm/versions/node/v22.1.0/bin/node')
    await home.program('.volta/bin/volta')
    const path = ['miniconda3/bin', '.sdkman/candidates/maven/3.9.9/bin', '.nvm/versions/node/v22.1.0/bin', '.volta/bin']
    const programs = await findIn(home, path)
    expect(programs.used).toEqual(path.map((folder) => home.at(folder)))
    const { output } = await runIn(
      home,
      programs,
      `conda; mvn; node; grep -r CANARY '${home.path}' 2>/dev/null; find '${home.path}' -type f -exec grep -l CANARY {} + 2>/dev/null`,
    )
    expect(output).toContain('conda and its library\nthis is .sdkman/candidates/maven/3.9.9/bin/mvn\nthis is .nvm/versions')
    expect(output).not.toContain('CANARY')
  })

  it('does not overlap the folder of the command', async () => {
    const home = await withManagers()
    const programs = { ...(await findIn(home, PATHS)), shown: [home.path, home.at('.local/bin')] }
    const { output } = await runIn(home, programs, `echo mine > here; cat '${home.at('.ssh/id_ed25519')}'; gh`)
    expect(output).not.toContain('CANARY')
    expect(output).toContain('this is .local/bin/gh')
    expect(await readFile(join(home.work, 'here'), 'utf8')).toBe('mine\n')
  })
})

async function fill(home: Home, folder: string, count: number, mode = 0o644): Promise<void> {
  await mkdir(home.at(folder), { recursive: true })
  for (let i = 0; i < count; i++) writeFileSync(home.at(folder, `file-${i}`), '', { mode })
}

async function scatter(home: Home, count: number): Promise<void> {
  await mkdir(home.at('bin'))
  for (let i = 0; i < count; i++) {
    mkdirSync(home.at(`things/${i}`), { recursive: true })
    writeFileSync(home.at(`things/${i}/run`), '', { mode: 0o755 })
    symlinkSync(`../things/${i}/run`, home.at(`bin/run-${i}`))
  }
}
