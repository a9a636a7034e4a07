import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it, vi } from 'vitest'
import type { Trigger } from '../../../../src-runner/contract/triggers.ts'
import { createFakeRunner, Refusal } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeTrigger } from '../../../testing/things.ts'
import { AutomationsScreen } from '../AutomationsScreen.tsx'

function open(triggers: Trigger[], path = '/automations') {
  const runner = createFakeRunner({
    listTriggers: () => ({ triggers, nextCursor: null }),
    listSchedules: () => ({ schedules: [], nextCursor: null }),
  })
  return renderScreen(AutomationsScreen, { route: '/automations/:tab?', path, runner })
}

const row = async (name: string) => (await screen.findByText(name)).closest('li')!

it('shows the state of each webhook, and why its last delivery was refused', async () => {
  const [orders, old] = [
    makeTrigger({ name: 'Orders', firesThisHour: 30, triggerCount: 412, lastOutcome: 'ping' }),
    makeTrigger({ name: 'Old', status: 'paused', lastOutcome: 'bad_signature', lastTriggeredAt: null, triggerCount: 0 }),
  ]
  open([orders, old, makeTrigger({ name: 'Lost', agentId: null, agentName: null })])
  expect(await row('Orders')).toHaveTextContent('Total deliveries: 412')
  expect(within(await row('Orders')).getByRole('meter', { name: 'Last hour' })).toHaveAttribute('aria-valuetext', '30 of 30')
  expect(await row('Old')).toHaveTextContent('Paused')
  expect(await row('Old')).toHaveTextContent('Last refused: Invalid signature')
  expect(await row('Orders')).not.toHaveTextContent('Last refused')
  expect(within(await row('Orders')).getByTitle(/its payload is not stored/)).toBeInTheDocument()
  expect(await row('Lost')).toHaveTextContent('No agent')
  expect(within(await row('Orders')).getByRole('link')).toHaveAttribute('href', `/automations/webhooks/${orders.id}`)
})

it('updates the count when a job arrives', async () => {
  const triggers = [makeTrigger({ name: 'Orders', firesThisHour: 1 })]
  const { runner } = open(triggers)
  expect(await row('Orders')).toHaveTextContent('1 of 30')
  triggers[0] = { ...triggers[0]!, firesThisHour: 2 }
  runner.happen({
    type: 'job.created',
    payload: {
      jobId: triggers[0].id,
      agentId: triggers[0].id,
      conversationId: null,
      channel: 'webhook',
      title: 'Order',
      triggerId: triggers[0].id,
      scheduleId: null,
    },
  })
  await screen.findByText('2 of 30')
})

it('updates the count as time passes, while there is one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const triggers = [makeTrigger({ name: 'Orders', firesThisHour: 1 })]
    const { runner } = open(triggers)
    expect(await row('Orders')).toHaveTextContent('1 of 30')
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    triggers[0] = { ...triggers[0]!, firesThisHour: 0 }
    vi.advanceTimersByTime(20_000)
    await screen.findByText('0 of 30')
    const fetched = runner.callsOf('listTriggers').length
    vi.advanceTimersByTime(60_000)
    expect(runner.callsOf('listTriggers')).toHaveLength(fetched)
  } finally {
    vi.useRealTimers()
  }
})

it('moves through the list with the arrows', async () => {
  const { user } = open([makeTrigger({ name: 'One' }), makeTrigger({ name: 'Two' }), makeTrigger({ name: 'Three' })])
  const links = within(await screen.findByRole('list', { name: 'Webhooks' })).getAllByRole('link')
  links[0]!.focus()
  await user.keyboard('{ArrowDown}')
  expect(links[1]).toHaveFocus()
  await user.keyboard('{End}')
  expect(links[2]).toHaveFocus()
  await user.keyboard('{ArrowDown}{ArrowUp}{ArrowUp}')
  expect(links[0]).toHaveFocus()
})

it('explains webhooks when there are none, with an example', async () => {
  open([])
  expect(await screen.findByText('No webhooks yet')).toBeInTheDocument()
  expect(screen.getByRole('link', { name: 'Use an example' })).toHaveAttribute('href', '/automations/webhooks/new?preset=github_issue')
})

it('says that the list could not be loaded', async () => {
  const runner = createFakeRunner({ listTriggers: () => new Refusal('internal') })
  const { user } = renderScreen(AutomationsScreen, { route: '/automations/:tab?', path: '/automations', runner })
  await screen.findByRole('alert')
  runner.answer({ listTriggers: () => ({ triggers: [makeTrigger({ name: 'Orders' })], nextCursor: null }) })
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await row('Orders')
})

it('keeps the tab in the URL', async () => {
  const view = open([makeTrigger({ name: 'Orders' })])
  await row('Orders')
  await view.user.click(screen.getByRole('tab', { name: 'Schedules' }))
  expect(view.path()).toBe('/automations/schedules')
  expect(await screen.findByText('No schedules yet')).toBeInTheDocument()
  expect(screen.getAllByRole('link', { name: 'New schedule' })).not.toHaveLength(0)
})

it('shows a part of many webhooks, and finds any by its name or agent', async () => {
  const all = Array.from({ length: 60 }, (_, n) => makeTrigger({ name: `Shop ${n}`, agentName: n === 59 ? 'Bruno' : 'Ada' }))
  const { user, runner, path } = open([])
  runner.answer({
    listTriggers: ({ query }) =>
      query.cursor === undefined ? { triggers: all.slice(0, 40), nextCursor: 'next' } : { triggers: all.slice(40), nextCursor: null },
  })
  const rows = async () => within(await screen.findByRole('list', { name: 'Webhooks' })).queryAllByRole('listitem')
  await waitFor(async () => expect(await rows()).toHaveLength(25))
  await user.click(screen.getByRole('button', { name: 'More' }))
  await waitFor(async () => expect(await rows()).toHaveLength(50))
  await user.type(screen.getByRole('searchbox', { name: 'Search webhooks' }), 'bru')
  await waitFor(async () => expect((await rows()).map((row) => row.textContent)).toEqual([expect.stringContaining('Shop 59')]))
  expect(path()).toBe('/automations?q=bru')
  await user.type(screen.getByRole('searchbox'), 'x')
  expect(await screen.findByText('No results for “brux”')).toBeVisible()
})
