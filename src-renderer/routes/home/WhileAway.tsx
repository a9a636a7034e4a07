import { A } from '@solidjs/router'
import StepForward from 'lucide-solid/icons/step-forward'
import { createMemo, createSignal, type JSX, Show } from 'solid-js'
import type { JobSummary } from '../../../src-runner/contract/jobs.ts'
import type { ScheduleSummary } from '../../../src-runner/contract/schedules.ts'
import { useAction } from '../../api/mutations.ts'
import { useJobs, useScheduleSummary } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { markBack } from '../../lib/presence.ts'
import { dayTime } from '../../lib/time.ts'
import { locale, t } from '../../lib/language.ts'
import { isBehind, type Tally, type TallyKind, tallyOf, whyNot } from '../../features/run-history/tally.ts'
import { TallyLine } from '../../features/run-history/TallyLine.tsx'
import { Button } from '../../ui/Button.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Money } from '../../ui/Money.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** More would push everything else out of sight. */
const AT_FIRST = 5
const WEBHOOK_JOBS = 200

/** What schedules and webhooks did while the person was away: runs, missed runs with the reason, and the cost. */
export function WhileAway(props: { from: number }): JSX.Element {
  const summary = useScheduleSummary(() => ({ from: props.from }))
  const posted = useJobs(() => ({ channel: 'webhook', from: props.from, limit: WEBHOOK_JOBS }))
  const [isExpanded, setExpanded] = createSignal(false)
  const all = () => tallyOf(summary.data?.all ?? [])
  const schedules = () => summary.data?.schedules ?? []
  const shown = () => (isExpanded() ? schedules() : schedules().slice(0, AT_FIRST))
  const left = () => (summary.data?.count ?? 0) - shown().length
  const costText = () => {
    const usd = (summary.data?.costUsd ?? 0) + costOf(posted.items)
    const isPriced = summary.data?.priced !== false && arePriced(posted.items)
    if (!isPriced && usd === 0) return t('home.away.cost', { cost: t('common.unpriced') })
    const amount = moneyText(usd, locale())
    const cost = posted.hasMore ? t('common.atLeast', { amount }) : amount
    return t(isPriced ? 'home.away.cost' : 'home.away.costPartlyPriced', { cost })
  }
  return (
    <Show when={schedules().length > 0 || posted.items.length > 0}>
      <section aria-label={t('home.away.title')}>
        <Panel
          title={t('home.away.title')}
          description={t('home.away.since', { when: dayTime(props.from, locale()) })}
          flush
          actions={
            <Button size="sm" variant="ghost" onClick={() => markBack(Date.now())}>
              {t('home.away.seen')}
            </Button>
          }
        >
          <div class="flex flex-wrap items-center gap-x-6 gap-y-1 border-b border-line px-4 pt-1 pb-3 text-md">
            <TallyLine tallies={all()} class="min-w-0 flex-1" />
            <span class="text-sm text-ink-2">{costText()}</span>
          </div>
          <ul class="py-1">
            <KeyedFor each={shown()} keyOf={(one) => one.scheduleId}>
              {(one) => <OfSchedule summary={one()} />}
            </KeyedFor>
            <Show when={posted.items.length > 0}>
              <OfWebhooks jobs={posted.items} hasMore={posted.hasMore} />
            </Show>
          </ul>
          <Show when={left() > 0}>
            <div class="px-2 pb-2">
              <Show
                when={!isExpanded()}
                fallback={
                  <A href="/automations/schedules" class="px-2 text-xs text-accent-ink hover:underline">
                    {t('home.away.more', { count: left() })}
                  </A>
                }
              >
                <Button size="sm" variant="ghost" onClick={() => setExpanded(true)}>
                  {t('home.away.more', { count: left() })}
                </Button>
              </Show>
            </div>
          </Show>
        </Panel>
      </section>
    </Show>
  )
}

function OfSchedule(props: { summary: ScheduleSummary }): JSX.Element {
  const runNow = useAction('runScheduleNow')
  const tallies = createMemo(() => tallyOf(props.summary.sums))
  const canRun = () => props.summary.status !== 'paused' && isBehind(tallies())
  const run = async () => {
    try {
      await runNow.run({ params: { scheduleId: props.summary.scheduleId } })
      toast({ text: t('home.away.started', { name: props.summary.name }) })
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <Line
      name={props.summary.name}
      href={`/automations/schedules/${props.summary.scheduleId}`}
      costUsd={props.summary.costUsd}
      priced={props.summary.priced}
      why={whyNot(tallies())}
      action={
        <Show when={canRun()}>
          <Button
            size="sm"
            icon={StepForward}
            busy={runNow.isRunning}
            aria-label={t('home.away.runNowFor', { name: props.summary.name })}
            onClick={() => void run()}
          >
            {t('home.away.runNow')}
          </Button>
        </Show>
      }
    >
      <TallyLine tallies={tallies()} />
    </Line>
  )
}

const costOf = (jobs: readonly JobSummary[]) => jobs.reduce((sum, job) => sum + job.costUsd + job.childrenCostUsd, 0)
const arePriced = (jobs: readonly JobSummary[]) => jobs.every((job) => job.priced)

function OfWebhooks(props: { jobs: readonly JobSummary[]; hasMore: boolean }): JSX.Element {
  const failed = () => props.jobs.filter(({ status }) => status === 'failed').length
  const waiting = () => props.jobs.filter(({ status }) => status === 'awaiting_approval').length
  const count = () => t(props.hasMore ? 'home.away.webhookJobsMore' : 'home.away.webhookJobs', { count: props.jobs.length })
  return (
    <Line
      name={t('home.away.webhooks')}
      href="/activity?channel=webhook"
      costUsd={costOf(props.jobs)}
      priced={arePriced(props.jobs)}
      atLeast={props.hasMore}
      why={null}
    >
      <div class="flex flex-wrap gap-x-4 text-ink-2">
        {count()}
        <TallyLine tallies={[...countOf('failed', failed()), ...countOf('waiting', waiting())]} atLeast={props.hasMore} />
      </div>
    </Line>
  )
}

const countOf = (kind: TallyKind, times: number): Tally[] => (times === 0 ? [] : [{ kind, times, reason: null, lastAt: 0 }])

/** A line in two columns, a name and numbers, with the reason for a missed run below. */
function Line(props: {
  name: string
  href: string
  costUsd: number
  priced: boolean
  atLeast?: boolean
  why: string | null
  action?: JSX.Element
  children: JSX.Element
}): JSX.Element {
  return (
    <li class="px-4 py-1.5 text-xs hover:bg-hover">
      <div class="flex flex-wrap items-center gap-x-4 gap-y-1">
        <A href={props.href} title={props.name} class="w-52 shrink-0 truncate text-sm font-medium hover:underline max-lg:w-40">
          {props.name}
        </A>
        <div class="min-w-40 flex-1">{props.children}</div>
        {props.action}
        <Money usd={props.costUsd} priced={props.priced} atLeast={props.atLeast === true} class="min-w-16 shrink-0 text-right text-ink-3" />
      </div>
      <Show when={props.why}>{(why) => <p class="wrap-anywhere text-ink-3">{why()}</p>}</Show>
    </li>
  )
}
