import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, link, lstat, mkdir, readFile, readdir, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { scratchFolder, type ScratchFolder } from '../../testing/scratch-folder.ts'
import type { SandboxedOutcome } from './sandbox-types.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { runSandboxed } from './run-sandboxed.ts'

/** A sandboxed program tries to leave something in its folder that the person's git, shell or editor runs later, outside the sandbox. */
const { sandbox, isMissing } = await findSandboxHere('bubblewrap')

const setUp = `printf '[core]\\n\\tfsmonitor = "touch x"\\n' > config.evil; printf '#!/bin/sh\\ntouch x\\n' > hook; chmod +x hook;`

async function attack(
  script: string,
  prepare?: (work: ScratchFolder) => Promise<unknown>,
  folder = '',
  isReviewed = false,
): Promise<Attacked> {
  const work = await scratchFolder('Work')
  await prepare?.(work)
  const path = work.at(folder).replace(/\/$/, '')
  const outcome = await runSandboxed({
    sandbox,
    command: ['/bin/sh', '-c', `${setUp} ${script}`],
    folder: path,
    writable: [path],
    ...(isReviewed ? { reviewed: [path] } : {}),
    timeoutMs: 20_000,
  }).outcome
  return { work, outcome, setAside: outcome.setAside.map((one) => one.path.slice(work.path.length + 1)) }
}
type Attacked = { work: ScratchFolder; outcome: SandboxedOutcome; setAside: string[] }

const git = (work: ScratchFolder, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', '-C', work.path, ...args], {
    stdio: 'pipe',
  })

/** All files of a folder with their content. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`)
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const)))
}

describe.skipIf(isMissing)('a program in the sandbox', () => {
  it.each([
    ['a repository of the folder', '.git'],
    ['a repository below it', 'packages/inner/.git'],
    ['a repository without a work tree', 'store.git'],
    ['a module', '.git/modules/a/b'],
    ['another work tree', '.git/worktrees/w'],
  ])('cannot change what %s runs', async (_, place) => {
    const prepare = async (work: ScratchFolder) => {
      for (const repository of ['.git', place]) {
        await work.write(`${repository}/config`, '[core]\n\tbare = false\n')
        await work.write(`${repository}/HEAD`, 'ref: refs/heads/main\n')
        await work.write(`${repository}/hooks/pre-commit.sample`, '')
        for (const part of ['objects', 'refs']) await mkdir(work.at(repository, part), { recursive: true })
      }
      if (place.includes('worktrees')) await work.write(`${place}/commondir`, '../..\n')
    }
    const script = `cp config.evil ${place}/config; cat config.evil >> ${place}/config; cp hook ${place}/hooks/post-checkout
      rm -rf ${place}/hooks ${place}/config; mv ${place} aside; mv "$(dirname ${place})" aside2; mkdir -p ${place}/hooks; cp config.evil ${place}/config
      echo ../../evil > ${place}/commondir; cp config.evil ${place}/config.worktree; ln -sf ../config.evil ${place}/config; true`
    const { work } = await attack(script, prepare)
    expect(await readFile(work.at(place, 'config'), 'utf8')).toBe('[core]\n\tbare = false\n')
    expect(await readdir(work.at(place, 'hooks'))).toEqual(['pre-commit.sample'])
    expect(existsSync(work.at(place, 'config.worktree'))).toBe(false)
    const commonDir = place.includes('worktrees')
      ? await readFile(work.at(place, 'commondir'), 'utf8')
      : existsSync(work.at(place, 'commondir'))
    expect(commonDir).toBe(place.includes('worktrees') ? '../..\n' : false)
  })

  it.each([
    [
      'a new repository',
      'mkdir -p fresh/.git/objects fresh/.git/refs; echo "ref: refs/heads/m" > fresh/.git/HEAD; cp config.evil fresh/.git/config',
      'fresh',
    ],
    ['its hooks', 'git init -q fresh; cp hook fresh/.git/hooks/post-checkout', 'fresh'],
    [
      'its second configuration',
      'git init -q fresh; git -C fresh config extensions.worktreeConfig true; cp config.evil fresh/.git/config.worktree',
      'fresh',
    ],
    ['one more line', 'git init -q fresh; git -C fresh config core.fsmonitor "touch x"', 'fresh'],
    ['one more line behind a plain header', 'git init -q fresh; printf "[core] fsmonitor = touch x\\n" >> fresh/.git/config', 'fresh'],
    ['an include', 'git init -q fresh; git -C fresh config include.path ../../config.evil', 'fresh'],
    [
      'a configuration elsewhere',
      'git init -q fresh; git init -q far; cp config.evil far/.git/config; echo ../../far/.git > fresh/.git/commondir',
      'fresh',
    ],
    [
      'a file called .git',
      'git init -q far; cp config.evil far/.git/config; mkdir fresh; echo "gitdir: ../far/.git" > fresh/.git',
      'fresh',
    ],
    [
      'a link called .git',
      'git init -q far; cp config.evil far/.git/config; mv far/.git store; mkdir fresh; ln -s ../store fresh/.git',
      'fresh',
    ],
    ['a repository without a work tree', 'git init -q --bare fresh; cp config.evil fresh/config', 'fresh'],
    ['the folder itself', 'git init -q --bare x; mv x/* .; cp config.evil config', '.'],
    [
      'a repository inside one that runs nothing',
      'git init -q --bare sub; git init -q sub/fresh; cp config.evil sub/fresh/.git/config',
      'sub/fresh',
    ],
    [
      'a repository below the folder, which has become one that runs nothing',
      'git init -q --bare x; mv x/* .; git init -q fresh; cp config.evil fresh/.git/config',
      'fresh',
    ],
    ['a place deep below', 'mkdir -p a/b/c/d/e/f; git init -q a/b/c/d/e/f; cp config.evil a/b/c/d/e/f/.git/config', 'a/b/c/d/e/f'],
    [
      'a place in dependencies',
      'mkdir -p node_modules/m; git init -q node_modules/m; cp config.evil node_modules/m/.git/config',
      'node_modules/m',
    ],
    ['another spelling', 'git init -q fresh; cp config.evil fresh/.git/config; mv fresh/.git fresh/.GIT', null],
    ['something moved there', 'git init -q x; cp config.evil x/.git/config; mv x/.git y; mkdir fresh; mv y fresh/.git', 'fresh'],
    [
      'a program in the background',
      '(sleep 0.2; git init -q late; cp config.evil late/.git/config) & git init -q fresh; cp config.evil fresh/.git/config; wait',
      'fresh',
    ],
  ])('leaves no code behind by %s', async (_, script, folder) => {
    const { work, outcome, setAside } = await attack(script)
    expect(outcome.exitCode, outcome.output).toBe(0)
    expect(setAside.length).toBeGreaterThan(0)
    expect(outcome.setAside.every(({ to }) => to !== null)).toBe(true)
    // Git ends with an error where there is no repository any more, which is as it should be.
    if (folder !== null) spawnSync('git', ['status'], { cwd: work.at(folder), stdio: 'ignore' })
    expect(Object.keys(await contentsOf(work.path)).filter((path) => path.endsWith('/x'))).toEqual([])
  })

  it.each([
    '.vscode/tasks.json',
    '.idea/workspace.xml',
    '.envrc',
    '.husky/pre-commit',
    '.npmrc',
    '.bash_profile',
    '.config/autostart/a.desktop',
    '.config/systemd/user/a.service',
    'Library/LaunchAgents/a.plist',
    '.github/workflows/ci.yml',
    'sub/.vscode/tasks.json',
    'vendor/p/.vscode/tasks.json',
    'node_modules/q/.jj/repo/config.toml',
    '.ssh/authorized_keys',
  ])('neither creates nor changes %s', async (place) => {
    const write = `mkdir -p "$(dirname '${place}')"; echo evil > '${place}'`
    const made = await attack(write)
    expect(existsSync(made.work.at(place))).toBe(false)
    expect(made.setAside).toHaveLength(1)
    const changed = await attack(`${write}; rm -rf '${place}'; mv '${place.split('/')[0]}' aside; ${write}`, (work) =>
      work.write(place, 'as it was'),
    )
    expect(await readFile(changed.work.at(place), 'utf8')).toBe('as it was')
  })

  it.each([
    ['beside which it left a file', 'libs/other', 'echo x > .git/modules/libs/HEAD; echo x > .git/modules/libs/config'],
    ['around which it made a repository', 'libs/other', 'git init -q --bare x; mv x/* .git/modules/libs'],
    ['whose HEAD it removed', 'libs/other', 'mv .git/modules/libs/other/HEAD head'],
    ['called like a part of a repository', 'libs/config', 'true'],
    ['whose name has nine parts', 'a/b/c/d/e/f/g/h/i', 'true'],
  ])('cannot change what a module runs %s', async (_, module, first) => {
    const other = await scratchFolder('Other')
    git(other, 'init', '-q')
    git(other, 'commit', '-q', '--allow-empty', '-m', 'one')
    const work = await scratchFolder('Work')
    git(work, 'init', '-q')
    git(work, 'submodule', '--quiet', 'add', other.path, module)
    const attacks = [
      first,
      `[ ! -e head ] || mv head .git/modules/${module}/HEAD; cat config.evil >> .git/modules/${module}/config; cp hook .git/modules/${module}/hooks/post-checkout
       git -C ${module} -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && touch committed`,
    ]
    for (const script of attacks)
      await runSandboxed({
        sandbox,
        command: ['/bin/sh', '-c', `${setUp} ${script}`],
        folder: work.path,
        writable: [work.path],
        timeoutMs: 20_000,
      }).outcome
    expect(existsSync(work.at('committed'))).toBe(true)
    expect(await readFile(work.at('.git/modules', module, 'config'), 'utf8')).not.toContain('fsmonitor')
    expect(existsSync(work.at('.git/modules', module, 'hooks/post-checkout'))).toBe(false)
    spawnSync('git', ['status'], { cwd: work.path, stdio: 'ignore' })
    expect(Object.keys(await contentsOf(work.path)).filter((path) => path.endsWith('/x'))).toEqual([])
  })

  it.each([
    ['that waits', '.git', 'echo "x touch x" >> .git/rebase-merge/git-rebase-todo'],
    [
      'that waits, as the first line',
      '.git',
      'cd .git/rebase-merge; (printf "\\t exec touch x\\n"; cat git-rebase-todo) > t; mv t git-rebase-todo',
    ],
    ['of another work tree', '.git/worktrees/side', 'echo "exec touch x" >> .git/worktrees/side/rebase-merge/git-rebase-todo'],
    ['of a module', '.git/modules/a/b', 'echo "exec touch x" >> .git/modules/a/b/rebase-merge/git-rebase-todo'],
    [
      'behind a link',
      '.git',
      'cp -r .git/rebase-merge y; rm -r .git/rebase-merge; echo "x touch x" >> y/git-rebase-todo; ln -s ../y .git/rebase-merge',
    ],
    [
      'too long to read',
      '.git',
      'cd .git/rebase-merge; (head -c 2000000 /dev/zero | tr "\\0" "#"; echo; echo x touch x) >> git-rebase-todo',
    ],
  ])('adds nothing that git runs to a rebase %s', async (_, repository, script) => {
    const { outcome, setAside } = await attack(script, async (project) => {
      git(project, 'init', '-q')
      for (const part of ['objects', 'refs']) await mkdir(project.at(repository, part), { recursive: true })
      await project.write(`${repository}/HEAD`, 'ref: refs/heads/main\n')
      await project.write(`${repository}/config`, '')
      if (repository.includes('worktrees')) await project.write(`${repository}/commondir`, '../..\n')
      await project.write(`${repository}/rebase-merge/git-rebase-todo`, 'pick 1234567 one\nexec npm test\n')
    })
    expect(outcome.exitCode, outcome.output).toBe(0)
    expect(setAside.filter((path) => path.startsWith(`${repository}/rebase-merge`))).toHaveLength(1)
    expect(outcome.setAside.every(({ to }) => to !== null)).toBe(true)
  })

  it('can rebase, running commands, and go on with the rebase of a person', async () => {
    const as = '-c user.name=a -c user.email=a@b'
    const { work, outcome, setAside } = await attack(
      `git ${as} rebase --continue; git ${as} rebase -q --exec "sleep 1.5; echo ran >> ran" HEAD~2`,
      async (project) => {
        git(project, 'init', '-q')
        await project.write('.gitignore', 'ran\nhook\nconfig.evil\n')
        for (const name of ['a', 'b', 'c']) {
          await project.write(name, name)
          git(project, 'add', '.')
          git(project, 'commit', '-qm', name)
        }
        // It stops at the first command, and the others wait.
        spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'rebase', '--exec', 'test -e go || exit 1', 'HEAD~2'], {
          cwd: project.path,
        })
        expect(existsSync(project.at('.git/rebase-merge/git-rebase-todo'))).toBe(true)
        await project.write('go')
      },
    )
    expect([outcome.exitCode, setAside], outcome.output).toEqual([0, []])
    expect(await readFile(work.at('ran'), 'utf8')).toBe('ran\nran\n')
  })

  it('changes no hooks elsewhere in the project and no included configuration', async () => {
    const { work } = await attack(
      'cp hook scripts/hooks/pre-commit; cp config.evil more.config; rm -rf scripts/hooks; true',
      async (project) => {
        git(project, 'init', '-q')
        git(project, 'config', 'core.hooksPath', 'scripts/hooks')
        git(project, 'config', 'include.path', '../more.config')
        await project.write('scripts/hooks/pre-commit', 'mine')
        await project.write('more.config', 'mine')
      },
    )
    expect(await readFile(work.at('scripts/hooks/pre-commit'), 'utf8')).toBe('mine')
    expect(await readFile(work.at('more.config'), 'utf8')).toBe('mine')
  })

  it('changes nothing that a configuration has git run', async () => {
    const files = [
      'fs.sh',
      'tools/clean.sh',
      'tools/ssh',
      'text.sh',
      'gpg',
      'old.sh',
      'global/hooks/pre-push',
      'global/fs',
      'template/hooks/x',
    ]
    const home = await scratchFolder('ada')
    vi.stubEnv('HOME', home.path)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { work, setAside } = await attack(
      `${files.map((file) => `cp hook ${file}`).join('; ')}; cp hook new.sh; echo new > main; echo new > src/x`,
      async (project) => {
        git(project, 'init', '-q')
        for (const file of files) await project.write(file, 'mine')
        for (const file of ['main', 'src/x']) await project.write(file, 'mine')
        await home.write(
          '.gitconfig',
          `[core]\n\thooksPath = ${project.at('global/hooks')}\n[include] path = ${project.at('global.inc')}\n`,
        )
        await project.write(
          'global.inc',
          '[core]\n\tfsmonitor = ./global/fs\n[alias]\n\tm = checkout main\n[init]\n\ttemplateDir = template\n',
        )
        const settings = {
          'core.fsmonitor': './fs.sh',
          'filter.x.clean': 'tools/clean.sh %f',
          'core.sshCommand': '"tools/ssh" -v',
          'diff.y.textconv': 'sh text.sh',
          'gpg.program': './gpg',
          'diff.z.textconv': './new.sh',
          'branch.a.merge': 'refs/heads/a',
          'core.worktree': '..',
          'alias.run': '!./old.sh',
        }
        for (const [name, value] of Object.entries(settings)) git(project, 'config', name, value)
      },
    )
    for (const file of files) expect([file, await readFile(work.at(file), 'utf8')]).toEqual([file, 'mine'])
    for (const file of ['main', 'src/x']) expect(await readFile(work.at(file), 'utf8')).toBe('new\n')
    expect(setAside).toEqual(['new.sh'])
  })

  it('changes no target of a hook and nothing that an included configuration names', async () => {
    const { work } = await attack('cp hook scripts/check; cp hook tools/pre-push; true', async (project) => {
      git(project, 'init', '-q')
      git(project, 'config', 'include.path', '../git/shared.config')
      await project.write('git/shared.config', '[core]\n\thooksPath = tools ; ours\n')
      await project.write('tools/pre-push', 'mine')
      await project.write('scripts/check', 'mine')
      await symlink('../../scripts/check', project.at('.git/hooks/pre-commit'))
    })
    expect(await readFile(work.at('scripts/check'), 'utf8')).toBe('mine')
    expect(await readFile(work.at('tools/pre-push'), 'utf8')).toBe('mine')
  })

  it('changes no hooks of a repository with parts elsewhere', async () => {
    const { work } = await attack('cp hook work/scripts/pre-commit; true', async (project) => {
      await mkdir(project.at('work'))
      execFileSync('git', ['init', '-q', '--separate-git-dir', project.at('store'), project.at('work')])
      execFileSync('git', ['-C', project.at('work'), 'config', 'core.hooksPath', 'scripts'])
      await project.write('work/scripts/pre-commit', 'mine')
    })
    expect(await readFile(work.at('work/scripts/pre-commit'), 'utf8')).toBe('mine')
  })

  it('changes no target of a start-up file in the home and no folder of programs', async () => {
    const home = await scratchFolder('ada')
    vi.stubEnv('HOME', home.path)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { work } = await attack('echo evil > profile; cp hook tools/git; true', async (project) => {
      vi.stubEnv('PATH', `${process.env['PATH']}:${project.at('tools')}`)
      await project.write('profile', 'mine')
      await mkdir(project.at('tools'))
      await symlink(project.at('profile'), home.at('.bash_profile'))
    })
    expect(await readFile(work.at('profile'), 'utf8')).toBe('mine')
    expect(await readdir(work.at('tools'))).toEqual([])
  })

  it('leaves no changed file that has another name where files run by themselves', async () => {
    const names = { 'check.sh': '.git/hooks/pre-commit', 'tasks.json': '.vscode/deep/tasks.json', envrc: '.envrc', same: '.husky/pre-push' }
    const { work, outcome, setAside } = await attack('cp hook check.sh; cp hook tasks.json; cp hook envrc; rm same', async (project) => {
      git(project, 'init', '-q')
      for (const [name, place] of Object.entries(names)) {
        await project.write(name, 'mine')
        await mkdir(dirname(project.at(place)), { recursive: true })
        await link(project.at(name), project.at(place))
      }
    })
    expect(outcome.exitCode, outcome.output).toBe(0)
    expect(setAside.toSorted()).toEqual(['.envrc', '.git/hooks/pre-commit', '.vscode/deep/tasks.json'])
    for (const place of setAside) expect(existsSync(work.at(place))).toBe(false)
    expect(await readFile(work.at('.husky/pre-push'), 'utf8')).toBe('mine')
  })

  it('cannot create the target of a dangling link in a protected place', async () => {
    const { setAside } = await attack('mkdir conf; echo evil > conf/envrc', (project) => symlink('conf/envrc', project.at('.envrc')))
    expect(setAside).toEqual(['.envrc'])
  })

  it('writes nothing through a link to a protected place', async () => {
    const { work, setAside } = await attack(
      'echo evil > settings/tasks.json; rm .vscode; mkdir .vscode; echo evil > .vscode/tasks.json',
      async (project) => {
        await project.write('settings/tasks.json', 'mine')
        await symlink('settings', project.at('.vscode'))
      },
    )
    expect(await readFile(work.at('settings/tasks.json'), 'utf8')).toBe('mine')
    expect(setAside).toEqual(['.vscode'])
  })

  it('gets what it planted renamed, with its content', async () => {
    const { work, outcome } = await attack('mkdir -p p/.vscode; echo evil > p/.vscode/tasks.json')
    const [{ path, to } = { path: '', to: null }, ...others] = outcome.setAside
    expect(others).toEqual([])
    expect(path).toBe(work.at('p/.vscode'))
    expect(to).toMatch(/\/p\/vscode\.set-aside-[0-9a-f]{8}$/)
    expect(await readFile(`${to}/tasks.json`, 'utf8')).toBe('evil\n')
  })

  it('leaves settings and workflows where a person reviews them, and no repository there either', async () => {
    const files = ['.vscode/tasks.json', '.github/workflows/ci.yml', '.husky/pre-commit', 'p/.envrc']
    const write = files.map((file) => `mkdir -p $(dirname ${file}) && echo new > ${file}`).join(' && ')
    const plant = `git init -q fresh && cp config.evil fresh/.git/config; cp config.evil .git/config; mkdir .hg && cp config.evil .hg/hgrc`
    const prepare = async (work: ScratchFolder) => {
      git(work, 'init', '-q')
      await work.write('.github/workflows/ci.yml', 'old')
    }
    const { work, setAside } = await attack(`${write} && echo all > written; ${plant}`, prepare, '', true)
    expect(await readFile(work.at('written'), 'utf8')).toBe('all\n')
    for (const file of files) expect(await readFile(work.at(file), 'utf8')).toBe('new\n')
    expect(await readFile(work.at('.git/config'), 'utf8')).not.toContain('fsmonitor')
    expect(setAside.toSorted()).toEqual(['.hg', 'fresh/.git'])
  })

  it.each([
    ['a repository that starts a program', 'mkdir -p fresh/.git; cp config.evil fresh/.git/config', 'fresh/.git'],
    ['settings of a shell', 'cp hook .envrc', '.envrc'],
  ])('does not keep %s while it runs', async (_, plant, path) => {
    const { work, outcome, setAside } = await attack(`${plant}; while [ -e ${path} ]; do sleep 0.05; done; ${plant}`)
    expect([outcome.ended, outcome.exitCode]).toEqual(['exited', 0])
    expect(setAside).toEqual([path, path])
    expect(existsSync(work.at(path))).toBe(false)
  })

  it('is reported once for what cannot be renamed while it runs', async () => {
    const { setAside } = await attack(
      String.raw`d=$(printf 'a\377'); mkdir "$d"; for at in 1 2; do cp hook .envrc; while [ -e .envrc ]; do sleep 0.05; done; done`,
    )
    expect(setAside.toSorted()).toEqual(['.envrc', '.envrc', expect.stringContaining('a\uFFFD')])
  })

  it('is reported when it leaves an unreadable folder behind', async () => {
    const { outcome } = await attack(String.raw`d=$(printf 'a\377'); git init -q "$d"; cp config.evil "$d/.git/config"`)
    expect(outcome.setAside).toEqual([{ path: expect.stringContaining('a\uFFFD') as string, to: null }])
  })

  it('is reported when it leaves folders with too long paths behind', async () => {
    const { outcome } = await attack(`d=$(printf 'a%.0s' $(seq 200)); i=0; while [ $i -lt 25 ]; do mkdir $d; cd $d; i=$((i+1)); done; true`)
    expect(outcome.setAside).toEqual([{ path: expect.stringContaining('aaa') as string, to: null }])
    // Node removes no such path either.
    execFileSync('rm', ['-rf', outcome.setAside[0]!.path.split('/').slice(0, 5).join('/')])
  })

  it.each(['mkfifo', 'ln -s /dev/zero'])('does not block the recheck with %s', async (make) => {
    const { setAside } = await attack(`for name in config commondir HEAD; do mkdir -p $name/.git; ${make} $name/.git/$name; done`)
    expect(setAside).toHaveLength(3)
  })

  it('does an ordinary coding job, of which nothing is renamed', async () => {
    const { outcome } = await attack(
      `git init -q . && mkdir -p src test && echo '{"type":"module"}' > package.json && echo '# x' > README.md && echo 'export const one = 1' > src/index.js &&
      printf 'import test from "node:test"\nimport { one } from "../src/index.js"\ntest("one", (t) => t.assert.equal(one, 1))\n' > test/index.test.js &&
      echo node_modules > .gitignore && mkdir -p node_modules/a/.github/workflows node_modules/.bin && echo x > node_modules/a/.github/workflows/ci.yml &&
      ln -s ../a/x node_modules/.bin/x && node --test && git add . && git -c user.name=a -c user.email=a@b commit -qm one && git status --short`,
    )
    expect([outcome.exitCode, outcome.setAside], outcome.output).toEqual([0, []])
  })

  it('works with git as before', async () => {
    const script = `git add . && git -c user.name=a -c user.email=a@b commit -qm one && git checkout -qb other && echo b > b && git add b &&
      git -c user.name=a -c user.email=a@b commit -qm two && git checkout -q - && git merge -q other && git init -q fresh &&
      git -C fresh config user.name Ada && git -C fresh remote add origin https://example.com/a.git && git clone -q . copy && git log --oneline`
    const { work, outcome, setAside } = await attack(script, async (project) => {
      git(project, 'init', '-q')
      await project.write('a', 'a')
    })
    expect([outcome.exitCode, setAside], outcome.output).toEqual([0, []])
    expect(git(work, 'log', '--oneline').toString().trim().split('\n')).toHaveLength(2)
    expect(existsSync(work.at('copy/.git/config'))).toBe(true)
  })

  it.each(['.git', '.git/hooks', 'inner/.git/modules/a', 'store.git', 'store.git/hooks', '.vscode', '.ssh'])(
    'is not started in %s',
    async (folder) => {
      const made = attack('true', async (project) => {
      for (const part of [folder, 'store.git/objects', 'store.git/refs', 'store.git/HEAD']) await mkdir(project.at(part), { recursive: true })
    }, folder) // prettier-ignore
      await expect(made).rejects.toThrow(/cannot be opened to/)
    },
  )

  it('is refused in a folder that is too large to guard, with advice', async () => {
    const made = attack('true', async (work) => {
      for (let at = 0; at < 301; at++) await work.write(`p${at}/.envrc`, '')
    })
    await expect(made).rejects.toThrow(/Run the command in a folder inside it/)
  })

  it("does not touch the person's new repository that runs nothing", async () => {
    const work = await scratchFolder('Work')
    const running = runSandboxed({ sandbox, command: ['/bin/sh', '-c', 'echo begun; while [ ! -e go ]; do sleep 0.05; done'], folder: work.path, writable: [work.path], timeoutMs: 20_000, onOutput: () => begun.resolve() }) // prettier-ignore
    const begun = Promise.withResolvers<void>()
    await begun.promise
    git(work, 'init', '-q')
    await work.write('go')
    expect((await running.outcome).setAside).toEqual([])
    expect((await lstat(work.at('.git/config'))).isFile()).toBe(true)
  })

  it('hides nothing from the recheck by closing its folders', async () => {
    const { work, setAside } = await attack(`git init -q fresh; cp config.evil fresh/.git/config; chmod 000 fresh/.git`)
    expect(setAside).toEqual(['fresh/.git'])
    for (const name of await readdir(work.at('fresh'))) await chmod(work.at('fresh', name), 0o700)
  })
})
