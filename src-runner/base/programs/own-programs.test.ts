import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratchFolder, type ScratchFolder } from '../../testing/scratch-folder.ts'
import { findBox } from '../box/find-box.ts'
import { programFolders } from '../box/launch.ts'
import { runBoxed } from '../box/run-boxed.ts'
import { seatbeltProfile } from '../box/seatbelt-profile.ts'
import { createOwnPrograms, findByName, systemPrograms, type OwnPrograms } from './own-programs.ts'

const box = await findBox()
if (!box.works) console.log(`What programs of a person find in the box is not tested here: ${box.reason}`)

type Home = ScratchFolder & {
  /** A script that says its name and where it was found. */
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

/** A home as people have them, with secrets beside every program. */
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
    ...{ path: home, at, outside: base.at('outside'), work: at('Projects/app') },
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
  // cargo: a link to a door that finds its toolchain by a variable.
  await mkdir(home.at('.rustup/update-hashes'), { recursive: true })
  await home.program(
    '.cargo/bin/rustup',
    'mkdir -p "$RUSTUP_HOME/update-hashes" && exec "$RUSTUP_HOME/toolchains/stable/bin/$(basename "$0")"',
  )
  await home.link('.cargo/bin/cargo', 'rustup')
  await home.program('.rustup/toolchains/stable/bin/cargo', 'echo "cargo of the toolchain"')
  // A link to one file of a folder that nobody knows.
  await home.program('Applications/tool-1.2/tool')
  await home.write('Applications/tool-1.2/config', 'CANARY')
  await home.link('.local/bin/tool', home.at('Applications/tool-1.2/tool'))
  return home
}

const PATHS = ['.nvm/versions/node/v22.1.0/bin', '.cargo/bin', '.local/bin']

function bookOf(home: Home, path: readonly string[], { writable = [home.work], dataDir = home.at('.deckhand') } = {}) {
  const folders = path.map((folder) => (/^[/.]*$|^\/|^\.\/|^relative/.test(folder) ? folder : home.at(folder)))
  return createOwnPrograms({
    readPath: async () => ({ folders, shell: 'zsh', problem: null }),
    writable: () => writable,
    dataDir,
    home: home.path,
  })
}
const findIn = (home: Home, path: readonly string[], more: Parameters<typeof bookOf>[2] = {}) => bookOf(home, path, more).find()
const whyOf = (home: Home, { leftOut }: OwnPrograms) =>
  Object.fromEntries(leftOut.map(({ folder, why }) => [folder.replace(`${home.path}/`, ''), why]))

const runIn = (home: Home, programs: OwnPrograms, script: string) =>
  runBoxed({ box, command: ['/bin/sh', '-c', script], folder: home.work, writable: [home.work], programs, timeoutMs: 20_000 }).ending

describe.skipIf(process.platform === 'win32')('the programs of a person', () => {
  it('are looked for where the person has them, in their order, and then where the system has its own', async () => {
    const home = await withManagers()
    const programs = await findIn(home, ['.cargo/bin', '/usr/bin', '.local/bin', '/bin'])
    expect(programs.path.slice(0, 4)).toEqual([home.at('.cargo/bin'), '/usr/bin', home.at('.local/bin'), '/bin'])
    expect(programs.path.toSorted()).toEqual([...new Set([...programFolders(), home.at('.cargo/bin'), home.at('.local/bin')])].toSorted())
    expect(programs.used).toEqual([home.at('.cargo/bin'), home.at('.local/bin')])
    expect(programs.leftOut).toEqual([])
  })

  it('bring the smallest folder along in which they run', async () => {
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
    ['the folder one is in', '.', 'relative', async () => {}],
    ['a relative one', 'relative/bin', 'relative', async () => {}],
    ['one with .. in it', '/usr/../tmp', 'relative', async () => {}],
    ['a folder of an agent', 'Projects/app/bin', 'agents_write', (home) => home.program('Projects/app/bin/git')],
    ['a folder around that of an agent', 'Projects', 'agents_write', async () => {}],
    ["Deckhand's own", '.deckhand/bin', 'closed', (home) => home.program('.deckhand/bin/git')],
    ['a folder of settings', '.config/tool/bin', 'secrets', (home) => home.program('.config/tool/bin/git')],
    ['a folder of keys', '.ssh', 'secrets', async () => {}],
    ['one that leads out of the home', 'bin', 'leads_out', (home) => home.link('bin', home.outside)],
    ['one that leads to an agent', 'bin', 'agents_write', (home) => home.link('bin', home.work)],
    ['one that leads to keys', 'bin', 'secrets', (home) => home.link('bin', '.ssh')],
    ['one that everybody can write to', 'bin', 'others_write', (home) => home.program('bin/git').then(() => chmod(home.at('bin'), 0o777))],
    ['doors without a choice', '.pyenv/shims', 'no_choice', (home) => home.program('.pyenv/shims/python3')],
    ['one that is full of other things', 'Downloads', 'not_programs', (home) => fill(home, 'Downloads', 150)],
    ['one whose links lead to hundreds of places', 'bin', 'too_much', (home) => scatter(home, 400)],
  ])('are not looked for in %s', async (_, folder, why, prepare) => {
    const home = await homeOf()
    await prepare(home)
    const programs = await bookOf(home, folder === '' ? [home.path] : folder === '/' ? [dirname(home.path)] : [folder]).find()
    expect(programs.leftOut.map((one) => one.why)).toEqual([why])
    expect(programs).toMatchObject({ path: programFolders(), shown: [], used: [] })
  })

  it('are not looked for in what is neither the home nor the system', async () => {
    const home = await homeOf()
    await home.program(join(home.outside, 'bin/git'))
    await symlink(home.at('.local/bin'), join(home.outside, 'link'))
    const programs = await findIn(home, [join(home.outside, 'bin'), join(home.outside, 'link')])
    expect(programs.leftOut.map(({ why }) => why)).toEqual(['elsewhere', 'leads_out'])
    expect(programs.path).toEqual(programFolders())
  })

  it('are not there where a folder is gone, is a file, or leads round and round', async () => {
    const home = await homeOf()
    await home.write('file')
    await home.link('a', 'b')
    await home.link('b', 'a')
    expect(await findIn(home, ['gone/bin', 'file', 'a'])).toMatchObject({ path: programFolders(), leftOut: [], shown: [] })
  })

  it('are none while an agent has the whole home', async () => {
    const home = await withManagers()
    const programs = await findIn(home, PATHS, { writable: [home.path] })
    expect(programs.used).toEqual([])
    expect(programs.shown).toEqual([])
  })

  it('are without what a rule closes to the agent', async () => {
    const home = await withManagers()
    const programs = await bookOf(home, PATHS).find([home.at('.nvm'), home.at('.local/share/pipx')])
    expect(whyOf(home, programs)).toEqual({ '.nvm/versions/node/v22.1.0/bin': 'closed' })
    expect(await findByName('black', programs)).toBeNull()
    expect(await findByName('gh', programs)).toBe(home.at('.local/bin/gh'))
  })

  it('are none that an agent could have written, whatever links lead there', async () => {
    const home = await homeOf()
    await home.program('Projects/app/evil')
    await home.link('.local/bin/helper', home.at('Projects/app/evil'))
    await home.program('.local/bin/gh')
    const programs = await findIn(home, ['.local/bin'])
    expect(await findByName('helper', programs)).toBeNull()
    expect(await findByName('gh', programs)).toBe(home.at('.local/bin/gh'))
    // Under the name of another program not even its folder is used: in the box the name itself would be found.
    await home.link('.local/bin/ls', home.at('Projects/app/evil'))
    const without = await findIn(home, ['.local/bin'])
    expect(whyOf(home, without)).toEqual({ '.local/bin': 'agents_write' })
    expect(await findByName('ls', without)).toMatch(/^\/(usr\/)?bin\/ls$/)
  })

  it('are found again when they come and go', async () => {
    const home = await homeOf()
    const book = bookOf(home, ['.local/bin'])
    expect(await findByName('black', await book.find())).toBeNull()
    await home.program('.local/share/pipx/venvs/black/bin/black')
    await home.link('.local/bin/black', '../share/pipx/venvs/black/bin/black')
    expect(await findByName('black', await book.find())).toBe(home.at('.local/bin/black'))
    await rm(home.at('.local/bin'), { recursive: true })
    expect(await findByName('black', await book.find())).toBeNull()
  })

  it('are those that mise, asdf and pyenv lead to, in place of their doors', async () => {
    const home = await homeOf()
    const [node, ruby, python] = [
      '.local/share/mise/installs/node/22.1.0/bin',
      '.asdf/installs/ruby/3.4.1/bin',
      '.pyenv/versions/3.13.1/bin',
    ]
    for (const program of [`${node}/node`, `${ruby}/ruby`, `${python}/python3`]) await home.program(program)
    for (const name of ['.local/share/mise/shims/node', '.asdf/shims/ruby', '.pyenv/shims/python3']) await home.program(name)
    await home.program('.local/bin/mise', `[ "$1" = bin-paths ] && printf '%s\\n' '${home.at(node)}' /tmp '${home.at('.ssh')}' ../x`)
    await home.write('.tool-versions', '# chosen\nruby 3.4.1 # and why\nnodejs ../../.ssh\n; rm x\n')
    await home.write('.pyenv/version', '3.13.1\n')
    const programs = await findIn(home, ['.local/share/mise/shims', '.asdf/shims', '.pyenv/shims', '.local/bin'])
    expect(programs.path.slice(0, 4)).toEqual([node, ruby, python, '.local/bin'].map((folder) => home.at(folder)))
    expect(programs.shown).not.toContain(home.at('.ssh'))
    expect(programs.leftOut).toEqual([])
  })

  it('are asked for of no door that an agent may have put there, and with none of its folders', async () => {
    const home = await homeOf()
    const [node, shims] = ['.local/share/mise/installs/node/22.1.0/bin', '.local/share/mise/shims']
    await home.program(`${node}/node`)
    await home.program(`${shims}/node`)
    await home.program('Projects/app/mise', `touch ${home.outside}/ran`)
    await home.program('Projects/app/helper', `touch ${home.outside}/ran`)
    await home.program('.local/bin/mise', `helper; echo '${home.at(node)}'`)
    await home.link('work', home.work)
    const programs = await findIn(home, [shims, 'work', 'Projects/app', '.local/bin'])
    expect(programs.used).toEqual([home.at(node), home.at('.local/bin')])
    expect(existsSync(join(home.outside, 'ran'))).toBe(false)
  })

  it('are those of Homebrew, without what its services keep', async () => {
    const home = await homeOf()
    await home.program('.linuxbrew/Cellar/gh/2.60/bin/gh')
    await home.link('.linuxbrew/bin/gh', '../Cellar/gh/2.60/bin/gh')
    await home.write('.linuxbrew/var/postgres/secrets', 'CANARY')
    await home.write('.linuxbrew/etc/my.cnf', 'CANARY')
    const programs = await findIn(home, ['.linuxbrew/bin'])
    expect(programs.shown.toSorted()).toEqual([home.at('.linuxbrew/Cellar'), home.at('.linuxbrew/bin')])
    expect(await findByName('gh', programs)).toBe(home.at('.linuxbrew/bin/gh'))
  })

  it('are known by name, the system’s among them', async () => {
    const home = await withManagers()
    const book = bookOf(home, PATHS)
    const names = await book.names(await book.find())
    expect(names.filter((name) => ['gh', 'node', 'npm', 'cargo', 'deno'].includes(name))).toEqual(['gh', 'node', 'npm', 'cargo'])
    expect(await book.names({ ...systemPrograms(), path: [] })).toEqual([])
  })

  it('are asked for once, and again when somebody wants to know', async () => {
    const home = await homeOf()
    let asked = 0
    let folder = home.at('.local/bin')
    const book = createOwnPrograms({
      readPath: async () => (asked++, { folders: [folder], shell: 'zsh', problem: null }),
      ...{ writable: () => [], dataDir: home.at('.deckhand'), home: home.path },
    })
    await Promise.all([book.find(), book.find(), book.login()])
    expect(asked).toBe(1)
    await home.program('bin/x')
    folder = home.at('bin')
    await book.refresh()
    expect((await book.find()).used).toEqual([home.at('bin')])
  })

  it('may be thousands', async () => {
    const home = await homeOf()
    await fill(home, '.local/bin', 2_000, 0o755)
    await mkdir(home.at('.nvm/versions/node/v22.1.0/bin'), { recursive: true })
    for (let i = 0; i < 2_000; i++) symlinkSync('../lib/cli.js', home.at(`.nvm/versions/node/v22.1.0/bin/tool-${i}`))
    await home.program('.nvm/versions/node/v22.1.0/lib/cli.js')
    const programs = await findIn(home, PATHS)
    expect(programs.shown.toSorted()).toEqual([home.at('.local/bin'), home.at('.nvm/versions/node/v22.1.0')])
    expect(await findByName('tool-1999', programs)).toBe(home.at('.nvm/versions/node/v22.1.0/bin/tool-1999'))
  }, 30_000)

  it('are opened to reading in a profile for Seatbelt, and what lies beside them is taken out again', async () => {
    const home = await withManagers()
    const { shown, covered } = await findIn(home, PATHS)
    const closed = covered.map(({ path }) => path)
    const lines = seatbeltProfile({ writable: [home.work], readable: shown, closed, frozen: [], temporary: '/t', network: false }).split(
      '\n',
    )
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

describe.skipIf(box.kind !== 'bubblewrap')('the programs of a person in the box', () => {
  it('run, with all that they need', async () => {
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

  it('show none of the secrets beside them', async () => {
    const home = await withManagers()
    const programs = await findIn(home, PATHS)
    for (const secret of SECRETS) expect(await readFile(home.at(secret), 'utf8')).toBe('CANARY')
    const script = `for f in ${SECRETS.map((secret) => `'${home.at(secret)}'`).join(' ')} '${home.at('Applications/tool-1.2/config')}'; do cat "$f"; done 2>/dev/null
find '${home.path}' -type f -exec grep -l CANARY {} + 2>/dev/null; ls -A '${home.at('.local/bin/notes')}' '${home.at('.config')}' '${home.at('.cargo')}' 2>/dev/null`
    const { output } = await runIn(home, programs, script)
    expect(output).not.toMatch(/CANARY|diary|hosts|config\.toml|credentials/)
    expect(output).toContain('bin\n')
  })

  it('can be changed by nothing in it', async () => {
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

  it('are found by the name that the person gives their home', async () => {
    const home = await withManagers()
    const name = join(home.outside, 'ada')
    await symlink(home.path, name)
    await home.link('.local/bin/by-name', join(name, 'Applications/tool-1.2/tool'))
    const book = createOwnPrograms({
      readPath: async () => ({ folders: [join(name, '.local/bin')], shell: 'zsh', problem: null }),
      ...{ writable: () => [home.work], dataDir: home.at('.deckhand'), home: name },
    })
    expect((await runIn(home, await book.find(), 'by-name')).output).toBe('this is Applications/tool-1.2/tool\n')
  })

  it('do not stop a command by going away while it starts', async () => {
    const home = await withManagers()
    const programs = await findIn(home, PATHS)
    await rm(home.at('.nvm'), { recursive: true })
    await rm(home.at('.local/bin/notes'), { recursive: true })
    expect((await runIn(home, programs, 'gh')).output).toBe('this is .local/bin/gh\n')
  })

  it('show no configuration, at any depth, and run without it', async () => {
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
    if (!box.works) return
    const { output } = await runIn(
      home,
      programs,
      `conda; mvn; node; grep -r CANARY '${home.path}' 2>/dev/null; find '${home.path}' -type f -exec grep -l CANARY {} + 2>/dev/null`,
    )
    expect(output).toContain('conda and its library\nthis is .sdkman/candidates/maven/3.9.9/bin/mvn\nthis is .nvm/versions')
    expect(output).not.toContain('CANARY')
  })

  it('are covered by no folder in which the command writes, and cover none', async () => {
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
