import { A } from '@solidjs/router'
import { createMemo, Show } from 'solid-js'
import { useSpend } from '../../api/queries.ts'
import { useMinutes } from '../../lib/now.ts'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { startOfDay } from '../../lib/time.ts'
import { locale, t } from '../../lib/language.ts'
import { Money } from '../../ui/Money.tsx'

/** The cost of today, with the agents on hover. Leads to Usage. */
export function SpentToday() {
  const now = useMinutes()
  const today = createMemo(() => startOfDay(now()))
  const spend = useSpend(() => ({ by: 'agent', from: today() }))
  const byAgent = () =>
    (spend.data?.rows ?? [])
      .filter((row) => row.costUsd > 0)
      .toSorted((a, b) => b.costUsd - a.costUsd)
      .map((row) => `${row.label}: ${moneyText(row.costUsd, locale())}`)
      .join('\n')
  return (
    <Show when={spend.data}>
      {(data) => (
        <A href="/usage" class="-m-1 block rounded-md p-1 text-right hover:bg-hover" title={byAgent() || t('home.spend.none')}>
          <p class="text-xs text-ink-3">{t('home.spend.title')}</p>
          <p class="text-xl font-semibold tracking-tight">
            <Money usd={data().totalUsd} />
          </p>
          <Show when={data().unpricedCalls > 0}>
            <p class="text-xs text-warn">{t('home.spend.unpriced', { calls: data().unpricedCalls })}</p>
          </Show>
        </A>
      )}
    </Show>
  )
}
