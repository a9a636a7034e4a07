import type { FileState } from '../folder-access/file-state.ts'

export type FileOp = 'write' | 'edit' | 'move' | 'delete'

/** One path that a call changes. `shown` is how the model and the person read it. */
export type JournalPath = { folder: string; parts: readonly string[]; shown: string; realPath: string }

export type IntendedChange = {
  op: FileOp
  at: JournalPath
  /** Of a move: where the file is before. `before` is then its state there, and nothing is at `at`. */
  from: JournalPath | null
  before: FileState | null
  after: FileState | null
  /** The contents, to be kept. null: there is none, it is too large, or (of a move) it stays what it is. */
  bytesBefore: Uint8Array | null
  bytesAfter: Uint8Array | null
  /** What it holds is no text. */
  binary: boolean
}

/**
 * What became of the same call in an earlier attempt, told by looking at the file: `done`, it took effect; `unclear`,
 * what is there now is neither what was before nor what the call wanted.
 */
export type EarlierRun = {
  outcome: 'done' | 'unclear'
  op: FileOp
  shown: string
  shownFrom: string | null
  before: FileState | null
  after: FileState | null
  trashed: boolean
}

/**
 * The memory of what jobs did to files. What was there before is kept, on disk, before anything is changed: that is
 * what diffs and undo are made from, and what lets a call that was cut off by a crash be told from one that was not.
 */
export type FileJournal = {
  /** null: the call has not been tried, or it had no effect. */
  findEarlierRun(callId: string): Promise<EarlierRun | null>
  /** Whether this agent was the last to leave this content there. */
  isOwn(realPath: string, mark: string): boolean
  /** Whether this job was the last to leave this content there. */
  isOfJob(realPath: string, mark: string): boolean
  /** On disk when it resolves. Throws when this attempt may not change anything any more. */
  begin(callId: string, change: IntendedChange): Promise<JournalEntry>
}

export type JournalEntry = {
  done(more?: { trashed: boolean }): Promise<void>
  /** Nothing was changed. */
  failed(): Promise<void>
}

/** The name of the temporary file that a call writes. Its own, so that a later attempt finds and removes it. */
export function draftNameFor(jobId: string, callId: string): string {
  return `.deckhand-${jobId.slice(-12)}-${callId.slice(0, 64)}.tmp`
}
