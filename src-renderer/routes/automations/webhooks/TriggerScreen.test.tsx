import { screen, waitFor, within } from '@solidjs/testing-library'
import { describe, expect, it } from 'vitest'
import type { PublicAddress } from '../../../../src-runner/contract/public-address.ts'
import { type Delivery, DeliveryOutcome, type DeliveryDetail, type Trigger } from '../../../../src-runner/contract/triggers.ts'
import { createFakeRunner, Refusal } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeDelivery, makeDeliveryDetail, makeId, makeTrigger } from '../../../testing/things.ts'
import { TriggerScreen } from './TriggerScreen.tsx'

type Given = {
  trigger?: Trigger
  deliveries?: Delivery[]
  detail?: Partial<DeliveryDetail>
  query?: string
  address?: Partial<PublicAddress>
}

function open({ trigger = makeTrigger({ name: 'Orders' }), deliveries = [], detail = {}, query = '', address = {} }: Given = {}) {
  const held = { trigger, deliveries }
  const runner = createFakeRunner({
    getTrigger: ({ params }) => (params.triggerId === held.trigger.id ? { trigger: held.trigger } : new Refusal('trigger_not_found')),
    listDeliveries: () => ({ deliveries: [...held.deliveries], nextCursor: null }),
    getDelivery: ({ params }) => {
      const delivery = held.deliveries.find((one) => one.id === params.deliveryId)
      return delivery === undefined ? new Refusal('delivery_not_found') : { delivery: makeDeliveryDetail({ ...delivery, ...detail }) }
    },
    getPublicAddress: () => ({
      publicAddress: {
        url: 'https://hooks.example.com',
        source: 'setting',
        localUrl: 'http://127.0.0.1:3001',
        ingressPort: null,
        check: { state: 'reachable', checkedAt: 1_700_000_000_000, problem: null },
        programs: [],
        tunnel: null,
        ...address,
      },
    }),
    pauseTrigger: () => {
      held.trigger = { ...held.trigger, status: 'paused' }
      return { trigger: held.trigger }
    },
    deleteTrigger: () => ({ ok: true }),
  })
  const path = `/automations/webhooks/${trigger.id}${query}`
  return { ...renderScreen(TriggerScreen, { route: '/automations/webhooks/:triggerId', path, runner }), held }
}

const row = async (name: RegExp) => (await screen.findByRole('button', { name })).closest('li')!

describe('one webhook', () => {
  it('shows its facts, and that it can be duplicated but not edited', async () => {
    const trigger = makeTrigger({
      name: 'Orders',
      slug: 'orders',
      firesThisHour: 12,
      signature: 'github',
      dedupe: true,
      notifyOnSuccess: true,
    })
    open({ trigger })
    const facts = await screen.findByText('12 of 30')
    const list = facts.closest('dl')!
    for (const fact of ['/webhooks/orders/…', 'GitHub', 'Ignored', 'On, via Automatic', 'Ada']) expect(list).toHaveTextContent(fact)
    expect(await screen.findByText(/Reachable from the internet at https:\/\/hooks\.example\.com/)).toBeInTheDocument()
    expect(screen.getByText(/Webhooks cannot be edited/)).toBeInTheDocument()
    expect(screen.getByRole('link', { name: 'Duplicate' })).toHaveAttribute('href', `/automations/webhooks/new?from=${trigger.id}`)
  })

  it('says that an address of cloudflared changes', async () => {
    const url = 'https://odd-words.trycloudflare.com'
    open({ address: { url, source: 'tunnel', tunnel: { program: 'cloudflared', state: 'running', url, problem: null, startedAt: 1 } } })
    expect(await screen.findByText(/Reachable from .* cloudflared gets a new address each time it starts/)).toBeInTheDocument()
  })

  it('is paused at once, and explains it', async () => {
    const { user, held } = open()
    await user.click(await screen.findByRole('button', { name: 'Pause' }))
    expect(await screen.findByText(/the address responds as if it did not exist/)).toBeInTheDocument()
    expect(screen.getByRole('button', { name: 'Resume' })).toBeInTheDocument()
    expect(screen.getByRole('button', { name: 'Send test' })).toBeDisabled()
    expect(held.trigger.status).toBe('paused')
  })

  it('is active again when pausing failed', async () => {
    const { user, runner } = open()
    runner.answer({ pauseTrigger: () => new Refusal('disk_full') })
    await user.click(await screen.findByRole('button', { name: 'Pause' }))
    expect(await screen.findByText(/Free some space/)).toBeInTheDocument()
    expect(screen.getByRole('button', { name: 'Pause' })).toBeInTheDocument()
  })

  it('asks by name before it is deleted', async () => {
    const { user, path, runner, held } = open()
    await user.click(await screen.findByRole('button', { name: 'More' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Delete' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Delete Orders?' })
    await user.click(within(dialog).getByRole('button', { name: 'Delete webhook' }))
    await waitFor(() => expect(path()).toBe('/automations/webhooks'))
    expect(runner.callsOf('deleteTrigger')[0]!.params).toEqual({ triggerId: held.trigger.id })
  })

  it('says that a webhook does not exist', async () => {
    const runner = createFakeRunner({ getTrigger: () => new Refusal('trigger_not_found') })
    renderScreen(TriggerScreen, { route: '/automations/webhooks/:triggerId', path: `/automations/webhooks/${makeId()}`, runner })
    expect(await screen.findByText('Webhook not found')).toBeInTheDocument()
  })
})

describe('a test delivery', () => {
  it('starts with a sample for the task, and links to its job', async () => {
    const { user, runner } = open({ trigger: makeTrigger({ taskTemplate: 'Order {order.name} of {order.total}, {name}' }) })
    const jobId = makeId()
    runner.answer({ testTrigger: () => ({ jobId, delivery: makeDelivery({ kind: 'test', jobId }) }) })
    await user.click(await screen.findByRole('button', { name: 'Send test' }))
    expect(await screen.findByRole('link', { name: 'Open job' })).toHaveAttribute('href', `/jobs/${jobId}`)
    expect(JSON.parse(runner.callsOf('testTrigger')[0]!.body.payload)).toEqual({ order: { name: 'name', total: 'total' }, name: 'name' })
  })

  it('says why it could not be sent, until the payload changes', async () => {
    const { user, runner } = open()
    runner.answer({ testTrigger: () => new Refusal('invalid_request', 'No.', [{ path: 'payload', message: 'This is not JSON.' }]) })
    await user.click(await screen.findByRole('button', { name: 'Send test' }))
    expect(await screen.findByText('This is not JSON.')).toBeInTheDocument()
    await user.type(screen.getByRole('textbox', { name: 'Payload' }), ' ')
    expect(screen.queryByText('This is not JSON.')).not.toBeInTheDocument()
  })
})

describe('its inbox', () => {
  it('marks a delivery that left placeholders empty, and names them', async () => {
    const delivery = makeDelivery({ jobId: makeId(), missing: ['order.name'] })
    const { user, runner } = open({ deliveries: [delivery, makeDelivery()] })
    runner.answer({ getDelivery: () => ({ delivery: { ...delivery, payload: '{}', prompt: null, plainPrompt: null, headers: {} } }) })
    const rows = within(await screen.findByRole('list', { name: 'Deliveries' })).getAllByRole('button')
    expect(rows.map((row) => row.textContent.includes('1 empty placeholder'))).toEqual([true, false])
    await user.click(rows[0]!)
    expect(await screen.findByText('The payload has no value for {order.name}.')).toBeInTheDocument()
  })

  it('names each outcome and event, and counts repeats', async () => {
    const deliveries = DeliveryOutcome.options.map((outcome) => makeDelivery({ outcome, times: outcome === 'wrong_secret' ? 41 : 1 }))
    deliveries[0] = { ...deliveries[0]!, eventName: 'push', jobId: makeId() }
    open({ deliveries })
    const rows = within(await screen.findByRole('list', { name: 'Deliveries' })).getAllByRole('button')
    expect(rows).toHaveLength(DeliveryOutcome.options.length)
    expect(new Set(rows.map((one) => one.querySelector('span.text-sm')!.textContent)).size).toBe(rows.length)
    expect(await row(/Wrong secret/)).toHaveTextContent('41 times in a row')
    expect(await row(/Job started/)).toHaveTextContent('push')
    expect(within(await row(/Job started/)).getByRole('link', { name: 'Job' })).toHaveAttribute('href', `/jobs/${deliveries[0].jobId}`)
  })

  it('unfolds a delivery and keeps it in the URL', async () => {
    const delivery = makeDelivery({ outcome: 'invalid_json', status: 400, senderId: 'evt_7' })
    const view = open({
      deliveries: [delivery],
      detail: { payload: '{"a":', prompt: null, plainPrompt: null, headers: { 'user-agent': 'Shop/2' } },
    })
    await view.user.click(await screen.findByRole('button', { name: /Invalid JSON/ }))
    expect(await screen.findByText('The payload is not valid JSON.')).toBeInTheDocument()
    expect(screen.getByText(/Response status 400/)).toHaveTextContent('evt_7')
    expect(screen.getByRole('group', { name: 'Payload' })).toHaveTextContent('{"a":')
    expect(screen.queryByRole('region', { name: 'Task' })).not.toBeInTheDocument()
    expect(screen.getByText('Shop/2')).toBeInTheDocument()
    expect(view.path()).toContain(`delivery=${delivery.id}`)
    await view.user.click(screen.getByRole('button', { name: /Invalid JSON/ }))
    expect(view.path()).not.toContain('delivery')
    expect(screen.queryByText('The payload is not valid JSON.')).not.toBeInTheDocument()
  })

  it('opens the delivery that started a job, not its repeat', async () => {
    const jobId = makeId()
    const [repeat, first] = [makeDelivery({ outcome: 'duplicate', jobId }), makeDelivery({ outcome: 'accepted', jobId })]
    open({ deliveries: [repeat, first], query: `?job=${jobId}` })
    expect(await screen.findByRole('region', { name: 'Task' })).toHaveTextContent('Order #1001 came in.')
    expect(screen.getByRole('button', { name: /Job started/ })).toHaveAttribute('aria-expanded', 'true')
    expect(screen.getByRole('button', { name: /Duplicate/ })).toHaveAttribute('aria-expanded', 'false')
  })

  it('shows the task in the person’s words, and the agent’s input on request', async () => {
    const delivery = makeDelivery()
    const { user } = open({ deliveries: [delivery], query: `?delivery=${delivery.id}` })
    const task = await screen.findByRole('region', { name: 'Task' })
    expect(task).toHaveTextContent('Order #1001 came in.')
    expect(task).not.toHaveTextContent('A webhook started this job')
    await user.click(within(task).getByRole('button', { name: 'Show agent input' }))
    const given = within(task).getByRole('group', { name: 'Agent input' })
    expect(given).toHaveTextContent('A webhook started this job. Order {name} came in.')
  })

  it('shows the task of an earlier version as it was stored', async () => {
    const delivery = makeDelivery()
    const detail = { prompt: 'A webhook started this job.', plainPrompt: null }
    open({ deliveries: [delivery], detail, query: `?delivery=${delivery.id}` })
    const task = await screen.findByRole('region', { name: 'Task' })
    expect(task).toHaveTextContent('A webhook started this job.')
    expect(within(task).queryByRole('button')).not.toBeInTheDocument()
  })

  it('says that a delivery is no longer kept', async () => {
    open({ deliveries: [makeDelivery()], query: `?job=${makeId()}` })
    expect(await screen.findByText('Delivery not found')).toBeInTheDocument()
  })

  it('shows the beginning of a large payload', async () => {
    const delivery = makeDelivery({ bytes: 1_000_000 })
    const { user } = open({
      deliveries: [delivery],
      detail: { payload: JSON.stringify('x'.repeat(999_990)) },
      query: `?delivery=${delivery.id}`,
    })
    const shown = await screen.findByRole('group', { name: 'Payload' })
    expect(shown.textContent.length).toBeLessThan(5000)
    await user.click(screen.getByRole('button', { name: 'More (999,992 characters)' }))
    expect(shown.textContent.length).toBeLessThan(150_000)
  })

  it('asks before it replays a delivery', async () => {
    const delivery = makeDelivery()
    const { user, runner } = open({ deliveries: [delivery], query: `?delivery=${delivery.id}` })
    runner.answer({ replayDelivery: () => ({ jobId: makeId(), delivery: makeDelivery({ kind: 'replay', replayOfId: delivery.id }) }) })
    await user.click(await screen.findByRole('button', { name: 'Replay…' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Replay this delivery?' })
    expect(dialog).toHaveTextContent('Ada gets the same task again')
    expect(runner.callsOf('replayDelivery')).toHaveLength(0)
    await user.click(within(dialog).getByRole('button', { name: 'Replay' }))
    expect(await screen.findByRole('button', { name: 'Open job' })).toBeInTheDocument()
    expect(runner.callsOf('replayDelivery')[0]!.params).toEqual({ deliveryId: delivery.id })
  })

  it('says why a replay was refused', async () => {
    const delivery = makeDelivery()
    const { user, runner } = open({ deliveries: [delivery], query: `?delivery=${delivery.id}` })
    runner.answer({ replayDelivery: () => new Refusal('trigger_is_paused', 'The webhook is paused. Resume it first.') })
    await user.click(await screen.findByRole('button', { name: 'Replay…' }))
    await user.click(await screen.findByRole('button', { name: 'Replay' }))
    expect(await within(screen.getByRole('alertdialog')).findByRole('alert')).toHaveTextContent('Resume it first.')
  })

  it('offers no replay without a payload', async () => {
    const delivery = makeDelivery({ outcome: 'payload_too_large' })
    open({ deliveries: [delivery], detail: { payload: null, prompt: null, plainPrompt: null }, query: `?delivery=${delivery.id}` })
    expect(await screen.findByText('The payload was not stored.')).toBeInTheDocument()
    expect(screen.queryByRole('button', { name: 'Replay…' })).not.toBeInTheDocument()
  })

  it('says of a refused delivery that its task is given for the first time', async () => {
    const delivery = makeDelivery({ outcome: 'no_agent', status: 400, jobId: null })
    const { user } = open({ deliveries: [delivery], query: `?delivery=${delivery.id}` })
    await user.click(await screen.findByRole('button', { name: 'Replay…' }))
    expect(await screen.findByRole('alertdialog')).toHaveTextContent('Ada gets this task now.')
  })

  it.each([
    ['that is not valid JSON', { outcome: 'invalid_json' }, {}],
    ['without an agent', { outcome: 'no_agent' }, { agentId: null, agentName: null }],
  ] as const)('offers no replay of a delivery %s', async (_, fields, ofTrigger) => {
    const delivery = makeDelivery({ ...fields, status: 400, jobId: null })
    open({ trigger: makeTrigger(ofTrigger), deliveries: [delivery], query: `?delivery=${delivery.id}` })
    expect(await screen.findByRole('group', { name: 'Payload' })).toBeInTheDocument()
    expect(screen.queryByRole('button', { name: 'Replay…' })).not.toBeInTheDocument()
  })

  it('shows a refused delivery at once', async () => {
    const view = open()
    expect(await screen.findByText('No deliveries yet')).toBeInTheDocument()
    view.held.deliveries.push(makeDelivery({ outcome: 'rate_limited', status: 429 }))
    view.runner.happen({ type: 'delivery.refused', payload: { triggerId: view.held.trigger.id, outcome: 'rate_limited' } })
    await row(/Rate limited/)
  })
})

it('says of a webhook without an agent what helps, whether or not it ever had one', async () => {
  open({ trigger: makeTrigger({ agentId: null, agentName: null }) })
  expect(await screen.findByText('This webhook has no agent, so deliveries are refused. Duplicate it and choose one.')).toBeInTheDocument()
})
