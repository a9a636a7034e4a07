import CalendarClock from 'lucide-solid/icons/calendar-clock'
import CircleDollarSign from 'lucide-solid/icons/circle-dollar-sign'
import CircleDotDashed from 'lucide-solid/icons/circle-dot-dashed'
import CirclePause from 'lucide-solid/icons/circle-pause'
import { type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { JobStatus } from '../../../../src-runner/contract/jobs.ts'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { t } from '../../../lib/language.ts'
import type { Icon } from '../../../ui/icon.ts'
import { Pill } from '../../../ui/Pill.tsx'
import { useLiveRun } from './use-live-run.ts'

type Look = { icon: Icon; tone: string; pill: 'plain' | 'ok' | 'warn' | 'accent'; word: string; spins: boolean }

function lookOf(schedule: Schedule, live: JobStatus | null): Look {
  if (schedule.status === 'paused') {
    return { icon: CirclePause, tone: 'text-ink-3', pill: 'plain', word: t('automations.paused'), spins: false }
  }
  if (schedule.status === 'budget_exhausted') {
    return { icon: CircleDollarSign, tone: 'text-warn', pill: 'warn', word: t('automations.schedule.exhausted'), spins: false }
  }
  if (live === 'awaiting_approval') {
    return { icon: CirclePause, tone: 'text-warn', pill: 'warn', word: t('common.status.awaiting_approval'), spins: false }
  }
  if (live !== null) {
    return { icon: CircleDotDashed, tone: 'text-accent-ink', pill: 'accent', word: t('automations.schedule.running'), spins: true }
  }
  return { icon: CalendarClock, tone: 'text-ok', pill: 'ok', word: t('automations.active'), spins: false }
}

export function ScheduleIcon(props: { schedule: Schedule }): JSX.Element {
  const live = useLiveRun(() => props.schedule)
  const look = () => lookOf(props.schedule, live())
  return (
    <span class={`inline-flex shrink-0 ${look().tone}`} title={look().word}>
      <Dynamic component={look().icon} size={16} class={look().spins ? 'animate-spin [animation-duration:3s]' : ''} aria-hidden="true" />
    </span>
  )
}

/** The state of a schedule. With `onlyOdd`, nothing for the normal state. */
export function SchedulePill(props: { schedule: Schedule; onlyOdd?: boolean }): JSX.Element {
  const live = useLiveRun(() => props.schedule)
  const look = () => lookOf(props.schedule, live())
  return (
    <Show when={!props.onlyOdd || look().pill !== 'ok'}>
      <Pill tone={look().pill}>{look().word}</Pill>
    </Show>
  )
}
