import { mkdir, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { cpuMsDuring } from '../../testing/cpu-time.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { foldName } from './path-patterns.ts'
import { codePlaceOf, secretPlaceOf } from './places-by-path.ts'
import { isCodePlace } from './protected-places.ts'

async function homeOf(): Promise<Awaited<ReturnType<typeof scratchFolder>>> {
  const home = await scratchFolder('ada')
  vi.stubEnv('HOME', home.path)
  onTestFinished(() => void vi.unstubAllEnvs())
  return home
}

describe('folding a name', () => {
  it.each([
    '.GIT',
    '.gi\u200Ct',
    '.g\u00ADit',
    '.git.',
    '.git ',
    '.git . .',
    '.git::$INDEX_ALLOCATION',
    '.git:stream',
    'git~1',
    'GIT~1',
    '.g\uFE0Fit',
    '．git',
  ])('treats %j as .git', (name) => expect(foldName(name)).toBe('.git'))
  it('ignores case as disks do', () => {
    expect(foldName('.ßh')).toBe('.ssh')
    expect(foldName('.\u017F\u017Fh')).toBe('.ssh')
    expect(foldName('.\u212Aube')).toBe('.kube')
  })
  it('reads a long name once', () => {
    const name = `${'. '.repeat(200_000)}x`
    expect(foldName(name)).toBe(name)
  })
  it.each(['.gitignore', '.github', 'git', 'a.git', '.git2', 'x~1'])('does not treat %j as .git', (name) =>
    expect(foldName(name)).not.toBe('.git'),
  )
})

describe('a code place', () => {
  it.each([
    ['/work/app/.git', '/work/app/.git'],
    ['/work/app/.git/config', '/work/app/.git'],
    ['/work/app/.GIT/hooks/post-checkout', '/work/app/.GIT'],
    ['/work/packages/inner/.git/info/x', '/work/packages/inner/.git'],
    ['/work/app/.vscode/tasks.json', '/work/app/.vscode'],
    ['/work/app/.idea/workspace.xml', '/work/app/.idea'],
    ['/work/app/.husky/pre-commit', '/work/app/.husky'],
    ['/work/app/.envrc', '/work/app/.envrc'],
    ['/work/app/opencode.json', '/work/app/opencode.json'],
    ['/work/app/.opencode/plugins/a.ts', '/work/app/.opencode'],
    ['/work/app/.npmrc', '/work/app/.npmrc'],
    ['/work/app/x.code-workspace', '/work/app/x.code-workspace'],
    ['/work/app/.github/workflows/ci.yml', '/work/app/.github/workflows'],
    ['/work/app/.gitlab-ci.yml', '/work/app/.gitlab-ci.yml'],
    ['/work/app/.gitlab/build.yml', '/work/app/.gitlab'],
    ['/work/app/lefthook-local.yml', '/work/app/lefthook-local.yml'],
    ['/work/app/lefthook.toml', '/work/app/lefthook.toml'],
    ['/work/app/.helix/languages.toml', '/work/app/.helix'],
    ['/work/app/.claude/commands/x.md', '/work/app/.claude/commands'],
    ['/work/app/opencode.json', '/work/app/opencode.json'],
    ['/work/app/.sl/config', '/work/app/.sl'],
    ['/work/app/_darcs/prefs/defaults', '/work/app/_darcs/prefs'],
    ['/work/app/.cirrus.yml', '/work/app/.cirrus.yml'],
    ['/work/app/cloudbuild.yaml', '/work/app/cloudbuild.yaml'],
    ['/work/app/env/lib/python3.13/site-packages/X.PTH', '/work/app/env/lib/python3.13/site-packages/X.PTH'],
    ['/work/app/env/lib/python3/dist-packages/a.pth', '/work/app/env/lib/python3/dist-packages/a.pth'],
    ['/mnt/disk/.bash_profile', '/mnt/disk/.bash_profile'],
    ['/mnt/disk/.config/systemd/user/a.service', '/mnt/disk/.config/systemd'],
    ['/mnt/disk/Library/LaunchAgents/a.plist', '/mnt/disk/Library/LaunchAgents'],
    ['/mnt/disk/.ssh/authorized_keys', '/mnt/disk/.ssh'],
    ['/mnt/disk/.local/bin/git', '/mnt/disk/.local/bin'],
    ['/home/bo/bin/ls', '/home/bo/bin'],
    ['/etc/profile.d/x.sh', '/etc'],
  ])('%s', (path, place) => expect(codePlaceOf(path)).toBe(place))

  it.each([
    '/work/app/.gitignore',
    '/work/app/.gitattributes',
    '/work/app/.gitmodules',
    '/work/app/.github/README.md',
    '/work/app/.env',
    '/work/app/CLAUDE.md',
    '/work/app/.claude/CLAUDE.md',
    '/work/app/Makefile',
    '/work/app/package.json',
    '/work/app/bin/start',
    '/work/app/etc/hosts',
    '/home/bo/notes.md',
  ])('is not %s', (path) => expect(codePlaceOf(path)).toBe(null))

  it.each(['Desktop.ini', 'Home page.URL', 'a.lnk', 'a.scf', 'a.library-ms', 'a.searchConnector-ms'])(
    'is %s on Windows, and no code elsewhere',
    (name) => {
      const path = `/work/app/${name}`
      const { platform } = process
      const on = (value: string) => Object.defineProperty(process, 'platform', { value })
      onTestFinished(() => void on(platform))
      on('win32')
      expect(codePlaceOf(path)).toBe(path)
      on('linux')
      expect(codePlaceOf(path)).toBe(null)
    },
  )

  it('is everything hidden in a home, except in a hidden folder of the agent', async () => {
    const home = await homeOf()
    expect(await isCodePlace({ path: home.at('.tool/settings.json'), folder: home.path })).toBe(true)
    expect(await isCodePlace({ path: home.at('.notes/a.md'), folder: home.at('.notes') })).toBe(false)
    expect(await isCodePlace({ path: home.at('notes/.a.md'), folder: home.path })).toBe(false)
  })

  it('is the same in dependencies, except for what a push of the project runs', async () => {
    const work = await scratchFolder('vendor')
    const isCode = (path: string) => isCodePlace({ path: work.at(path), folder: work.path })
    for (const path of ['vendor/p/.vscode/tasks.json', 'node_modules/q/.jj/x', '.github/workflows/ci.yml', '.husky/vendor/x'])
      expect([path, await isCode(path)]).toEqual([path, true])
    for (const path of ['node_modules/q/.github/workflows/ci.yml', 'vendor/p/.husky/pre-commit'])
      expect([path, await isCode(path)]).toEqual([path, false])
  })

  it('is a repository without a work tree, or the file that would complete one', async () => {
    const work = await scratchFolder('Work')
    await mkdir(work.at('store/objects'), { recursive: true })
    await mkdir(work.at('store/refs'), { recursive: true })
    const isCode = (path: string) => isCodePlace({ path: work.at(path), folder: work.path })
    expect(await isCode('store/config')).toBe(false)
    expect(await isCode('store/HEAD')).toBe(true)
    expect(await isCode('store/head')).toBe(true)
    await work.write('store/HEAD', 'ref: refs/heads/main\n')
    expect(await isCode('store/config')).toBe(true)
    expect(await isCode('store/hooks/post-checkout')).toBe(true)
    await work.write('linked/HEAD', 'ref: refs/heads/main\n')
    expect(await isCode('linked/commondir')).toBe(true)
  })

  it('is nothing that an ordinary coding job writes', async () => {
    const work = await scratchFolder('Work')
    await work.write('.git/HEAD', 'ref: refs/heads/main\n')
    await work.write('.git/config', '[core]\n\tbare = false\n')
    const names = ['package.json', 'README.md', 'src/index.ts', 'src/head/index.ts', 'test/index.test.ts', '.gitignore', '.gitattributes']
    const more = [
      '.prettierrc',
      '.eslintrc.cjs',
      '.editorconfig',
      '.env.example',
      'Dockerfile',
      'Makefile',
      'bin/start',
      'refs/a.md',
      'model.pth',
    ]
    for (const name of [...names, ...more])
      expect([name, await isCodePlace({ path: work.at(name), folder: work.path })]).toEqual([name, false])
  })

  it('is the target of a start-up file in the home', async () => {
    const home = await homeOf()
    const file = await home.write('dotfiles/profile', '')
    await symlink(file, home.at('.bash_profile'))
    expect(await isCodePlace({ path: file, folder: home.at('dotfiles') })).toBe(true)
    expect(await isCodePlace({ path: home.at('dotfiles/other'), folder: home.at('dotfiles') })).toBe(false)
  })

  it('is a file that a git configuration names as a command or in one', async () => {
    const home = await homeOf()
    const work = await scratchFolder('Work')
    await work.write('.git/config', '[core] fsmonitor = ./fs.sh\n[diff "a"]\n\ttextconv = sh \\\n  "tools/text.sh" # x\n')
    await home.write('.gitconfig', '[gpg]\n\tprogram = tools/gpg\n[core]\n\texcludesFile = tools/ignored\n\teditor = code --wait\n')
    await mkdir(work.at('tools'))
    const isCode = (path: string) => isCodePlace({ path: work.at(path), folder: work.path })
    for (const path of ['fs.sh', 'tools/text.sh', 'tools/gpg']) expect([path, await isCode(path)]).toEqual([path, true])
    for (const path of ['other.sh', 'tools/other', 'tools/ignored', 'code']) expect([path, await isCode(path)]).toEqual([path, false])
  })

  it('is found in time, however long the lines of a repository are', async () => {
    await homeOf()
    const work = await scratchFolder('Work')
    const spaces = ' '.repeat(20_000)
    await work.write('.git/config', `${spaces}!\n${spaces}[core]${spaces}fsmonitor${spaces}=${spaces}./fs.sh\n`)
    await work.write('sub/.git', `gitdir: ../far${spaces}/x\n`)
    const isCode = (path: string) => isCodePlace({ path: work.at(path), folder: work.path })
    const cpuMs = await cpuMsDuring(async () => {
      expect(await isCode('fs.sh')).toBe(true)
      expect(await isCode('sub/a')).toBe(false)
    })
    expect(cpuMs).toBeLessThan(1_000)
  })

  it.each([
    ['!cd sub && ../y', 'y'],
    ['!cd sub && ./y', 'sub/y'],
    ['!cd sub/deep && sh build.sh', 'sub/deep/build.sh'],
    ['!cd sub && cd deep && ./y', 'sub/deep/y'],
    ['"!f() { cd -- sub; ./y; }; f"', 'sub/y'],
    ['"!$(git rev-parse --show-toplevel)/tools/y"', 'tools/y'],
    ['"!cd ${GIT_PREFIX:-.} && $ROOT/tools/y"', 'tools/y'],
    ['"!env -C sub ./y"', 'sub/y'],
  ])('is the file that the git alias %s runs, whether it exists or not', async (alias, file) => {
    await homeOf()
    const work = await scratchFolder('Work')
    await work.write('.git/config', `[alias]\n\tx = ${alias}\n`)
    expect(await isCodePlace({ path: work.at(file), folder: work.path })).toBe(true)
    expect(await isCodePlace({ path: work.at('other/y'), folder: work.path })).toBe(false)
  })

  it('is a make file that would be read instead of another one', async () => {
    const work = await scratchFolder('Work')
    const isCode = (path: string) => isCodePlace({ path: work.at(path), folder: work.path })
    expect(await isCode('Makefile')).toBe(false)
    await work.write('Makefile', 'all:\n')
    expect(await isCode('GNUmakefile')).toBe(true)
    expect(await isCode('makefile')).toBe(true)
    expect(await isCode('Makefile')).toBe(false)
  })

  it('is a folder of PATH', async () => {
    const work = await scratchFolder('Work')
    vi.stubEnv('PATH', `${work.at('tools')}:/usr/bin`)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await isCodePlace({ path: work.at('tools/git'), folder: work.path })).toBe(true)
  })
})

describe('a secret place', () => {
  it.each([
    ['/mnt/disk/.ssh/id_ed25519', '/mnt/disk/.ssh'],
    ['/mnt/disk/.AWS/credentials', '/mnt/disk/.AWS'],
    ['/mnt/disk/.config/gh/hosts.yml', '/mnt/disk/.config/gh'],
    ['/mnt/disk/.netrc', '/mnt/disk/.netrc'],
    ['/mnt/disk/.m2/settings.xml', '/mnt/disk/.m2/settings.xml'],
    ['/mnt/disk/.claude/.credentials.json', '/mnt/disk/.claude/.credentials.json'],
    ['/mnt/disk/.codex/auth.json', '/mnt/disk/.codex/auth.json'],
    ['/mnt/disk/.config/BraveSoftware/Brave-Browser/Default/Cookies', '/mnt/disk/.config/BraveSoftware'],
    ['/mnt/disk/.config/sops/age/keys.txt', '/mnt/disk/.config/sops/age'],
    ['/mnt/disk/.zhistory', '/mnt/disk/.zhistory'],
    ['/mnt/disk/notes/Passwords.kdbx', '/mnt/disk/notes/Passwords.kdbx'],
    ['/home/bo/.gemini/oauth_creds.json', '/home/bo/.gemini/oauth_creds.json'],
    ['/home/bo/.npmrc', '/home/bo/.npmrc'],
    ['/home/bo/.docker/config.json', '/home/bo/.docker'],
    [`${homedir()}/.npmrc`, `${homedir()}/.npmrc`],
  ])('%s', (path, place) => expect(secretPlaceOf(path)).toBe(place))

  it.each([
    '/work/app/.npmrc',
    '/home/bo/.config/d/coding/1/gemini/.gemini/oauth_creds.json',
    '/work/app/.docker/Dockerfile',
    '/work/app/ssh/notes.md',
    '/work/app/.env',
  ])('is not %s', (path) => expect(secretPlaceOf(path)).toBe(null))
})
