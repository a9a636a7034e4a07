import type { FileState } from '../files/file-state.ts'

export type FileOp = 'write' | 'edit' | 'move' | 'delete'

/** One path that a call changes. `shown` is how the model and the person read it. */
export type JournalPath = { folder: string; parts: readonly string[]; shown: string; realPath: string }

export type IntendedChange = {
  op: FileOp
  at: JournalPath
  /** The source of a move. `before` is the state there, and nothing is at `at`. */
  from: JournalPath | null
  before: FileState | null
  after: FileState | null
  /** The contents to keep. null: no content, too large, or unchanged by a move. */
  bytesBefore: Uint8Array | null
  bytesAfter: Uint8Array | null
  binary: boolean
}

/** What became of the same call in an earlier attempt. `unclear`: the file is neither as before nor as the call wanted it. */
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
 * What jobs did to files. The content before a change is on disk before the change begins. Diffs and undo are made from
 * it, and after a crash it tells whether a call took effect.
 */
export type FileJournal = {
  /** null: the call was not tried, or had no effect. */
  findEarlierRun(callId: string): Promise<EarlierRun | null>
  /** Whether this agent was the last to leave this content there. */
  isOwn(realPath: string, mark: string): boolean
  /** Whether this job was the last to leave this content there. */
  isOfJob(realPath: string, mark: string): boolean
  /** On disk when it resolves. Rejects with StaleClaimError. */
  begin(callId: string, change: IntendedChange): Promise<JournalEntry>
}

export type JournalEntry = {
  done(more?: { trashed: boolean }): Promise<void>
  /** Nothing was changed. */
  failed(): Promise<void>
}

/** The temporary file of a call. The name is the same in a later attempt, which removes it. */
export function draftNameFor(jobId: string, callId: string): string {
  return `.deckhand-${jobId.slice(-12)}-${callId.slice(0, 64)}.tmp`
}
