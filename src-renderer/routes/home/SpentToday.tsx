import { createMemo, For, Show } from 'solid-js'
import { useSpend } from '../../api/queries.ts'
import { useMinutes } from '../../kit/now.ts'
import { startOfDay } from '../../kit/time.ts'
import { words } from '../../kit/words/words.ts'
import { Money } from '../../ui/Money.tsx'

const MOST_AGENTS = 5

/** What today has cost, and who spent it. */
export function SpentToday() {
  const now = useMinutes()
  const today = createMemo(() => startOfDay(now()))
  const spend = useSpend(() => ({ by: 'agent', from: today() }))
  const rows = () => (spend.data?.rows ?? []).filter((row) => row.costUsd > 0).toSorted((a, b) => b.costUsd - a.costUsd)
  const text = () => words().home.spend
  return (
    <aside aria-label={text().title} class="min-w-0 @3xl:pt-1">
      <h2 class="text-xs font-medium text-ink-3">{text().title}</h2>
      <Show when={spend.data}>
        {(data) => (
          <>
            <p class="text-2xl font-semibold tracking-tight">
              <Money usd={data().totalUsd} />
            </p>
            <Show when={data().unpricedCalls > 0}>
              <p class="mt-1 text-xs text-warn">{text().unpriced(data().unpricedCalls)}</p>
            </Show>
            <dl class="mt-3 flex flex-col gap-1.5 text-xs">
              <For each={rows().slice(0, MOST_AGENTS)}>
                {(row) => (
                  <div class="flex justify-between gap-3">
                    <dt class="truncate text-ink-2">{row.label}</dt>
                    <dd>
                      <Money usd={row.costUsd} />
                    </dd>
                  </div>
                )}
              </For>
            </dl>
          </>
        )}
      </Show>
    </aside>
  )
}
