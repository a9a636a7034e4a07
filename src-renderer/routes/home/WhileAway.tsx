import { A } from '@solidjs/router'
import StepForward from 'lucide-solid/icons/step-forward'
import { createMemo, createSignal, type JSX, Show } from 'solid-js'
import type { ScheduleSummary } from '../../../src-runner/contract/schedules.ts'
import { useRunScheduleNow } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useJobs, useScheduleSummary } from '../../api/queries.ts'
import { moneyText } from '../../kit/numbers.ts'
import { markBack } from '../../kit/presence.ts'
import { dayTime } from '../../kit/time.ts'
import { locale, words } from '../../kit/words/words.ts'
import { isBehind, type Tally, type TallyKind, tallyOf, whyNot } from '../../ledger/tally.ts'
import { TallyLine } from '../../ledger/TallyLine.tsx'
import { Button } from '../../ui/Button.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Money } from '../../ui/Money.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** More than this would push everything else out of sight. */
const AT_FIRST = 5
const WEBHOOK_JOBS = 200

/** What the clock and other programs started since the person was last here, what they did not, why, and what it cost. */
export function WhileAway(props: { from: number }): JSX.Element {
  const text = () => words().home.away
  const summary = useScheduleSummary(() => ({ from: props.from }))
  const posted = useJobs(() => ({ channel: 'webhook', from: props.from, limit: WEBHOOK_JOBS }))
  const [isWhole, setWhole] = createSignal(false)
  const all = () => tallyOf(summary.data?.all ?? [])
  const schedules = () => summary.data?.schedules ?? []
  const shown = () => (isWhole() ? schedules() : schedules().slice(0, AT_FIRST))
  const left = () => (summary.data?.count ?? 0) - shown().length
  const costUsd = () => (summary.data?.costUsd ?? 0) + posted.items.reduce((sum, job) => sum + job.costUsd, 0)
  return (
    <Show when={schedules().length > 0 || posted.items.length > 0}>
      <section aria-label={text().title}>
        <Panel
          title={text().title}
          description={text().since(dayTime(props.from, locale()))}
          flush
          actions={
            <Button size="sm" variant="ghost" onClick={() => markBack(Date.now())}>
              {text().seen}
            </Button>
          }
        >
          <div class="flex flex-wrap items-center gap-x-6 gap-y-1 border-b border-line px-4 pt-1 pb-3 text-md">
            <TallyLine tallies={all()} class="min-w-0 flex-1" />
            <span class="text-sm text-ink-2">{text().cost(moneyText(costUsd(), locale()))}</span>
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
                when={!isWhole()}
                fallback={
                  <A href="/automations/schedules" class="px-2 text-xs text-accent-ink hover:underline">
                    {text().more(left())}
                  </A>
                }
              >
                <Button size="sm" variant="ghost" onClick={() => setWhole(true)}>
                  {text().more(left())}
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
  const text = () => words().home.away
  const runNow = useRunScheduleNow()
  const tallies = createMemo(() => tallyOf(props.summary.sums))
  const canRun = () => props.summary.status !== 'paused' && isBehind(tallies())
  const run = async () => {
    try {
      await runNow.run({ params: { scheduleId: props.summary.scheduleId } })
      toast({ text: text().started(props.summary.name) })
    } catch (thrown) {
      toast({ tone: 'bad', text: sentenceOf(thrown) })
    }
  }
  return (
    <Line
      name={props.summary.name}
      href={`/automations/schedules/${props.summary.scheduleId}`}
      costUsd={props.summary.costUsd}
      why={whyNot(tallies())}
      action={
        <Show when={canRun()}>
          <Button
            size="sm"
            icon={StepForward}
            busy={runNow.isRunning}
            aria-label={text().runNowFor(props.summary.name)}
            onClick={() => void run()}
          >
            {text().runNow}
          </Button>
        </Show>
      }
    >
      <TallyLine tallies={tallies()} />
    </Line>
  )
}

function OfWebhooks(props: { jobs: readonly { status: string; costUsd: number }[]; hasMore: boolean }): JSX.Element {
  const text = () => words().home.away
  const failed = () => props.jobs.filter(({ status }) => status === 'failed').length
  const waiting = () => props.jobs.filter(({ status }) => status === 'awaiting_approval').length
  const count = () => (props.hasMore ? text().webhookJobsMore : text().webhookJobs)(props.jobs.length)
  return (
    <Line
      name={text().webhooks}
      href="/activity?channel=webhook"
      costUsd={props.jobs.reduce((sum, job) => sum + job.costUsd, 0)}
      why={null}
    >
      <div class="flex flex-wrap gap-x-4 text-ink-2">
        {count()}
        <TallyLine tallies={[...countOf('failed', failed()), ...countOf('waiting', waiting())]} />
      </div>
    </Line>
  )
}

const countOf = (kind: TallyKind, times: number): Tally[] => (times === 0 ? [] : [{ kind, times, reason: '', lastAt: 0 }])

/** Names below names and numbers below numbers; why something did not run goes below both. */
function Line(props: {
  name: string
  href: string
  costUsd: number
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
        <Money usd={props.costUsd} class="w-16 shrink-0 text-right text-ink-3" />
      </div>
      <Show when={props.why}>{(why) => <p class="wrap-anywhere text-ink-3">{why()}</p>}</Show>
    </li>
  )
}
