import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import type { SpendRow } from '../../../src-runner/contract/spend.ts'
import { type Answers, createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeProvider } from '../../testing/things.ts'
import { daysBetween } from './days-between.ts'
import { UsageScreen } from './UsageScreen.tsx'

const ada = makeAgent({ name: 'Ada', budgets: { dayUsd: 2, monthUsd: 40 } })
const nova = makeProvider({ name: 'Nova' })
const NONE = { costUsd: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, jobs: 0, unpricedCalls: 0 }
const DELETED = '0199a1b2-0000-7000-8000-00000000dead'

/** Yesterday Ada spent $1.50 on priced calls and called an unpriced model; today an agent that was deleted spent $0.50. */
function runnerWith(more: Answers = {}) {
  const [yesterday, today] = daysBetween(Date.now() - 86_400_000, Date.now()).map(({ key }) => key)
  const of = (key: string, sums: Partial<SpendRow>): SpendRow => ({ key, label: key, ...NONE, ...sums })
  const rows: Record<string, SpendRow[]> = {
    day: [
      of(yesterday!, { costUsd: 1.5, jobs: 3, unpricedCalls: 4, inputTokens: 1_000, outputTokens: 200 }),
      of(today!, { costUsd: 0.5, jobs: 1 }),
    ],
    agent: [of(ada.id, { label: 'Ada', costUsd: 1.5, jobs: 3, unpricedCalls: 4 }), of(DELETED, { costUsd: 0.5, jobs: 1 })],
    model: [
      of(`${nova.id}/nova-2`, { label: 'nova-2', costUsd: 2, jobs: 4 }),
      of(`${nova.id}/nova-x`, { label: 'nova-x', jobs: 1, unpricedCalls: 4 }),
    ],
    channel: [of('webhook', { costUsd: 2, jobs: 4, unpricedCalls: 4 })],
  }
  return createFakeRunner({
    listAgents: () => ({ agents: [ada], nextCursor: null }),
    listProviders: () => ({ providers: [nova], nextCursor: null }),
    getSpend: ({ query: { by } }) => ({ rows: rows[by]!, totalUsd: 2, unpricedCalls: 4 }),
    ...more,
  })
}

const open = (path: string, runner = runnerWith()) => renderScreen(UsageScreen, { runner, route: '/usage', path })

it('shows the cost of each day, the totals, and which models are in no figure', async () => {
  const { runner } = open('/usage')
  const chart = await screen.findByRole('figure', { name: 'Cost by day' })
  const bars = within(chart).getAllByRole('listitem')
  expect(bars).toHaveLength(30)
  expect(bars.slice(-3).map((bar) => bar.textContent)).toEqual([
    expect.stringContaining('nothing spent'),
    expect.stringContaining('$1.50, 3 jobs'),
    expect.stringContaining('$0.50, 1 job'),
  ])
  const [today] = daysBetween(Date.now(), Date.now())
  expect(within(bars.at(-1)!).getByRole('link')).toHaveAttribute('href', `/activity?time=${today!.key}`)
  expect(within(bars.at(-3)!).queryByRole('link')).toBeNull()
  expect(screen.getByLabelText('Totals of the period')).toHaveTextContent(/\$2\.00 \+ unpriced.*Jobs4/s)
  expect(await screen.findByRole('note')).toHaveTextContent('4 calls are not in these figures, because no price is known for nova-x.')
  const asked = runner.callsOf('getSpend').find(({ query }) => query.by === 'day')!.query
  expect(asked.timezone).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone)
})

it('says what it went to, by agent, model or source, with an address for each', async () => {
  const { user, path } = open('/usage?time=week')
  const row = await screen.findByRole('row', { name: /Ada/ })
  expect(await within(row).findByRole('link', { name: 'Ada' })).toHaveAttribute('href', `/agents/${ada.id}`)
  expect(within(row).getByRole('link', { name: '3 jobs of Ada' })).toHaveAttribute('href', `/activity?agent=${ada.id}&time=week`)
  const deleted = screen.getByRole('row', { name: /Deleted agent/ })
  expect(deleted).toHaveTextContent('$0.50')
  expect(within(deleted).queryByRole('link')).toBeNull()
  await user.click(screen.getByRole('radio', { name: 'Model' }))
  expect(await screen.findByRole('row', { name: /nova-2/ })).toHaveTextContent(/nova-2 Nova\$2\.00/)
  expect(screen.getByRole('row', { name: /nova-x/ })).toHaveTextContent('unpriced')
  expect(path()).toBe('/usage?time=week&by=model')
  await user.click(screen.getByRole('radio', { name: 'Source' }))
  expect(await screen.findByRole('link', { name: 'Webhook' })).toHaveAttribute('href', '/activity?channel=webhook&time=week')
  await user.click(screen.getByRole('radio', { name: '90 days' }))
  expect(path()).toBe('/usage?time=quarter&by=channel')
  await waitFor(() => expect(within(screen.getByRole('figure')).getAllByRole('listitem')).toHaveLength(90))
})

it('shows how much of each limit is used', async () => {
  open('/usage', runnerWith({ getSettings: () => ({ settings: { ...DEFAULT_SETTINGS, firstStart: 'done', dayBudgetUsd: 2 } }) }))
  expect(await screen.findByText('$2.00 of $2.00 today')).toBeVisible()
  expect(await screen.findByText('$1.50 of $2.00 today')).toBeVisible()
  expect(screen.getByText('$1.50 of $40.00 this month')).toBeVisible()
})

it('says so when nothing was used', async () => {
  open('/usage', runnerWith({ getSpend: () => ({ rows: [], totalUsd: 0, unpricedCalls: 0 }) }))
  expect(await screen.findByRole('heading', { name: 'Nothing used in the last 30 days' })).toBeVisible()
  expect(await screen.findByText('No daily limit')).toBeVisible()
})

it('offers another try when the figures cannot be loaded', async () => {
  open('/usage', runnerWith({ getSpend: () => new Refusal('internal') }))
  expect((await screen.findAllByRole('button', { name: 'Try again' }))[0]).toBeVisible()
  expect(screen.queryByText(/Nothing used/)).toBeNull()
})
