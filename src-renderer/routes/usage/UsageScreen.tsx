import { A, useSearchParams } from '@solidjs/router'
import ChartColumn from 'lucide-solid/icons/chart-column'
import { createMemo, type JSX, Match, Show, Switch } from 'solid-js'
import type { Spend } from '../../../src-runner/contract/spend.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useSpend } from '../../api/queries.ts'
import { countText } from '../../../resources/locales/numbers.ts'
import { type Period, PERIOD_DAYS } from '../../lib/periods.ts'
import { useMinutes } from '../../lib/now.ts'
import { ownTimezone, startOfDay, startOfDayBefore } from '../../lib/time.ts'
import { locale, t } from '../../lib/language.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Money } from '../../ui/Money.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { Tokens } from '../../ui/Tokens.tsx'
import { Breakdown, type Grouping, GROUPINGS } from './Breakdown.tsx'
import { DayChart } from './DayChart.tsx'
import { SpendingLimits } from './SpendingLimits.tsx'

const SHOWN = ['week', 'month', 'quarter'] as const satisfies Period[]
type Search = { time?: string; by?: string }

/** What the work of the agents has cost, by day and by who spent it, and the limits. */
export function UsageScreen(): JSX.Element {
  const [search, setSearch] = useSearchParams<Search>()
  const now = useMinutes()
  const period = (): Period => SHOWN.find((one) => one === search.time) ?? 'month'
  const dayCount = () => PERIOD_DAYS[period()]
  const by = (): Grouping => GROUPINGS.find((one) => one === search.by) ?? 'agent'
  // Changes once a day, so that the bars stay the same elements.
  const today = createMemo(() => startOfDay(now()))
  const from = createMemo(() => startOfDayBefore(today(), dayCount() - 1))
  const days = useSpend(() => ({ by: 'day', from: from(), timezone: ownTimezone() }))
  const groups = useSpend(() => ({ by: by(), from: from() }))
  return (
    <Screen>
      <PageHeader
        title={t('usage.title')}
        description={t('usage.intro')}
        actions={
          <SegmentedControl
            label={t('usage.period')}
            options={SHOWN.map((one) => ({ value: one, label: t('usage.days', { count: PERIOD_DAYS[one] }) }))}
            value={period()}
            onValue={(one) => setSearch({ time: one === 'month' ? undefined : one }, { replace: true })}
          />
        }
      />
      <div class="flex flex-col gap-5">
        <Switch
          fallback={
            <NothingYet answer={days}>
              <EmptyState
                icon={ChartColumn}
                title={t('usage.emptyTitle', { count: dayCount() })}
                action={<ButtonLink href="/">{t('usage.emptyAction')}</ButtonLink>}
              >
                {t('usage.emptyText')}
              </EmptyState>
            </NothingYet>
          }
        >
          <Match when={days.data !== undefined && days.data.rows.length > 0 && days.data}>
            {(spend) => (
              <>
                <Panel>
                  <Totals spend={spend()} />
                  <DayChart rows={spend().rows} from={from()} to={today()} />
                </Panel>
                <UnpricedModels from={from()} />
                <Panel
                  title={t('usage.by.title')}
                  flush
                  actions={
                    <SegmentedControl
                      label={t('usage.by.label')}
                      options={GROUPINGS.map((one) => ({ value: one, label: t(`usage.by.${one}`) }))}
                      value={by()}
                      onValue={(one) => setSearch({ by: one === 'agent' ? undefined : one }, { replace: true })}
                    />
                  }
                >
                  <Breakdown by={by()} time={period()} answer={groups} />
                </Panel>
              </>
            )}
          </Match>
        </Switch>
        <SpendingLimits />
      </div>
    </Screen>
  )
}

function Totals(props: { spend: Spend }): JSX.Element {
  const sumOf = (column: 'jobs' | 'inputTokens' | 'outputTokens' | 'cachedTokens') =>
    props.spend.rows.reduce((sum, row) => sum + row[column], 0)
  return (
    <dl aria-label={t('usage.total')} class="flex flex-wrap gap-x-8 gap-y-2 pb-4">
      <Total name={t('usage.cost')} large>
        <Money usd={props.spend.totalUsd} priced={props.spend.unpricedCalls === 0} />
      </Total>
      <Total name={t('usage.jobs')}>{countText(sumOf('jobs'), locale())}</Total>
      <Total name={t('usage.tokens')}>
        <Tokens input={sumOf('inputTokens')} output={sumOf('outputTokens')} cached={sumOf('cachedTokens')} wraps />
      </Total>
    </dl>
  )
}

function Total(props: { name: string; large?: boolean; children: JSX.Element }): JSX.Element {
  return (
    <div class="flex flex-col justify-between">
      <dt class="text-xs text-ink-3">{props.name}</dt>
      <dd class={`font-semibold tracking-tight ${props.large ? 'text-xl' : 'text-md'}`}>{props.children}</dd>
    </div>
  )
}

/** Names the models whose calls are in no figure, because nobody knows their price. */
function UnpricedModels(props: { from: number }): JSX.Element {
  const models = useSpend(() => ({ by: 'model', from: props.from }))
  const unpriced = () => (models.data?.rows ?? []).filter(({ unpricedCalls }) => unpricedCalls > 0)
  return (
    <Show when={unpriced().length > 0}>
      <p role="note" class="rounded-md bg-warn-soft px-3 py-2 text-sm wrap-anywhere text-warn">
        {t('usage.unpriced', {
          count: unpriced().reduce((sum, { unpricedCalls }) => sum + unpricedCalls, 0),
          models: unpriced()
            .map(({ label }) => label)
            .join(', '),
        })}{' '}
        <A href="/models" class="underline">
          {t('models.setPrices')}
        </A>
      </p>
    </Show>
  )
}
