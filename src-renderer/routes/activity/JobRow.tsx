import { Show } from 'solid-js'
import { DEMO_PROVIDER_ID } from '../../../src-runner/contract/agents.ts'
import { JobErrorCode } from '../../../src-runner/contract/errors.ts'
import { isTerminal, type JobSummary } from '../../../src-runner/contract/jobs.ts'
import { useProgress } from '../../api/queries.ts'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'
import { ChannelIcon } from '../../features/chat-turn/ChannelIcon.tsx'
import { doingText } from '../../features/chat-turn/doing.ts'
import { DemoPill, JobTime } from '../../features/chat-turn/JobFigures.tsx'
import { Money } from '../../ui/Money.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { Time } from '../../ui/Time.tsx'

export const ROW_HEIGHT = 58

/** A job in a list: its status, title, result and cost. */
export function JobRow(props: { job: JobSummary; isActive: boolean }) {
  const progress = useProgress(() => props.job.id)
  const isDemo = () => props.job.model?.providerId === DEMO_PROVIDER_ID
  const outcome = (): string => {
    if (!isTerminal(props.job.status)) return doingText(props.job.status, progress()) ?? t(`common.status.${props.job.status}`)
    if (props.job.status === 'failed') {
      const known = JobErrorCode.safeParse(props.job.error)
      return messageText(props.job.errorMessage) || (known.success ? t(`common.jobError.${known.data}`) : t('common.status.failed'))
    }
    return props.job.resultPreview ?? ''
  }
  return (
    <div
      class={`flex h-full items-center gap-3 border-b border-line px-4 hover:bg-hover ${props.isActive ? 'bg-hover in-focus-visible:outline-2 in-focus-visible:-outline-offset-2 in-focus-visible:outline-accent-ink' : ''}`}
    >
      <StatusBadge status={props.job.status} show="icon" stopping={props.job.cancelRequested && !isTerminal(props.job.status)} />
      <div class="min-w-0 flex-1">
        <div class="flex min-w-0 items-center gap-2">
          <span class="truncate text-sm font-medium text-ink">{props.job.title}</span>
          <Show when={props.job.retryOfJobId}>
            <Pill>{t('activity.retryOf')}</Pill>
          </Show>
        </div>
        <div class="flex min-w-0 items-center gap-1.5 text-xs text-ink-3">
          <span class="shrink-0 text-ink-2">{props.job.agentName}</span>
          <span class="shrink-0" aria-hidden="true">
            ·
          </span>
          <span class="flex shrink-0 items-center gap-1">
            <ChannelIcon channel={props.job.channel} size={12} />
            {t(`common.channel.${props.job.channel}`)}
          </span>
          <Show when={outcome()}>
            <span class="shrink-0 max-sm:hidden" aria-hidden="true">
              ·
            </span>
            <span class={`truncate max-sm:hidden ${props.job.status === 'failed' ? 'text-bad' : ''}`}>{plain(outcome())}</span>
          </Show>
        </div>
      </div>
      <span class="flex w-28 shrink-0 justify-end text-xs text-ink-2 max-lg:w-auto max-md:hidden">
        <Show when={!isDemo()} fallback={<DemoPill />}>
          <Show when={props.job.turns > 0}>
            <Money usd={props.job.costUsd} priced={props.job.priced} />
          </Show>
        </Show>
      </span>
      <span class="w-16 shrink-0 text-right text-xs text-ink-2 max-lg:hidden">
        <JobTime job={props.job} />
      </span>
      <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-sm:w-auto">
        <Time at={props.job.createdAt} />
      </span>
    </div>
  )
}

/** A result in one line, without Markdown markup. */
function plain(text: string): string {
  return text
    .replaceAll(/^\s*\|[\s:|-]+$/gm, '')
    .replaceAll(/\*\*|`|\||^[#>]+ /gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
