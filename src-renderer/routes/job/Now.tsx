import { Show } from 'solid-js'
import type { Job } from '../../../src-runner/contract/jobs.ts'
import { t } from '../../lib/language.ts'
import { Doing } from '../../features/chat-turn/TurnItems.tsx'

/** What a job that is not over does, or waits for. */
export function Now(props: { job: Job; hasPendingApproval: boolean; doing: string | null }) {
  const waits = () => {
    // The approvals are shown above.
    if (props.job.status === 'awaiting_approval') return props.hasPendingApproval ? null : t('job.waitingApproval')
    return props.job.status === 'awaiting_child' ? t('job.waitingChild') : null
  }
  return (
    <div aria-live="polite" class="empty:-mt-5">
      <Show when={waits()} fallback={<Show when={props.doing}>{(doing) => <Doing text={doing()} />}</Show>}>
        {(text) => <p class="rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn">{text()}</p>}
      </Show>
    </div>
  )
}
