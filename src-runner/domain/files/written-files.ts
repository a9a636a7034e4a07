import { join } from 'node:path'
import type { FileChange } from '../../contract/files.ts'
import type { ChangedPath, ContentState, FileChangeRecord } from './file-changes.ts'

/** All changes of a job to one path. */
export type PathTrail = {
  at: ChangedPath
  /** All spellings of the path, and its absolute path with and without links. */
  names: Set<string>
  callIds: string[]
  /** The content before the job. */
  before: ContentState | null
  /** The content that the job left. */
  left: ContentState | null
  /** The content now, unless somebody else has changed it: what the job left, or what undoing restored. */
  now: ContentState | null
  /** The path from which the job moved this file, if it existed before the job. */
  origin: PathTrail | null
  /** The job moved the file to another path. */
  movedAway: boolean
  binary: boolean
  undone: boolean
}

export type WrittenTrail = PathTrail & { change: FileChange; from: ContentState | null }

/** One trail for each file that the job wrote, at its last path, in the order in which the job first used them. */
export function trailsOf(changes: readonly FileChangeRecord[]): WrittenTrail[] {
  const trails = new Map<string, PathTrail>()
  for (const change of changes) {
    if (change.state === 'void' || change.state === 'started') continue
    if (change.from !== null) applyMove(trails, change, change.from)
    else applyChange(trails, change)
  }
  const all = [...trails.values()]
  const origins = new Set(all.map(({ origin }) => origin))
  return all
    .filter((trail) => !(trail.left === null && trail.movedAway && (trail.before === null || origins.has(trail))))
    .map((trail) => {
      const from = trail.origin === null ? trail.before : trail.origin.before
      return {
        ...trail,
        from,
        change: from === null ? (trail.left === null ? 'deleted' : 'added') : trail.left === null ? 'deleted' : 'modified',
      }
    })
}

/**
 * Finds a trail by a listed or absolute path, also by the path before a move. The name of the folder may be missing, as in calls of an
 * agent with one folder, and the path may be written as a call wrote it: `./a`, `a//b`, `a/./b`.
 */
export function findTrail(trails: readonly WrittenTrail[], path: string): WrittenTrail | null {
  const parts = path.split('/').filter((part, i) => part !== '.' && (part !== '' || i === 0))
  const inFolder = parts.join('/')
  const isAt = (trail: PathTrail | null) => trail !== null && [path, inFolder].some((spelling) => trail.names.has(spelling))
  const named = trails.find(isAt) ?? trails.find(({ origin }) => isAt(origin))
  if (named !== undefined) return named
  const [found, another] = trails.filter((trail) => [trail.at, trail.origin?.at].some((at) => at?.parts.join('/') === inFolder))
  return another === undefined ? (found ?? null) : null
}

/** The trail of a single call. */
export function trailOfCall(changes: readonly FileChangeRecord[], callId: string, path: string): WrittenTrail | null {
  return findTrail(trailsOf(changes.filter((change) => change.callId === callId)), path)
}

function applyChange(trails: Map<string, PathTrail>, change: FileChangeRecord): void {
  const trail = touch(trails, change.at, change.before, change)
  trail.now = change.after
  trail.undone = change.op === 'undo'
  if (change.op === 'undo') return
  trail.left = change.after
  trail.movedAway = false
  if (change.op !== 'delete' || trail.origin === null) return
  // The file was moved here and then deleted, so it is missing at its original path.
  trail.origin.callIds = merged(trail.origin.callIds, trail.callIds)
  trail.origin = null
  trail.movedAway = true
}

function applyMove(trails: Map<string, PathTrail>, change: FileChangeRecord, from: ChangedPath): void {
  const source = touch(trails, from, change.before, change)
  const target = touch(trails, change.at, null, change)
  source.now = null
  target.now = change.after
  source.undone = target.undone = change.op === 'undo'
  if (change.op === 'undo') return
  source.left = null
  source.movedAway = true
  target.left = change.after
  target.movedAway = false
  const origin = source.origin ?? source
  target.origin = origin === target || origin.before === null ? null : origin
  if (target.origin !== null || source.before === null) target.callIds = merged(source.callIds, target.callIds)
  source.origin = null
}

function touch(trails: Map<string, PathTrail>, at: ChangedPath, before: ContentState | null, change: FileChangeRecord): PathTrail {
  let trail = trails.get(at.realPath)
  if (trail === undefined) {
    trail = {
      at,
      names: new Set(),
      callIds: [],
      before,
      left: before,
      now: before,
      origin: null,
      movedAway: false,
      binary: false,
      undone: false,
    }
    trails.set(at.realPath, trail)
  }
  trail.at = at
  for (const name of [at.shown, join(at.folder, ...at.parts), at.realPath]) trail.names.add(name)
  trail.binary ||= change.binary
  if (change.callId !== null && !trail.callIds.includes(change.callId)) trail.callIds.push(change.callId)
  return trail
}

function merged(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first, ...second])]
}
