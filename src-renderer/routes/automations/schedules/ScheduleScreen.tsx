import { A, useNavigate, useParams } from '@solidjs/router'
import CircleDollarSign from 'lucide-solid/icons/circle-dollar-sign'
import CopyPlus from 'lucide-solid/icons/copy-plus'
import Pause from 'lucide-solid/icons/pause'
import Pencil from 'lucide-solid/icons/pencil'
import Play from 'lucide-solid/icons/play'
import StepForward from 'lucide-solid/icons/step-forward'
import Trash from 'lucide-solid/icons/trash'
import { createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import { type Schedule, type ScheduleNotifyVia, STUCK_AFTER_MS } from '../../../../src-runner/contract/schedules.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useAction } from '../../../api/mutations.ts'
import { isNoSuchThing, sentenceOf } from '../../../api/problem.ts'
import { useAgents, useJob, useSchedule } from '../../../api/queries.ts'
import { toastError } from '../../../api/toast-error.ts'
import { useMinutes } from '../../../lib/now.ts'
import { moneyText } from '../../../../resources/locales/numbers.ts'
import { durationText, ownTimezone, relativeTime } from '../../../lib/time.ts'
import { locale, t } from '../../../lib/language.ts'
import { UnpricedNote } from '../../../features/models/UnpricedNote.tsx'
import { RawText } from '../../../features/chat-turn/RawText.tsx'
import { Button } from '../../../ui/Button.tsx'
import { ButtonLink } from '../../../ui/ButtonLink.tsx'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { Menu } from '../../../ui/Menu.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Screen } from '../../../ui/Screen.tsx'
import { toast } from '../../../ui/Toasts.tsx'
import { BackLink } from '../../../ui/BackLink.tsx'
import { DeleteDialog } from '../DeleteDialog.tsx'
import { Fact, Facts } from '../Facts.tsx'
import { BudgetMeter } from './BudgetMeter.tsx'
import { catchUpText } from './catch-up.ts'
import { RunHistory } from './RunHistory.tsx'
import { NextDue } from './NextDue.tsx'
import { SchedulePill } from './ScheduleState.tsx'
import { useCronWords } from './use-cron-words.ts'
import { useLiveRun } from './use-live-run.ts'
import { nextDayIn, zoneTime } from './zone-time.ts'

/** One schedule: its state, its settings and its run history. */
export function ScheduleScreen(): JSX.Element {
  const params = useParams<{ scheduleId: string }>()
  const answer = useSchedule(() => params.scheduleId)
  return (
    <Screen>
      <BackLink href="/automations/schedules">{t('automations.schedules')}</BackLink>
      <Show when={answer.data === undefined}>
        <h1 class="sr-only">{t('automations.schedules')}</h1>
      </Show>
      <Switch
        fallback={
          <AnswerState
            answer={answer}
            missing={{ title: t('automations.schedule.notFound'), why: t('automations.schedule.notFoundWhy') }}
          />
        }
      >
        <Match when={!isNoSuchThing(answer.error) && answer.data?.schedule.id === params.scheduleId && answer.data?.schedule}>
          {(schedule) => (
            <>
              <Head schedule={schedule()} />
              <div class="flex flex-col gap-4">
                <Standing schedule={schedule()} />
                <ScheduleFacts schedule={schedule()} />
                <RunHistory schedule={schedule()} />
                <Show when={schedule().isWatcher || schedule().scheduleCursor !== null}>
                  <Kept schedule={schedule()} />
                </Show>
              </div>
            </>
          )}
        </Match>
      </Switch>
    </Screen>
  )
}

function Head(props: { schedule: Schedule }): JSX.Element {
  const navigate = useNavigate()
  const runNow = useAction('runScheduleNow')
  const pause = useAction('pauseSchedule')
  const resume = useAction('resumeSchedule')
  const remove = useAction('deleteSchedule')
  const [isAsking, setAsking] = createSignal(false)
  const isPaused = () => props.schedule.status === 'paused'
  const params = () => ({ scheduleId: props.schedule.id })
  const act = async (action: () => Promise<unknown>) => {
    await action().catch(toastError)
  }
  const run = () =>
    act(async () => {
      const { jobId } = await runNow.run({ params: params() })
      toast({
        text: t('automations.schedule.runNowStarted'),
        action: { label: t('automations.schedule.openRun'), onClick: () => navigate(`/jobs/${jobId}`) },
      })
    })
  return (
    <>
      <PageHeader
        title={
          <span class="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1 whitespace-normal">
            <span class="line-clamp-2 min-w-0 wrap-anywhere" title={props.schedule.name}>
              {props.schedule.name}
            </span>
            <SchedulePill schedule={props.schedule} />
            <Show when={props.schedule.isWatcher}>
              <Pill title={t('automations.schedule.watcherWhy')}>{t('automations.schedule.watcher')}</Pill>
            </Show>
          </span>
        }
        actions={
          <>
            <Button
              icon={StepForward}
              busy={runNow.isRunning}
              disabled={props.schedule.liveJobId !== null}
              title={t('automations.schedule.runNowWhy')}
              onClick={() => void run()}
            >
              {t('automations.schedule.runNow')}
            </Button>
            <Button
              icon={isPaused() ? Play : Pause}
              busy={pause.isRunning || resume.isRunning}
              onClick={() => void act(() => (isPaused() ? resume : pause).run({ params: params() }))}
            >
              {isPaused() ? t('automations.resume') : t('automations.pause')}
            </Button>
            <ButtonLink icon={Pencil} href={`/automations/schedules/${props.schedule.id}/edit`}>
              {t('automations.schedule.edit')}
            </ButtonLink>
            <Menu
              label={t('common.more')}
              items={[
                {
                  label: t('automations.duplicate'),
                  icon: CopyPlus,
                  onSelect: () => navigate(`/automations/schedules/new?from=${props.schedule.id}`),
                },
                'separator',
                { label: t('automations.schedule.delete'), icon: Trash, tone: 'bad', onSelect: () => setAsking(true) },
              ]}
            />
          </>
        }
      />
      <DeleteDialog
        from="schedules"
        name={props.schedule.name}
        open={isAsking()}
        onClose={() => setAsking(false)}
        remove={() => remove.run({ params: params() })}
      />
    </>
  )
}

/** What is wrong right now, and what to do about it. */
function Standing(props: { schedule: Schedule }): JSX.Element {
  const now = useMinutes()
  const money = (usd: number) => moneyText(usd, locale())
  const resumes = () =>
    t('automations.schedule.exhaustedResumes', {
      when: relativeTime(nextDayIn(props.schedule.timezone, now()), now(), locale()),
      zone: props.schedule.timezone,
    })
  const liveJob = useJob(() => props.schedule.liveJobId)
  /** A run that the computer slept through is not stuck. */
  const workedFor = () => (liveJob.data?.job.id === props.schedule.liveJobId ? liveJob.data.job.workingMs : 0)
  const liveStatus = useLiveRun(() => props.schedule)
  const isWaiting = () => liveStatus() === 'awaiting_approval'
  const live = () => {
    if (isWaiting()) return t('automations.schedule.isWaiting')
    return workedFor() > STUCK_AFTER_MS
      ? t('automations.schedule.stuck', { time: durationText(workedFor(), locale()) })
      : t('automations.schedule.isRunning')
  }
  return (
    <>
      <Show when={props.schedule.status === 'budget_exhausted'}>
        <div class="flex flex-wrap items-start gap-x-3 gap-y-1 rounded-lg bg-warn-soft px-3.5 py-2.5 text-sm text-warn">
          <CircleDollarSign size={16} class="mt-0.5 shrink-0" aria-hidden="true" />
          <p class="min-w-0 flex-1 basis-64">
            {t('automations.schedule.exhaustedText', {
              spent: money(props.schedule.agentSpentTodayUsd),
              budget: money(props.schedule.dailyBudgetUsd),
            })}{' '}
            {resumes()}
          </p>
          <A href={`/automations/schedules/${props.schedule.id}/edit`} class="font-medium underline underline-offset-2">
            {t('automations.schedule.raise')}
          </A>
        </div>
      </Show>
      <Show when={props.schedule.status === 'paused'}>
        <p class="rounded-lg bg-inset px-3.5 py-2 text-sm text-ink-2">{t('automations.schedule.pausedText')}</p>
      </Show>
      <Show when={props.schedule.liveJobId}>
        {(id) => (
          <p
            class={`flex flex-wrap gap-x-3 rounded-lg px-3.5 py-2 text-sm ${
              workedFor() > STUCK_AFTER_MS || isWaiting() ? 'bg-warn-soft text-warn' : 'bg-accent-soft text-accent-ink'
            }`}
          >
            {live()}
            <A href={`/jobs/${id()}`} class="font-medium underline underline-offset-2">
              {t('automations.schedule.openRun')}
            </A>
          </p>
        )}
      </Show>
      <Show when={props.schedule.lastStatus === 'notify_unreachable'}>
        <p class="flex flex-wrap gap-x-3 rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn">
          {t('automations.schedule.notifyUnreachable')}
          <A href="/channels" class="font-medium underline underline-offset-2">
            {t('automations.schedule.channels')}
          </A>
        </p>
      </Show>
    </>
  )
}

function ScheduleFacts(props: { schedule: Schedule }): JSX.Element {
  const cronWords = useCronWords(() => props.schedule.cron)
  const agents = useAgents()
  return (
    <Facts footer={<TaskText task={props.schedule.task} />}>
      <Fact name={t('automations.schedule.when')} note={`${props.schedule.cron} · ${props.schedule.timezone}`}>
        {cronWords()}
      </Fact>
      <Fact
        name={t('automations.schedule.next')}
        note={<Show when={props.schedule.nextDueAt}>{(at) => <OnBothClocks at={at()} timezone={props.schedule.timezone} />}</Show>}
      >
        <NextDue schedule={props.schedule} />
      </Fact>
      <Fact name={t('automations.agent')}>
        <A href={`/agents/${props.schedule.agentId}`} class="font-medium hover:underline max-md:-my-2.5 max-md:inline-block">
          {props.schedule.agentName}
        </A>
      </Fact>
      <Fact
        name={t('automations.schedule.budgetToday')}
        note={t('automations.schedule.budgetWhose', {
          agent: props.schedule.agentName,
          own: moneyText(props.schedule.spentTodayUsd, locale()),
        })}
      >
        <BudgetMeter schedule={props.schedule} class="max-w-40 pb-1" />
        <UnpricedNote agents={(agents.data?.agents ?? []).filter(({ id }) => id === props.schedule.agentId)} />
      </Fact>
      <Fact name={t('automations.schedule.missedRuns')}>{catchUpText(props.schedule.catchUpHours, 'fact')}</Fact>
      <Fact name={t('automations.schedule.notifyFact')}>
        {props.schedule.notifyOnSuccess
          ? t('automations.notify.on', { via: viaText(props.schedule.notifyVia) })
          : t('automations.notify.off')}
      </Fact>
    </Facts>
  )
}

/** A time in the schedule's time zone, and if the machine's is another one, also in that. */
function OnBothClocks(props: { at: number; timezone: string }): JSX.Element {
  const own = () => zoneTime(props.at, ownTimezone(), locale())
  return (
    <>
      <div>{zoneTime(props.at, props.timezone, locale())}</div>
      <Show when={own() !== zoneTime(props.at, props.timezone, locale())}>
        <div>{t('automations.schedule.ownTime', { time: own() })}</div>
      </Show>
    </>
  )
}

/** More lines would push the run history out of sight. */
const TASK_LINES = 4
const LINE_CHARS = 130

function TaskText(props: { task: string }): JSX.Element {
  const [isExpanded, setExpanded] = createSignal(false)
  const isLong = () => props.task.split('\n').reduce((lines, line) => lines + Math.ceil(line.length / LINE_CHARS || 1), 0) > TASK_LINES
  return (
    <section aria-label={t('automations.schedule.task')} class="border-t border-line pt-3">
      <h2 class="text-2xs text-ink-3">{t('automations.schedule.task')}</h2>
      <p class={`text-md wrap-anywhere whitespace-pre-wrap text-ink ${isLong() && !isExpanded() ? 'line-clamp-4' : ''}`}>{props.task}</p>
      <Show when={isLong()}>
        <Button size="sm" variant="ghost" class="mt-1 -ml-2" aria-expanded={isExpanded()} onClick={() => setExpanded(!isExpanded())}>
          {isExpanded() ? t('automations.schedule.taskLess') : t('automations.schedule.taskWhole')}
        </Button>
      </Show>
    </section>
  )
}

/** The schedule cursor: what the agent saved for the next run. */
function Kept(props: { schedule: Schedule }): JSX.Element {
  const update = useAction('updateSchedule')
  const [isAsking, setAsking] = createSignal(false)
  return (
    <Panel
      title={t('automations.schedule.kept')}
      description={t('automations.schedule.keptText')}
      actions={
        <Show when={props.schedule.scheduleCursor !== null}>
          <Button size="sm" variant="ghost" onClick={() => setAsking(true)}>
            {t('automations.schedule.forget')}
          </Button>
        </Show>
      }
    >
      <Show when={props.schedule.scheduleCursor} fallback={<p class="text-sm text-ink-3">{t('automations.schedule.keptNone')}</p>}>
        {(kept) => <RawText label={t('automations.schedule.keptNotes')} text={kept()} />}
      </Show>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('automations.schedule.forgetTitle', { name: props.schedule.name })}
        confirm={t('automations.schedule.forgetNow')}
        tone="bad"
        onConfirm={() => update.run({ params: { scheduleId: props.schedule.id }, body: { scheduleCursor: null } })}
        describeError={sentenceOf}
      >
        {t('automations.schedule.forgetText')}
      </ConfirmDialog>
    </Panel>
  )
}

function viaText(via: ScheduleNotifyVia): string {
  return [via]
    .flat()
    .map((one) => t(`automations.notify.viaOf.${one}`))
    .join(', ')
}
