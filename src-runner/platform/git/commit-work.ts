import { existsSync, lstatSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GitFailed } from './git-failed.ts'
import type { Repositories, Repository } from './repository.ts'
import type { GitPlace, RunGit } from './run-git.ts'
import { isPlainPath, readWorkFile } from './work-files.ts'
import { indexOf, placeOf, showIndex, type Worktree } from './worktrees.ts'

/** What stays out of a commit, besides what `.gitignore` names. */
export type LeftOut = { path: string; reason: 'too_large' | 'too_many' | 'bad_name' | 'not_a_file' | 'submodule' | 'unreadable' | 'login' }

export type Committed = {
  /** The newest commit of the branch. */
  commit: string
  /** false: there was nothing new. */
  isNew: boolean
  leftOut: LeftOut[]
  /** There is more than `leftOut` has. */
  isCut: boolean
}

/** `now`: epoch milliseconds. `secrets`: a file that contains one of them is left out. */
export type CommitOptions = Worktree & { base: string; message: string; now: number; secrets?: readonly string[] }

const MB = 1_000_000
const MAX_FILE_BYTES = 50 * MB
const MAX_BYTES = 1_000 * MB
const MAX_FILES = 50_000
const MAX_LEFT_OUT = 100
const MAX_LIST_BYTES = 64 * MB
const MAX_NESTING = 8
const LIST_WITHIN_MS = 20 * 60_000
const COMMIT_WITHIN_MS = 20 * 60_000
const DECKHAND = { name: 'Deckhand', email: 'deckhand@localhost' }

type Change = { path: string; is: 'written' | 'deleted' }
/** What a list of changes grows to. */
type Work = { at: GitPlace; folder: string; changes: Change[]; leftOut: LeftOut[]; isCut: boolean }

export function createCommitter({ run, repositories }: { run: RunGit; repositories: Repositories }) {
  /**
   * Commits what a program left in its folder to its branch. The folder is hostile, and the program may still run: only regular
   * files and links below the folder are read, each by us, and nothing of its `.git` or attributes counts. A repository that
   * the program made inside is stored as ordinary files. A branch that is gone is made again at `base`.
   */
  async function commitAll({ repository: root, folder, branch, base, message, now, secrets = [] }: CommitOptions): Promise<Committed> {
    // Otherwise all files would seem to be deleted.
    if (!existsSync(indexOf(folder)) || lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new GitFailed('no_folder', 'the folder is gone')
    const repository = await repositories.open(root)
    const at = placeOf(repository, folder)
    const ref = `refs/heads/${branch}`
    const former = await repositories.commitAt(repository, ref)
    const parent = former ?? base
    // An interrupted call leaves it.
    await rm(`${indexOf(folder)}.lock`, { force: true })
    // What the index knows of files that are the same in `parent` stays, so only changed files are read.
    await run({ at, args: ['read-tree', '-i', '-m', parent], withinMs: LIST_WITHIN_MS })

    const work: Work = { at, folder, changes: [], leftOut: [], isCut: false }
    await listChanges(work, repository)
    let commit = parent
    if (work.changes.length > 0) {
      const who = await readIdentity(repository)
      const made = await importCommit(work, { who, parent, message, now, secrets })
      const trees = await Promise.all([made, parent].map((one) => treeOf(repository, one)))
      if (trees[0] !== trees[1]) commit = made
    }
    if (commit !== former) {
      const env = { GIT_COMMITTER_NAME: DECKHAND.name, GIT_COMMITTER_EMAIL: DECKHAND.email }
      await run({ at: repository.own, args: ['update-ref', '-m', 'commit: Deckhand', ref, commit, former ?? zeroLike(base)], env })
    }
    if (commit !== parent) {
      await run({ at, args: ['read-tree', '-i', '-m', commit], withinMs: LIST_WITHIN_MS })
      await run({ at, args: ['update-index', '-q', '--refresh'], okCodes: [1], withinMs: LIST_WITHIN_MS })
      await showIndex(repository, folder)
    }
    const { leftOut, isCut } = work
    return { commit, isNew: commit !== parent, leftOut: leftOut.slice(0, MAX_LEFT_OUT), isCut: isCut || leftOut.length > MAX_LEFT_OUT }
  }

  async function listChanges(work: Work, repository: Repository): Promise<void> {
    const submodules = new Set<string>()
    const listed = await list(work.at, ['-t', '-m', '-d', '-o', '--exclude-standard', ...excludesOf(repository)])
    work.isCut ||= listed.isCut
    const deleted = new Set(listed.entries.filter(([tag]) => tag === 'R').map(([, path]) => path))
    const links = await list(work.at, ['-s'])
    for (const [mode, path] of links.entries) if (mode.startsWith('160000 ')) submodules.add(path)
    for (const path of listed.unreadable) work.leftOut.push({ path, reason: 'bad_name' })
    for (const [tag, path] of listed.entries) {
      if (submodules.has(path)) {
        if (tag === 'C' && !deleted.has(path)) work.leftOut.push({ path, reason: 'submodule' })
      } else if (path.endsWith('/')) await listNested(work, path, MAX_NESTING)
      else if (tag === 'R' || !deleted.has(path)) addChange(work, { path, is: tag === 'R' ? 'deleted' : 'written' })
    }
  }

  /** A repository inside of the work. Its files are the work, too. */
  async function listNested(work: Work, path: string, depth: number): Promise<void> {
    if (depth === 0) return void work.leftOut.push({ path, reason: 'too_many' })
    const at = { ...work.at, workTree: join(work.folder, path), index: `${indexOf(work.folder)}.none` }
    const listed = await list(at, ['-t', '-o', '--exclude-standard']).catch((thrown: unknown) => {
      if (thrown instanceof GitFailed && thrown.trouble === 'failed') return null
      throw thrown
    })
    if (listed === null) return void work.leftOut.push({ path, reason: 'unreadable' })
    work.isCut ||= listed.isCut
    for (const name of listed.unreadable) work.leftOut.push({ path: path + name, reason: 'bad_name' })
    for (const [, name] of listed.entries) {
      if (name.endsWith('/')) await listNested(work, path + name, depth - 1)
      else addChange(work, { path: path + name, is: 'written' })
    }
  }

  /** Each entry: what stands before the path, and the path. `unreadable`: names that are no text. */
  async function list(at: GitPlace, args: readonly string[]) {
    const { output, isCut } = await run({
      at,
      args: ['ls-files', '-z', ...args],
      maxBytes: MAX_LIST_BYTES,
      cuts: true,
      withinMs: LIST_WITHIN_MS,
    })
    const entries: [string, string][] = []
    const unreadable: string[] = []
    const separator = args.includes('-s') ? '\t' : ' '
    for (let from = 0, end = output.indexOf(0); end >= 0; from = end + 1, end = output.indexOf(0, from)) {
      const bytes = output.subarray(from, end)
      const text = bytes.toString('utf8')
      const at = text.indexOf(separator)
      if (Buffer.from(text).equals(bytes)) entries.push([text.slice(0, at), text.slice(at + 1)])
      else unreadable.push(text.slice(at + 1))
    }
    return { entries, unreadable, isCut }
  }

  /** Returns the commit. It belongs to no branch yet. */
  async function importCommit(work: Work, options: CommitHead): Promise<string> {
    const at = { ...work.at, index: undefined }
    const input = Readable.from(streamCommit(work, options))
    const args = ['fast-import', '--quiet', '--force', '--done', '--date-format=raw']
    const { output } = await run({ at, args, input, withinMs: COMMIT_WITHIN_MS })
    const commit = output.toString().trim()
    if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new GitFailed('failed', 'git fast-import returned no commit')
    return commit
  }

  async function treeOf({ plain }: Repository, commit: string): Promise<string> {
    const { output } = await run({ at: plain, args: ['rev-parse', '--verify', `${commit}^{tree}`] })
    return output.toString().trim()
  }

  /** The only command that reads the person's settings. It prints, and starts nothing. */
  async function readIdentity({ own }: Repository): Promise<Identity> {
    const env = { GIT_CONFIG_NOSYSTEM: undefined, GIT_CONFIG_GLOBAL: undefined }
    const { output } = await run({
      at: own,
      okCodes: [1],
      args: ['config', '--null', '--get-regexp', String.raw`^user\.(name|email)$`],
      env,
    })
    const found = new Map(output.toString().split('\0').map((line) => line.split(/\n(.*)/s) as [string, string])) // prettier-ignore
    const [name, email] = [plainName(found.get('user.name')), plainName(found.get('user.email'))]
    return name === '' || email === '' ? DECKHAND : { name, email }
  }

  return { commitAll }
}

type Identity = { name: string; email: string }
type CommitHead = { who: Identity; parent: string; message: string; now: number; secrets: readonly string[] }

/** In the language of `git fast-import`. https://git-scm.com/docs/git-fast-import */
async function* streamCommit(work: Work, { who, parent, message, now, secrets }: CommitHead): AsyncGenerator<Buffer | string> {
  const identity = `${who.name} <${who.email}> ${Math.floor(now / 1000)} +0000`
  const text = Buffer.from(message.replaceAll('\0', ''))
  yield `commit refs/deckhand/${new Date(now).getTime()}-${++imports}\nmark :1\nauthor ${identity}\ncommitter ${identity}\n`
  yield `data ${text.length}\n`
  yield text
  yield `\nfrom ${parent}\n`
  let bytes = 0
  // Deleted ones first: a file may have become a folder, or a folder a file.
  for (const { path, is } of work.changes) if (is === 'deleted') yield `D ${quoted(path)}\n`
  for (const { path, is } of work.changes) {
    if (is === 'deleted') continue
    const file = await readWorkFile(work.folder, path, Math.min(MAX_FILE_BYTES, MAX_BYTES - bytes))
    if ('content' in file && secrets.some((secret) => file.content.includes(secret))) work.leftOut.push({ path, reason: 'login' })
    else if (file.kind === 'file' || file.kind === 'link') {
      const mode = file.kind === 'link' ? '120000' : file.isExecutable ? '100755' : '100644'
      bytes += file.content.length
      yield `M ${mode} inline ${quoted(path)}\ndata ${file.content.length}\n`
      yield file.content
      yield '\n'
    } else if (file.kind !== 'missing') work.leftOut.push({ path, reason: file.kind === 'other' ? 'not_a_file' : file.kind })
  }
  yield 'get-mark :1\ndone\n'
}

let imports = 0

function addChange(work: Work, change: Change): void {
  if (!isPlainPath(change.path)) work.leftOut.push({ path: change.path, reason: 'bad_name' })
  else if (work.changes.length >= MAX_FILES) work.leftOut.push({ path: change.path, reason: 'too_many' })
  else work.changes.push(change)
}

/** What the person's repository ignores by rules outside of its files. */
function excludesOf({ gitDir }: Repository): string[] {
  const file = join(gitDir, 'info', 'exclude')
  return existsSync(file) ? [`--exclude-from=${file}`] : []
}

function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

function plainName(value = ''): string {
  return value.replace(/[<>\p{Cc}]+/gu, ' ').replace(/ +/g, ' ').trim().slice(0, 200) // prettier-ignore
}

function zeroLike(commit: string): string {
  return '0'.repeat(commit.length)
}
