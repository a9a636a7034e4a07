import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, lstat, mkdir, open, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize, sep } from 'node:path'
import { blobNameOf, hasOnly, lookAt, removeEmptyAbove, replaceAt, type Present } from './checkout-files.ts'
import { readBlobs } from './read-blobs.ts'
import type { Range } from './read-changes.ts'
import type { Repositories, Repository } from './repository.ts'
import type { RunGit } from './run-git.ts'
import { isPlainPath } from './work-files.ts'

/** Why a change does not fit the checkout. */
export type Misfit = {
  path: string
  why: /** Changed in the checkout, at the same lines or in a way that cannot be merged. */
    | 'changed'
    /** Something else is there. */
    | 'exists'
    | 'deleted'
    | 'through_a_link'
    /** It is a link that leads out of the repository. */
    | 'link_leads_out'
    | 'submodule'
    | 'bad_name'
    /** On this disk, it is the same as another changed path. */
    | 'twin'
    | 'too_large'
    | 'not_writable'
}

/**
 * `files`: how many were written or deleted. After `refused`, nothing was changed, except beside a file that the person changed
 * meanwhile.
 */
export type Applied = { is: 'applied'; files: number } | { is: 'refused'; misfits: Misfit[] }

type Entry = { path: string; oldMode: string; mode: string; base: string; wanted: string }
/** `staged`: the new content. null: it is deleted. */
type Step = { path: string; mark: string; staged: string | null }
/** `mode`: of the file that is there. `mine`: its content, if it is to be merged. */
type ToWrite = { entry: Entry; mark: string; mode: number | null; mine: Buffer | null; hasCrLf: boolean }
/** `wanted`: all paths that the commit has of those that differ. `deleted`: those that are to be deleted, and can be. */
type Plan = {
  repository: Repository
  stage: string
  wanted: ReadonlySet<string>
  deleted: Set<string>
  steps: Step[]
  writes: ToWrite[]
  misfits: Misfit[]
}

const MB = 1_000_000
const MAX_FILE_BYTES = 50 * MB
const MAX_MERGED_BYTES = 5 * MB
const MAX_LIST_BYTES = 16 * MB
const COMPARE_WITHIN_MS = 5 * 60_000
const SIDE_BY_SIDE = 32
const STAGE = 'deckhand-apply-'
const NOTHING = Buffer.alloc(0)
const NO_FILE = '000000'
const MODES = ['100644', '100755', '120000']

export function createApplier({ run, repositories }: { run: RunGit; repositories: Repositories }) {
  /**
   * Brings what differs between two commits into the files of the person's checkout, whatever is checked out. Other changes of
   * the person stay, also in the same files; the index stays as it is. First looks whether all of it fits. Every file is replaced in
   * one step. A call that was interrupted is completed by the next one.
   */
  async function applyTo({ repository: root, base, commit }: Range): Promise<Applied> {
    const repository = await repositories.open(root)
    await deleteStages(repository)
    const stage = join(repository.gitDir, STAGE + randomBytes(6).toString('hex'))
    await mkdir(stage, { mode: 0o700 })
    try {
      const entries = await listEntries(repository, base, commit)
      const [gone, present] = [entries.filter(({ mode }) => mode === NO_FILE), entries.filter(({ mode }) => mode !== NO_FILE)]
      const wanted = new Set(present.map(({ path }) => path))
      const plan: Plan = { repository, stage, wanted, deleted: new Set(), steps: [], writes: [], misfits: [] }
      plan.misfits.push(...(await twinsIn(root, entries)))
      // A file may take the place of a folder, and the reverse.
      for (const entry of [...gone, ...present]) await planEntry(plan, entry)
      if (plan.misfits.length === 0) await stageWrites(plan)
      if (plan.misfits.length > 0) return { is: 'refused', misfits: plan.misfits }
      await syncStaged(plan.steps)
      return await takeSteps(root, plan.steps)
    } finally {
      await rm(stage, { recursive: true, force: true })
    }
  }

  async function listEntries({ plain }: Repository, base: string, commit: string): Promise<Entry[]> {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', base, commit]
    const { output } = await run({ at: plain, args, maxBytes: MAX_LIST_BYTES, withinMs: COMPARE_WITHIN_MS })
    const parts = output.toString('utf8').split('\0').slice(0, -1)
    return parts.flatMap((head, at) => {
      if (at % 2 === 1) return []
      const [oldMode = '', mode = '', from = '', to = ''] = head.slice(1).split(' ')
      return [{ path: parts[at + 1]!, oldMode, mode, base: from, wanted: to }]
    })
  }

  /** The contents that are to be written, with the person's own changes to the same files. */
  async function stageWrites(plan: Plan): Promise<void> {
    const { writes, repository } = plan
    const reads = writes.flatMap((write) => [
      ...(write.mine === null ? [] : [{ write, name: write.entry.base, isBase: true }]),
      { write, name: write.entry.wanted, isBase: false },
    ])
    const options = { at: repository.plain, names: reads.map(({ name }) => name), maxBytes: MAX_FILE_BYTES }
    let base: Buffer | null = null
    await readBlobs(run, options, async (position, content) => {
      const { write, isBase } = reads[position]!
      if (isBase) {
        base = content
        return
      }
      const { path } = write.entry
      if (content === null) return void plan.misfits.push({ path, why: 'too_large' })
      const merged = write.mine === null ? content : base === null ? null : await merge(plan, { mine: write.mine, base, wanted: content })
      if (merged === null) plan.misfits.push({ path, why: 'changed' })
      else await stageOne(plan, write, merged)
    })
  }

  /** null: both changed the same lines, or it is no text. */
  async function merge({ stage, repository }: Plan, contents: { mine: Buffer; base: Buffer; wanted: Buffer }): Promise<Buffer | null> {
    const { base, wanted } = contents
    const mine = base.includes('\r\n') ? contents.mine : withoutCr(contents.mine)
    if ([mine, base, wanted].some((content) => content.length > MAX_MERGED_BYTES || content.includes(0))) return null
    const files = ['mine', 'base', 'wanted'].map((name) => join(stage, name))
    for (const [at, content] of [mine, base, wanted].entries()) await writeFile(files[at]!, content)
    const at = { ...repository.plain, workTree: stage }
    const args = ['merge-file', '-p', '-q', ...files]
    const { output, code } = await run({ at, args, maxBytes: 3 * MAX_MERGED_BYTES, okCodes: CONFLICTS })
    return code === 0 ? output : null
  }

  return { applyTo }
}

/** The number of conflicts, up to 127, or 255. */
const CONFLICTS = Array.from({ length: 255 }, (_, at) => at + 1)

async function planEntry(plan: Plan, entry: Entry): Promise<void> {
  const { repository, deleted, steps, writes, misfits } = plan
  const { root } = repository
  const { path, mode, oldMode, base, wanted } = entry
  const refuse = (why: Misfit['why']) => void misfits.push({ path, why })
  if (!isPlainPath(path) || path.includes('\uFFFD')) return refuse('bad_name')
  if (![...MODES, NO_FILE].includes(mode) || ![...MODES, NO_FILE].includes(oldMode)) return refuse('submodule')
  const present = await lookAt(root, path, MAX_FILE_BYTES)
  const isMissing = await isAsMissing(plan, entry, present)
  if (present.kind === 'too_large') return refuse('too_large')
  if (present.kind === 'blocked' && !isMissing) return refuse(present.isLink ? 'through_a_link' : 'exists')
  if (present.kind === 'other' || (present.kind === 'folder' && !isMissing)) return refuse('exists')
  if (present.kind !== 'blocked' && !(await isWritable(root, path))) return refuse('not_writable')
  const content = 'content' in present ? present.content : NOTHING
  const hasCrLf = present.kind === 'file' && usesCrLf(content)
  const write = (mine: Buffer | null) =>
    void writes.push({ entry, mark: present.mark, mode: present.kind === 'file' ? present.mode : null, mine, hasCrLf })

  if (isMissing) {
    if (mode === NO_FILE) return
    return oldMode === NO_FILE ? write(null) : refuse('deleted')
  }
  const isAs = (name: string, kind: string) =>
    (kind === '120000') === (present.kind === 'link') &&
    (blobNameOf(content, name) === name || (hasCrLf && blobNameOf(withoutCr(content), name) === name))
  if (mode !== NO_FILE && isAs(wanted, mode)) return isExecutableAs(present, mode, oldMode) ? undefined : write(null)
  if (oldMode === NO_FILE) return refuse('exists')
  const isBase = isAs(base, oldMode)
  if (mode === NO_FILE) {
    if (!isBase) return refuse('changed')
    deleted.add(path)
    return void steps.push({ path, mark: present.mark, staged: null })
  }
  if (isBase) return write(null)
  if (present.kind === 'file' && mode !== '120000' && oldMode !== '120000') return write(content)
  refuse('changed')
}

/** Whether nothing is there, or nothing once this change, or a call before this one, has made room. */
async function isAsMissing({ repository, wanted, deleted }: Plan, { path, mode }: Entry, present: Present): Promise<boolean> {
  const isGone = mode === NO_FILE
  switch (present.kind) {
    case 'missing':
      return true
    case 'folder':
      return isGone || hasOnly(repository.root, path, deleted).catch(() => false)
    case 'blocked':
      return deleted.has(present.by) || (isGone && (!present.isLink || wanted.has(present.by)))
    default:
      return false
  }
}

/** Whether the file can be run as the change wants it, or the change does not say. */
function isExecutableAs(present: Present, mode: string, oldMode: string): boolean {
  if (process.platform === 'win32' || mode === oldMode || !('mode' in present) || present.kind === 'link') return true
  return (mode === '100755') === ((present.mode & 0o100) !== 0)
}

async function stageOne(
  { stage, steps, misfits }: Plan,
  { entry, mark, mode: former, mine, hasCrLf }: ToWrite,
  content: Buffer,
): Promise<void> {
  const { path, mode, oldMode } = entry
  const staged = join(stage, String(steps.length))
  if (mode === '120000') {
    const target = content.toString('utf8')
    const leadsTo = normalize(join(dirname(path), target))
    // One to `.git` would let a later change of a file in the checkout change what Git runs.
    const isInside = leadsTo === '.' || isPlainPath(leadsTo.split(sep).join('/').replace(/\/$/, ''))
    if (isAbsolute(target) || !isInside) return void misfits.push({ path, why: 'link_leads_out' })
    await symlink(target, staged)
  } else {
    // CRLF in both would double it.
    const result = hasCrLf && !content.includes('\r\n') ? withCr(content) : content
    const isExecutable = former === null || mode !== oldMode ? mode === '100755' : (former & 0o100) !== 0
    const readable = former ?? 0o666 & ~process.umask()
    const permissions = isExecutable ? readable | ((readable & 0o444) >> 2) : readable & ~0o111
    // A call before this one merged it.
    if (mine?.equals(result) === true && former === permissions) return
    await writeFile(staged, result, { mode: 0o600 })
    await chmod(staged, permissions)
  }
  steps.push({ path, mark, staged })
}

/** A file that the person changed meanwhile stays. The next call looks at it again. */
async function takeSteps(root: string, steps: readonly Step[]): Promise<Applied> {
  const misfits: Misfit[] = []
  const inOrder = [...steps.filter(({ staged }) => staged === null), ...steps.filter(({ staged }) => staged !== null)]
  for (const { path, mark, staged } of inOrder) {
    const isDone = await replaceAt(root, path, { mark, by: staged }).catch(() => null)
    if (isDone !== true) misfits.push({ path, why: isDone === null ? 'not_writable' : 'changed' })
  }
  for (const { path, staged } of inOrder) if (staged === null) await removeEmptyAbove(root, path)
  return misfits.length > 0 ? { is: 'refused', misfits } : { is: 'applied', files: steps.length }
}

/** Whether the folder that will have the file may be changed. */
async function isWritable(root: string, path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const full = join(root, folder)
    if (folder === '.' || (await lstat(full).then(Boolean, () => false))) return access(full, constants.W_OK).then(() => true, () => false) // prettier-ignore
  }
}

/** On a disk that ignores case, the later of two would replace the earlier. */
async function twinsIn(root: string, entries: readonly Entry[]): Promise<Misfit[]> {
  const [lower, upper] = await Promise.all(['.git', '.GIT'].map((name) => lstat(join(root, name)).catch(() => null)))
  if (lower?.ino !== upper?.ino) return []
  const seen = new Set<string>()
  return entries.flatMap(({ path }) => {
    const folded = path.normalize('NFC').toUpperCase().toLowerCase()
    if (seen.has(folded)) return [{ path, why: 'twin' as const }]
    seen.add(folded)
    return []
  })
}

/** So that after a power cut no file is there without its content. Side by side, since each waits for the disk. */
async function syncStaged(steps: readonly Step[]): Promise<void> {
  for (let at = 0; at < steps.length; at += SIDE_BY_SIDE) {
    await Promise.all(
      steps.slice(at, at + SIDE_BY_SIDE).map(async ({ staged }) => {
        if (staged === null || (await lstat(staged)).isSymbolicLink()) return
        const handle = await open(staged, process.platform === 'win32' ? constants.O_RDWR : constants.O_RDONLY)
        try {
          await handle.sync()
        } finally {
          await handle.close()
        }
      }),
    )
  }
}

/** Deletes what interrupted calls left. */
async function deleteStages({ gitDir }: Repository): Promise<void> {
  for (const name of await readdir(gitDir)) if (name.startsWith(STAGE)) await rm(join(gitDir, name), { recursive: true, force: true })
}

function withoutCr(content: Buffer): Buffer {
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}

/** At the end of each line. */
function usesCrLf(content: Buffer): boolean {
  return content.includes('\r\n') && withCr(withoutCr(content)).equals(content)
}

function withCr(content: Buffer): Buffer {
  return Buffer.from(content.toString('latin1').replaceAll('\n', '\r\n'), 'latin1')
}
