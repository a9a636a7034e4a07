import { join } from 'node:path'
import type { FileChange } from '../../contract/files.ts'
import type { ChangedPath, ContentState, FileChangeRecord } from './file-changes.ts'

/** What a job did to one path, all its changes together. */
export type PathTrail = {
  at: ChangedPath
  /** All the ways in which the path was written, and its absolute path with and without links. */
  names: Set<string>
  callIds: string[]
  /** What was there before the job touched it. */
  before: ContentState | null
  /** What the job left there. */
  left: ContentState | null
  /** What is there if nobody else has changed it: what the job left, or what undoing put back. */
  now: ContentState | null
  /** Where what the job left came from, when the job moved it here and it was there before the job. */
  origin: PathTrail | null
  /** What was here went to another path. */
  movedAway: boolean
  binary: boolean
  undone: boolean
}

export type WrittenTrail = PathTrail & { change: FileChange; from: ContentState | null }

/** One for each file that the job wrote: under its last path, in the order in which the job came upon them. */
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

/** The trail that a path belongs to, as it is listed or absolute, also under the name that the file had before. */
export function findTrail(trails: readonly WrittenTrail[], path: string): WrittenTrail | null {
  return trails.find(({ names }) => names.has(path)) ?? trails.find(({ origin }) => origin?.names.has(path)) ?? null
}

/** What one call did, as a trail of its own. */
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
  // Moved here and then deleted: what is gone is the file where it was before.
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
