import type { JobStatus } from '../../../src-runner/contract/jobs.ts'
import type { Progress } from '../../api/live.ts'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'

/** What a job does at this moment, in words; null when it does nothing. */
export function doingText(status: JobStatus, progress: Progress | null): string | null {
  if (status === 'pending') return t('chat.waitingToStart')
  if (status !== 'running') return null
  if (progress?.activity === 'retry_wait') return t('common.activity.retry_wait', { reason: detailText(progress) || t('common.unknown') })
  // A tool that runs has its own line. Of the model there is something to say when it does not read everything.
  return (progress?.activity === 'model' && detailText(progress)) || t('turn.thinking')
}

/** What there is to say of the model. */
export function detailText({ detail }: Progress): string {
  return typeof detail === 'object' ? messageText(detail) : ''
}
