import type { JobStatus } from '../../../src-runner/contract/jobs.ts'
import type { Progress } from '../../api/live.ts'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'

/** What a job does now, as text, or null when it does nothing. */
export function doingText(status: JobStatus, progress: Progress | null): string | null {
  if (status === 'pending') return t('chat.waitingToStart')
  if (status !== 'running') return null
  if (progress?.activity === 'retry_wait') return t('common.activity.retry_wait', { reason: detailText(progress) || t('common.unknown') })
  // A running tool has its own line. The model has a detail when it does not read the whole conversation.
  return (progress?.activity === 'model' && detailText(progress)) || t('turn.thinking')
}

/** The detail of a model call. */
export function detailText({ detail }: Progress): string {
  return typeof detail === 'object' ? messageText(detail) : ''
}
