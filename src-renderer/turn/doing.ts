import type { JobStatus } from '../../src-runner/contract/jobs.ts'
import type { Progress } from '../api/live.ts'
import { saidText } from '../kit/said.ts'
import type { Words } from '../kit/words/words.ts'

/** What a job does at this moment, in words; null when it does nothing. */
export function doingText(status: JobStatus, progress: Progress | null, words: Words): string | null {
  if (status === 'pending') return words.chat.waitingToStart
  if (status !== 'running') return null
  if (progress?.activity === 'retry_wait')
    return words.common.activity.retry_wait(saidText(progress.detail, progress.detailSaid, words) || words.common.unknown)
  // A tool that runs has its own line. Of the model there is something to say when it does not read everything.
  return (progress?.activity === 'model' && saidText(progress.detail, progress.detailSaid, words)) || words.turn.thinking
}
