import { useNavigate, useSearchParams } from '@solidjs/router'
import Activity from 'lucide-solid/icons/activity'
import ArrowUp from 'lucide-solid/icons/arrow-up'
import MessageSquare from 'lucide-solid/icons/message-square'
import Search from 'lucide-solid/icons/search'
import SearchX from 'lucide-solid/icons/search-x'
import { createEffect, createMemo, createSignal, Match, on, onCleanup, Show, Switch } from 'solid-js'
import { JOB_CHANNELS, type JobStatus } from '../../../src-runner/contract/jobs.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useAgents, useJobs } from '../../api/queries.ts'
import { locale, t } from '../../lib/language.ts'
import { useMinutes } from '../../lib/now.ts'
import { isPeriod, PERIODS } from '../../lib/periods.ts'
import { dayText, startOfDate, startOfDay } from '../../lib/time.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { type Option, Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { VirtualList } from '../../ui/VirtualList.tsx'
import { type ActivityParams, groupOf, isFiltered, jobFilterOf, readFilter, STATUS_GROUPS, type StatusGroup } from './activity-filter.ts'
import { JobRow, ROW_HEIGHT } from './JobRow.tsx'

const SEARCH_AFTER_MS = 200
const ANY = 'any'
const FILTER_CLASS = 'min-w-36 max-w-full max-sm:w-auto max-sm:min-w-[45%] max-sm:flex-1'

/** All jobs, the newest first. */
export function ActivityScreen() {
  const [params, setParams] = useSearchParams<ActivityParams>()
  const navigate = useNavigate()
  const filter = createMemo(() => readFilter(params))
  const now = useMinutes()
  // Changes once a day, so that "Today" does not stay the day on which the screen was opened.
  const today = createMemo(() => startOfDay(now()))
  const jobs = useJobs(() => jobFilterOf(filter(), today()))
  const list = useSteadyTop(() => jobs.items)
  const clear = () => setParams({ status: undefined, agent: undefined, channel: undefined, time: undefined, q: undefined })
  // A search stops after a number of jobs. A page without a match still says that there are older jobs.
  const looksOn = () => jobs.items.length === 0 && jobs.hasMore && jobs.error === null
  createEffect(() => looksOn() && !jobs.isLoadingMore && jobs.more())
  createEffect(on(filter, () => list.toTop(), { defer: true }))
  return (
    <div class="flex h-full min-h-0 flex-col">
      <header class="mx-auto flex w-full max-w-5xl flex-col gap-3 px-8 pt-7 pb-3 max-md:px-4 max-md:pt-5">
        <h1 class="text-xl font-semibold tracking-tight text-ink">{t('activity.title')}</h1>
        <Filters filter={filter()} onChange={(change) => setParams(change, { replace: true })} onClear={clear} />
      </header>
      <div class="relative mx-auto flex min-h-0 w-full max-w-5xl flex-1 flex-col px-8 max-md:px-4">
        <Switch>
          <Match when={looksOn()}>
            <Skeleton rows={8} />
          </Match>
          <Match when={jobs.items.length === 0 && isFiltered(filter())}>
            <NothingYet answer={jobs} rows={8}>
              <EmptyState
                icon={SearchX}
                title={t('activity.noMatchTitle')}
                action={<Button onClick={clear}>{t('activity.clearFilters')}</Button>}
              >
                {t('activity.noMatchText')}
              </EmptyState>
            </NothingYet>
          </Match>
          <Match when={jobs.items.length === 0}>
            <NothingYet answer={jobs} rows={8}>
              <EmptyState
                icon={Activity}
                title={t('activity.emptyTitle')}
                action={
                  <ButtonLink variant="primary" icon={MessageSquare} href="/chat">
                    {t('activity.startChat')}
                  </ButtonLink>
                }
              >
                {t('activity.emptyText')}
              </EmptyState>
            </NothingYet>
          </Match>
          <Match when={true}>
            <VirtualList
              class="mb-4 min-h-0 flex-initial rounded-xl border border-line bg-surface"
              frame={list.watch}
              label={t('activity.list')}
              items={list.items()}
              keyOf={(job) => job.id}
              rowHeight={ROW_HEIGHT}
              row={(job, isActive) => <JobRow job={job} isActive={isActive()} />}
              onOpen={(job) => navigate(`/jobs/${job.id}`)}
              onMore={jobs.more}
              hasMore={jobs.hasMore}
              isLoadingMore={jobs.isLoadingMore}
            />
            <div role="status" class="pointer-events-none absolute inset-x-0 top-3 flex justify-center">
              <Show when={list.newer() > 0}>
                <Button size="sm" variant="primary" icon={ArrowUp} class="pointer-events-auto shadow-pop" onClick={list.toTop}>
                  {t('activity.newJobs', { count: list.newer() })}
                </Button>
              </Show>
            </div>
          </Match>
        </Switch>
      </div>
    </div>
  )
}

/** New jobs do not move the list under a person who reads further down. They wait above until the person asks for them. */
function useSteadyTop<T extends { createdAt: number }>(all: () => readonly T[]) {
  const [heldAt, setHeldAt] = createSignal<number | null>(null)
  let frame: HTMLElement | undefined
  const items = createMemo(() => {
    const newest = heldAt()
    return newest === null ? all() : all().filter((item) => item.createdAt <= newest)
  })
  return {
    items,
    newer: () => all().length - items().length,
    toTop() {
      setHeldAt(null)
      if (frame !== undefined) frame.scrollTop = 0
    },
    watch(element: HTMLElement) {
      frame = element
      element.addEventListener(
        'scroll',
        () => setHeldAt((held) => (element.scrollTop < ROW_HEIGHT / 2 ? null : (held ?? all()[0]?.createdAt ?? null))),
        { passive: true },
      )
    },
  }
}

type FiltersProps = { filter: ReturnType<typeof readFilter>; onChange: (change: ActivityParams) => void; onClear: () => void }

function Filters(props: FiltersProps) {
  const agents = useAgents()
  const [typed, setTyped] = createSignal(props.filter.q)
  createEffect(
    on(
      () => props.filter.q,
      (q) => q !== typed().trim() && setTyped(q),
      { defer: true },
    ),
  )
  createEffect(
    on(
      typed,
      (text) => {
        const timer = setTimeout(() => text.trim() !== props.filter.q && props.onChange({ q: text.trim() || undefined }), SEARCH_AFTER_MS)
        onCleanup(() => clearTimeout(timer))
      },
      { defer: true },
    ),
  )
  const or = <V extends string>(value: V | typeof ANY): V | undefined => (value === ANY ? undefined : value)

  const statusOptions = (): Option<string>[] => {
    const groups = (Object.keys(STATUS_GROUPS) as StatusGroup[]).map((group) => ({
      value: STATUS_GROUPS[group].join(','),
      label: t(`activity.statusGroups.${group}`),
    }))
    const own = props.filter.status
    const isOwn = own.length > 0 && groupOf(own) === null
    const named = (status: JobStatus) => t(`common.status.${status}`)
    return [
      { value: ANY, label: t('activity.anyStatus') },
      ...groups,
      ...(isOwn ? [{ value: own.join(','), label: own.map(named).join(', ') }] : []),
    ]
  }
  const statusValue = () => {
    if (props.filter.status.length === 0) return ANY
    const group = groupOf(props.filter.status)
    return group === null ? props.filter.status.join(',') : STATUS_GROUPS[group].join(',')
  }
  const agentOptions = (): Option<string>[] => [
    { value: ANY, label: t('activity.anyAgent') },
    ...(agents.data?.agents ?? []).map((agent) => ({ value: agent.id, label: agent.name })),
  ]
  const channelOptions = (): Option<string>[] => [
    { value: ANY, label: t('activity.anyChannel') },
    ...JOB_CHANNELS.map((channel) => ({ value: channel as string, label: t(`common.channel.${channel}`) })),
  ]
  const timeOptions = (): Option<string>[] => {
    const { time } = props.filter
    const isDate = time !== null && !isPeriod(time)
    return [
      { value: ANY, label: t('activity.anyTime') },
      ...PERIODS.map((period) => ({ value: period, label: t(`activity.times.${period}`) })),
      ...(isDate ? [{ value: time, label: dayText(startOfDate(time)!, locale()) }] : []),
    ]
  }
  return (
    <div role="group" aria-label={t('activity.filters')} class="flex flex-wrap items-end gap-2">
      <div class="min-w-56 flex-1 basis-64">
        <TextField
          type="search"
          label={t('activity.search')}
          hideLabel
          placeholder={t('activity.search')}
          icon={Search}
          value={typed()}
          onValue={setTyped}
        />
      </div>
      <Select
        label={t('activity.status')}
        hideLabel
        class={FILTER_CLASS}
        options={statusOptions()}
        value={statusValue()}
        onValue={(value) => props.onChange({ status: or(value) })}
      />
      <Select
        label={t('activity.agent')}
        hideLabel
        class={FILTER_CLASS}
        options={agentOptions()}
        value={props.filter.agent ?? ANY}
        onValue={(value) => props.onChange({ agent: or(value) })}
      />
      <Select
        label={t('activity.channel')}
        hideLabel
        class={FILTER_CLASS}
        options={channelOptions()}
        value={props.filter.channel ?? ANY}
        onValue={(value) => props.onChange({ channel: or(value) })}
      />
      <Select
        label={t('activity.time')}
        hideLabel
        class={FILTER_CLASS}
        options={timeOptions()}
        value={props.filter.time ?? ANY}
        onValue={(value) => props.onChange({ time: or(value) })}
      />
      <Show when={isFiltered(props.filter)}>
        <Button variant="ghost" onClick={props.onClear}>
          {t('activity.clearFilters')}
        </Button>
      </Show>
    </div>
  )
}
