import { lstat, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { foldName } from '../protected-places/path-patterns.ts'
import { isRepository } from '../protected-places/repositories.ts'
import { GitFailed } from './git-failed.ts'
import type { GitPlace, RunGit } from './run-git.ts'

/** Why a folder cannot be worked on. */
export type RepositoryRefusal =
  | 'not_a_repository'
  /** It has no files of its own. */
  | 'bare'
  | 'inside_git'
  /** `.git` is a file or link: a worktree, a submodule, or something that leads out of the folder. */
  | 'git_folder_elsewhere'
  | 'of_another_account'
  | 'unreadable'

export type FoundRepository =
  | {
      is: 'repository'
      /** The real path of the checkout. The folder that was asked for is this, or inside. */
      root: string
      /** The commit that is checked out. null: there are no commits. */
      head: string | null
      /** null: no branch is checked out. */
      branch: string | null
      /** There are changes that are in no commit. */
      dirty: boolean
    }
  | { is: 'refused'; reason: RepositoryRefusal }

/** A person's repository, and how Deckhand reads it. */
export type Repository = {
  root: string
  gitDir: string
  /** Sees its refs, and reads its configuration. For commands that run nothing else. */
  own: GitPlace
  /** Sees its objects, with a configuration of ours: no filter, driver or attribute of anybody's applies. */
  plain: GitPlace
}

/** They come before those of the work. Files are stored as they are, and whether one is text is seen from its content. */
const PLAIN_ATTRIBUTES = '* -text !eol !ident -filter !working-tree-encoding !diff !merge\n'
const LIST_WITHIN_MS = 10 * 60_000
const MAX_COMMIT_CHARS = 64

export type Repositories = ReturnType<typeof createRepositories>

/** `home`: a folder of ours, where the plain repositories are made. */
export function createRepositories({ run, home }: { run: RunGit; home: string }) {
  const plains = new Map<string, Promise<string>>()

  /** Made again in each process, since the file system and Git may be others. One for each kind of object names. */
  function plainOf(format: string): Promise<string> {
    let plain = plains.get(format)
    if (plain === undefined) {
      plain = makePlain(format)
      plains.set(format, plain)
      plain.catch(() => plains.delete(format))
    }
    return plain
  }

  async function makePlain(format: string): Promise<string> {
    const gitDir = join(home, `.git-${format}`)
    await rm(gitDir, { recursive: true, force: true })
    await mkdir(gitDir, { recursive: true, mode: 0o700 })
    const args = ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '--initial-branch=none', gitDir]
    await run({ at: { gitDir }, args })
    await mkdir(join(gitDir, 'info'), { recursive: true })
    await writeFile(join(gitDir, 'info', 'attributes'), PLAIN_ATTRIBUTES)
    return gitDir
  }

  /** Throws GitFailed if there is no repository. `root`: as found by `find`. */
  async function open(root: string): Promise<Repository> {
    const gitDir = join(root, '.git')
    const stats = await lstat(gitDir).catch(() => null)
    if (stats?.isDirectory() !== true) throw new GitFailed('no_repository', 'the repository is gone')
    const own = { gitDir, workTree: root }
    const { output } = await run({ at: own, args: ['rev-parse', '--show-object-format'] })
    const format = output.toString().trim()
    if (!/^sha\d+$/.test(format)) throw new GitFailed('failed', 'the repository has an unknown format')
    return { root, gitDir, own, plain: { gitDir: await plainOf(format), objects: join(gitDir, 'objects') } }
  }

  async function find(folder: string): Promise<FoundRepository> {
    const found = await findRoot(folder)
    if ('reason' in found) return { is: 'refused', reason: found.reason }
    const { root } = found
    try {
      const repository = await open(root)
      const head = await commitAt(repository, 'HEAD')
      const branch = await run({ at: repository.own, args: ['symbolic-ref', '--quiet', '--short', 'HEAD'], okCodes: [1] })
      return {
        is: 'repository',
        root,
        head,
        branch: branch.output.toString().trim() || null,
        dirty: await isDirty(repository, head),
      }
    } catch (thrown) {
      if (thrown instanceof GitFailed && thrown.trouble === 'failed') return { is: 'refused', reason: 'unreadable' }
      throw thrown
    }
  }

  /** null: there is none. */
  async function commitAt({ own }: Repository, ref: string): Promise<string | null> {
    const { output, code } = await run({ at: own, args: ['rev-parse', '--quiet', '--verify', `${ref}^{commit}`], okCodes: [1] })
    const commit = output.toString().trim()
    return code === 0 && commit.length <= MAX_COMMIT_CHARS ? commit : null
  }

  async function isDirty({ root, gitDir, plain }: Repository, head: string | null): Promise<boolean> {
    const at = { ...plain, workTree: root, index: join(gitDir, 'index') }
    const exclude = join(gitDir, 'info', 'exclude')
    const options = ['-m', '-d', '-o', '--exclude-standard', '--directory', '--no-empty-directory', `--exclude-from=${exclude}`]
    const hasExclude = await readFile(exclude).then(Boolean, () => false)
    try {
      const args = ['ls-files', '-z', ...(hasExclude ? options : options.slice(0, -1))]
      const changed = await run({ at, args, maxBytes: 1, cuts: true, withinMs: LIST_WITHIN_MS })
      if (changed.output.length > 0 || head === null) return changed.output.length > 0
      return (await run({ at, args: ['diff-index', '--cached', '--quiet', head], okCodes: [1], withinMs: LIST_WITHIN_MS })).code === 1
    } catch (thrown) {
      // A split index cannot be read from outside of its repository.
      if (thrown instanceof GitFailed && thrown.trouble === 'failed') return true
      throw thrown
    }
  }

  return { open, find, commitAt }
}

async function findRoot(folder: string): Promise<{ root: string } | { reason: RepositoryRefusal }> {
  const real = await realpath(folder).catch(() => null)
  if (real === null) return { reason: 'not_a_repository' }
  if (real.split(/[\\/]/).some((part) => foldName(part) === '.git')) return { reason: 'inside_git' }
  for (let root = real; ; root = dirname(root)) {
    const stats = await lstat(join(root, '.git')).catch(() => null)
    if (stats !== null && !stats.isDirectory()) return { reason: 'git_folder_elsewhere' }
    // Git itself refuses it too. In a container everything may belong to others, and the process to root.
    if (stats !== null && ![stats.uid, 0].includes(process.getuid?.() ?? stats.uid)) return { reason: 'of_another_account' }
    if (stats !== null) return (await isRedirected(join(root, '.git'))) ? { reason: 'git_folder_elsewhere' } : { root }
    if (await isRepository(root)) return { reason: 'bare' }
    if (dirname(root) === root) return { reason: 'not_a_repository' }
  }
}

/** Its refs and objects are those of another one. */
async function isRedirected(gitDir: string): Promise<boolean> {
  const looks = ['commondir', 'objects', 'refs'].map((name) => lstat(join(gitDir, name)).catch(() => null))
  const [commonDir, ...folders] = await Promise.all(looks)
  return commonDir !== null || folders.some((stats) => stats?.isSymbolicLink() === true)
}
