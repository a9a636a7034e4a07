import { createEffect, createSignal, For, type JSX, Match, on, Show, Switch } from 'solid-js'
import { sentenceOf } from '../../../api/problem.ts'
import { useCronPreview } from '../../../api/queries.ts'
import { messageText } from '../../../lib/message-text.ts'
import { locale, t } from '../../../lib/language.ts'
import { Select } from '../../../ui/Select.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { Time } from '../../../ui/Time.tsx'
import { cronOf, MINUTE_STEPS, type Rhythm, RHYTHM_KINDS, rhythmAs, type RhythmKind, rhythmOf, weekdayName } from './rhythm.ts'
import { useCronWords } from './use-cron-words.ts'
import { ownTimezone } from '../../../lib/time.ts'
import { zoneTime } from './zone-time.ts'

/** When a schedule runs, chosen in words or typed as cron. Each updates the other, and the next runs are shown. */
export function RhythmField(props: {
  cron: string
  onCron: (cron: string) => void
  timezone: string
  problem: string | null
  /** More fields: the time zone. */
  children: JSX.Element
}): JSX.Element {
  // The person may choose cron also for an expression that has words.
  const [wantsCron, setWantsCron] = createSignal(false)
  const rhythm = (): Rhythm => (wantsCron() ? { kind: 'custom' } : rhythmOf(props.cron))
  const put = (next: Rhythm) => props.onCron(cronOf(next, props.cron))
  const choose = (kind: RhythmKind) => {
    setWantsCron(kind === 'custom')
    if (kind !== 'custom') put(rhythmAs(kind, rhythmOf(props.cron)))
  }
  const preview = useCronPreview(() =>
    props.cron.trim() === '' || props.timezone === '' ? null : { cron: props.cron.trim(), timezone: props.timezone },
  )
  const invalid = () => (preview.data?.valid === false ? messageText(preview.data.problem) : null)
  createEffect(on(rhythm, (now) => now.kind === 'custom' || setWantsCron(false)))
  return (
    <div class="grid grid-cols-[minmax(0,1fr)_minmax(0,18rem)] gap-6 max-lg:grid-cols-1">
      <div class="flex min-w-0 flex-col gap-4">
        <div class="flex flex-wrap gap-3">
          <Select<RhythmKind>
            class="w-48"
            label={t('automations.schedule.rhythm')}
            options={RHYTHM_KINDS.map((value) => ({ value, label: t(`automations.schedule.rhythms.${value}`) }))}
            value={rhythm().kind}
            onValue={choose}
          />
          <Details rhythm={rhythm()} onRhythm={put} />
        </div>
        <TextField
          mono
          class="max-w-64"
          label={t('automations.schedule.cron')}
          hint={t('automations.schedule.cronHint')}
          problem={props.problem ?? invalid()}
          value={props.cron}
          onValue={props.onCron}
        />
        {props.children}
      </div>
      <NextTimes
        cron={props.cron}
        timezone={props.timezone}
        next={preview.data?.valid ? preview.data.next : null}
        trouble={preview.error === null ? null : sentenceOf(preview.error)}
      />
    </div>
  )
}

/** The further fields of a kind of rhythm. */
function Details(props: { rhythm: Rhythm; onRhythm: (rhythm: Rhythm) => void }): JSX.Element {
  const as = <K extends RhythmKind>(kind: K) => (props.rhythm.kind === kind ? (props.rhythm as Extract<Rhythm, { kind: K }>) : undefined)
  const number = (value: string) => Number.parseInt(value, 10)
  const time = (value: string, onTime: (time: string) => void) => (
    <TextField
      type="time"
      class="w-34"
      label={t('automations.schedule.time')}
      value={value}
      onValue={(next) => /^\d\d:\d\d/.test(next) && onTime(next.slice(0, 5))}
    />
  )
  return (
    <Switch>
      <Match when={as('minutes')}>
        {(now) => (
          <Select
            class="w-36"
            label={t('automations.schedule.every')}
            options={MINUTE_STEPS.map((step) => ({ value: String(step), label: t('automations.schedule.minutes', { count: step }) }))}
            value={String(now().every)}
            onValue={(step) => props.onRhythm({ kind: 'minutes', every: number(step) })}
          />
        )}
      </Match>
      <Match when={as('hourly')}>
        {(now) => (
          <Select
            class="w-28"
            label={t('automations.schedule.minute')}
            options={Array.from({ length: 60 }, (_, n) => ({ value: String(n), label: String(n).padStart(2, '0') }))}
            value={String(now().minute)}
            onValue={(minute) => props.onRhythm({ kind: 'hourly', minute: number(minute) })}
          />
        )}
      </Match>
      <Match when={as('daily')}>{(now) => time(now().time, (next) => props.onRhythm({ kind: 'daily', time: next }))}</Match>
      <Match when={as('weekdays')}>{(now) => time(now().time, (next) => props.onRhythm({ kind: 'weekdays', time: next }))}</Match>
      <Match when={as('weekly')}>
        {(now) => (
          <>
            <Select
              class="w-36"
              label={t('automations.schedule.weekday')}
              options={[1, 2, 3, 4, 5, 6, 0].map((day) => ({ value: String(day), label: weekdayName(day, locale()) }))}
              value={String(now().weekday)}
              onValue={(day) => props.onRhythm({ ...now(), weekday: number(day) })}
            />
            {time(now().time, (next) => props.onRhythm({ ...now(), time: next }))}
          </>
        )}
      </Match>
      <Match when={as('monthly')}>
        {(now) => (
          <>
            <Select
              class="w-36"
              label={t('automations.schedule.monthday')}
              options={Array.from({ length: 32 }, (_, n) => {
                const day = (n + 1) % 32
                return { value: String(day), label: day === 0 ? t('automations.schedule.lastDay') : String(day) }
              })}
              value={String(now().day)}
              onValue={(day) => props.onRhythm({ ...now(), day: number(day) })}
            />
            {time(now().time, (next) => props.onRhythm({ ...now(), time: next }))}
            <Show when={now().day > 28}>
              <p class="w-full text-xs text-ink-3">{t('automations.schedule.monthdayShort')}</p>
            </Show>
          </>
        )}
      </Match>
    </Switch>
  )
}

function NextTimes(props: { cron: string; timezone: string; next: readonly number[] | null; trouble: string | null }): JSX.Element {
  const words = useCronWords(() => props.cron)
  const isElsewhere = () => props.timezone !== ownTimezone()
  return (
    <section aria-label={t('automations.schedule.nextFive')} aria-live="polite" class="min-w-0 self-start rounded-lg bg-inset p-3.5">
      <p class="text-sm font-medium text-ink">{words()}</p>
      <h3 class="mt-2 text-2xs font-semibold tracking-wide text-ink-3">{t('automations.schedule.nextFive')}</h3>
      <Show when={props.trouble}>
        {(sentence) => (
          <p role="alert" class="text-xs text-bad">
            {sentence()}
          </p>
        )}
      </Show>
      <Show when={props.next?.length === 0}>
        <p class="text-xs text-warn">{t('automations.schedule.nextNone')}</p>
      </Show>
      <ol class="min-h-25">
        <For each={props.next ?? []}>
          {(at) => (
            <li class="flex flex-wrap items-baseline gap-x-3 text-sm text-ink-2">
              <span class="min-w-0 flex-1">{zoneTime(at, props.timezone, locale())}</span>
              <Time at={at} class="text-xs text-ink-3" />
              <Show when={isElsewhere()}>
                <span class="w-full pb-1 text-xs text-ink-3">
                  {t('automations.schedule.ownTime', { time: zoneTime(at, ownTimezone(), locale()) })}
                </span>
              </Show>
            </li>
          )}
        </For>
      </ol>
    </section>
  )
}
