import { A } from '@solidjs/router'
import { screen, waitFor, within } from '@solidjs/testing-library'
import { describe, expect, it } from 'vitest'
import type { Channel } from '../../../../src-runner/contract/channels.ts'
import type { PublicAddress } from '../../../../src-runner/contract/public-address.ts'
import { createFakeRunner, type FakeRunner, Refusal } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeAgent, makeDelivery, makeDeliveryDetail, makeId, makeTrigger } from '../../../testing/things.ts'
import { NewTriggerScreen } from './NewTriggerScreen.tsx'
import { TriggerScreen } from './TriggerScreen.tsx'

const ada = makeAgent({ name: 'Ada', isDefault: true })
const URL = 'http://127.0.0.1:3001/webhooks/orders/s3cret-of-it'

const LOCAL: PublicAddress = {
  url: null,
  source: 'none',
  localUrl: 'http://127.0.0.1:3001',
  ingressPort: null,
  check: { state: 'unknown', checkedAt: null, problem: null },
  programs: [],
  tunnel: null,
}

function telegram(agentId: string): Channel {
  return {
    id: makeId(),
    agentId,
    agentName: 'Ada',
    kind: 'telegram',
    name: '@ada_bot',
    link: null,
    status: 'open',
    problem: null,
    lastRoundTripAt: null,
    baseUrl: null,
    enabled: true,
    pairingCode: '7F3KM2QX',
    people: [],
    createdAt: 1_700_000_000_000,
  }
}

function createWorkspace(): FakeRunner {
  return createFakeRunner({
    listAgents: () => ({ agents: [makeAgent({ name: 'Bob' }), ada], nextCursor: null }),
    listChannels: () => ({ channels: [], nextCursor: null }),
    previewTemplate: () => ({ prompt: 'What comes of it', plainPrompt: 'What comes of it', placeholders: [], problem: null }),
  })
}

/** The form and the page that follows it, each under its address. */
function open(path = '/automations/webhooks/new', runner = createWorkspace()) {
  const Page = () => (
    <>
      <A href="/elsewhere">Elsewhere</A>
      <NewTriggerScreen />
    </>
  )
  return renderScreen(Page, { route: '/automations/webhooks/new', path, runner })
}

const field = (name: RegExp | string) => screen.getByRole('textbox', { name })
const nameField = () => screen.findByRole('textbox', { name: 'Name' })
const create = () => screen.getByRole('button', { name: 'Create webhook' })

describe('a new webhook', () => {
  it('has the cursor in its name', async () => {
    open()
    await waitFor(async () => expect(await nameField()).toHaveFocus())
  })

  it('is created with the chosen values, for the default agent', async () => {
    const view = open()
    await view.user.type(await nameField(), 'Orders')
    await view.user.type(field(/^Task/), 'Order {{name} came in.')
    await view.user.click(screen.getByText('Advanced'))
    await view.user.type(field(/^Address/), 'orders')
    await view.user.click(screen.getByRole('checkbox', { name: 'Ignore duplicates' }))
    view.runner.answer({ createTrigger: ({ body }) => ({ trigger: makeTrigger({ name: body.name }), url: URL }) })
    await view.user.click(screen.getByRole('checkbox', { name: 'Refuse deliveries with empty placeholders' }))
    await view.user.click(create())
    await waitFor(() => expect(view.path()).toMatch(/^\/automations\/webhooks\/0/))
    expect(view.runner.callsOf('createTrigger')[0]!.body).toEqual({
      name: 'Orders',
      agentId: ada.id,
      taskTemplate: 'Order {name} came in.',
      slug: 'orders',
      notifyOnSuccess: false,
      notifyVia: 'auto',
      signature: null,
      dedupe: true,
      requirePlaceholders: true,
    })
  })

  it('is not sent while a field is missing, and says so at the field', async () => {
    const view = open()
    await nameField()
    await view.user.click(create())
    expect(await screen.findByText('Enter a name.')).toBeInTheDocument()
    expect(screen.getByText('Enter a task.')).toBeInTheDocument()
    expect(screen.getByText('2 fields are invalid.')).toBeInTheDocument()
    expect(view.runner.callsOf('createTrigger')).toHaveLength(0)
  })

  it('opens the advanced fields when one has a problem', async () => {
    const view = open('/automations/webhooks/new?preset=github_push')
    view.runner.answer({ createTrigger: () => new Refusal('trigger_slug_taken') })
    await nameField()
    await view.user.click(create())
    expect(await screen.findAllByText('Another webhook already uses this address.')).not.toHaveLength(0)
    expect(screen.getByText('Advanced').closest('details')).toHaveAttribute('open')
  })

  it('requires the signing secret of a scheme', async () => {
    const view = open('/automations/webhooks/new?preset=github_push')
    await nameField()
    await view.user.click(screen.getByText('Advanced'))
    await view.user.click(screen.getByRole('button', { name: /^Signature/ }))
    await view.user.click(await screen.findByRole('option', { name: 'GitHub' }))
    await view.user.click(create())
    expect(await screen.findByText(/Enter the sender’s signing secret/)).toBeInTheDocument()
    await view.user.type(screen.getByLabelText('Signing secret'), 'hush')
    view.runner.answer({ createTrigger: () => ({ trigger: makeTrigger(), url: URL }) })
    await view.user.click(create())
    await waitFor(() =>
      expect(view.runner.callsOf('createTrigger')[0]?.body).toMatchObject({
        signature: { scheme: 'github', secret: 'hush' },
        dedupe: true,
      }),
    )
  })

  it('fills in an example whose fields can be inserted into the task', async () => {
    const view = open('/automations/webhooks/new?preset=github_issue')
    expect(await nameField()).toHaveValue('Triage issues')
    expect(field(/^Task/)).toHaveDisplayValue(/issue\.title/)
    await view.user.clear(field(/^Task/))
    await view.user.click(screen.getByRole('button', { name: 'Insert {issue.number}' }))
    expect(field(/^Task/)).toHaveValue('{issue.number}')
    expect(screen.queryByRole('button', { name: 'Insert {issue.number}' })).not.toBeInTheDocument()
  })

  it('keeps what was written when another example is chosen', async () => {
    const view = open()
    const choose = async (name: string) => {
      await view.user.click(screen.getByRole('button', { name: /^Template/ }))
      await view.user.click(await screen.findByRole('option', { name }))
    }
    await view.user.type(await nameField(), 'Orders')
    await choose('GitHub: push')
    expect(await nameField()).toHaveValue('Orders')
    expect(field(/^Task/)).toHaveDisplayValue(/pusher\.name/)
    await view.user.clear(field(/^Sample/))
    await view.user.type(field(/^Sample/), '[[]')
    await choose('GitHub: issue')
    expect(field(/^Task/)).toHaveDisplayValue(/issue\.title/)
    expect(field(/^Sample/)).toHaveValue('[]')
  })

  it('shows the agent’s input, and the placeholders that stay empty', async () => {
    const runner = createWorkspace()
    runner.answer({
      previewTemplate: ({ body }) =>
        body.payload.trim() === '{'
          ? { prompt: null, plainPrompt: null, placeholders: [], problem: { code: 'payload_not_json' as const, params: {} } }
          : {
              prompt: 'A webhook started this job.\n\nOrder #1001 came in from .\n\nOrder {name} from {from.city}',
              plainPrompt: 'Order #1001 came in from .',
              placeholders: [
                { path: 'name', state: 'filled', value: '#1001' },
                { path: 'from.city', state: 'missing', value: '' },
              ],
              problem: null,
            },
    })
    const view = open('/automations/webhooks/new', runner)
    await nameField()
    expect(screen.getByText('Enter a task to see a preview.')).toBeInTheDocument()
    await view.user.type(field(/^Task/), 'Order {{name} from {{from.city}')
    expect(await screen.findByText('Order #1001 came in from .')).toBeInTheDocument()
    expect(screen.queryByText(/A webhook started this job/)).not.toBeInTheDocument()
    await view.user.click(screen.getByRole('button', { name: 'Show agent input' }))
    expect(screen.getByRole('group', { name: 'Agent input' })).toHaveTextContent(/^A webhook started this job\./)
    expect(screen.getByText(/1 placeholder is missing/)).toHaveTextContent('{from.city}')
    await view.user.clear(field(/^Sample/))
    await view.user.type(field(/^Sample/), '{{')
    expect(await screen.findByText('The payload is not valid JSON.')).toBeInTheDocument()
    // What was asked is what stood there last, not every letter.
    expect(runner.callsOf('previewTemplate').length).toBeLessThan(12)
  })

  it('copies another webhook without its secrets', async () => {
    const original = makeTrigger({ name: 'Orders', taskTemplate: 'Order {order.name}', signature: 'stripe', dedupe: true, agentId: ada.id })
    const runner = createWorkspace()
    runner.answer({ getTrigger: () => ({ trigger: original }) })
    open(`/automations/webhooks/new?from=${original.id}`, runner)
    expect(await nameField()).toHaveValue('Orders (copy)')
    expect(field(/^Task/)).toHaveValue('Order {order.name}')
    expect(field(/^Sample/)).toHaveDisplayValue(/"order"/)
    expect(screen.getByLabelText('Signing secret')).toHaveValue('')
    expect(screen.getByText('Signing secrets are not copied. Enter it again.')).toBeInTheDocument()
  })

  it('asks before unsaved changes are discarded', async () => {
    const view = open()
    await view.user.type(await nameField(), 'Orders')
    await view.user.click(screen.getByRole('link', { name: 'Elsewhere' }))
    expect(await screen.findByRole('alertdialog', { name: 'Discard changes?' })).toBeInTheDocument()
  })

  it('says that an agent is needed', async () => {
    const runner = createWorkspace()
    runner.answer({ listAgents: () => ({ agents: [], nextCursor: null }) })
    open('/automations/webhooks/new', runner)
    expect(await screen.findByRole('link', { name: 'Create agent' })).toHaveAttribute('href', '/agents/new')
  })
})

describe('telling the person', () => {
  it('is disabled while the agent has no channel, and links to channels', async () => {
    open()
    await waitFor(async () => expect(await screen.findByRole('checkbox', { name: 'Notify on success' })).toBeDisabled())
    expect(screen.getByRole('link', { name: 'Connect a channel' })).toHaveAttribute('href', '/channels')
  })

  it('is disabled while the service refuses the token of the only channel', async () => {
    const runner = createWorkspace()
    runner.answer({ listChannels: () => ({ channels: [{ ...telegram(ada.id), status: 'logged_out' }], nextCursor: null }) })
    open('/automations/webhooks/new', runner)
    expect(await screen.findByRole('link', { name: 'Connect a channel' })).toBeInTheDocument()
    expect(screen.getByRole('checkbox', { name: 'Notify on success' })).toBeDisabled()
  })

  it('offers the channels of the chosen agent only', async () => {
    const runner = createWorkspace()
    runner.answer({ listChannels: ({ query }) => ({ channels: query.agentId === ada.id ? [telegram(ada.id)] : [], nextCursor: null }) })
    const view = open('/automations/webhooks/new?preset=generic', runner)
    const sandbox = await screen.findByRole('checkbox', { name: 'Notify on success' })
    await waitFor(() => expect(sandbox).toBeEnabled())
    await view.user.click(sandbox)
    await view.user.click(screen.getByRole('button', { name: /^Channel/ }))
    const options = await screen.findAllByRole('option')
    expect(options.map((option) => option.textContent)).toEqual(['Automatic: the first active channel', 'Telegram'])
    await view.user.click(options[1]!)
    runner.answer({ createTrigger: () => ({ trigger: makeTrigger(), url: URL }) })
    await view.user.click(create())
    await waitFor(() => expect(runner.callsOf('createTrigger')[0]?.body).toMatchObject({ notifyOnSuccess: true, notifyVia: 'telegram' }))
  })
})

describe('its address', () => {
  async function createOne() {
    const trigger = makeTrigger({ name: 'Orders' })
    const runner = createWorkspace()
    runner.answer({
      createTrigger: () => ({ trigger, url: URL }),
      getTrigger: () => ({ trigger }),
      listDeliveries: () => ({ deliveries: [], nextCursor: null }),
      getPublicAddress: () => ({ publicAddress: LOCAL }),
      rotateTriggerSecret: () => ({ trigger, url: URL.replace('s3cret', 'an0ther') }),
    })
    const copied: string[] = []
    const Page = () => (
      <>
        <A href="/elsewhere">Elsewhere</A>
        <TriggerScreen />
      </>
    )
    const view = renderScreen(NewTriggerScreen, {
      route: '/automations/webhooks/new',
      path: '/automations/webhooks/new?preset=shopify_order',
      runner,
      more: { '/automations/webhooks/:triggerId': Page },
      desktop: {
        copyText: (text) => {
          copied.push(text)
          return Promise.resolve()
        },
      },
    })
    await nameField()
    await view.user.click(create())
    await screen.findByRole('region', { name: 'Webhook address' })
    return { ...view, trigger, copied }
  }

  it('is shown once, with a command to try it', async () => {
    const { user, copied, path } = await createOne()
    const panel = screen.getByRole('region', { name: 'Webhook address' })
    expect(panel).toHaveTextContent(URL)
    expect(panel).toHaveTextContent('Treat it like a password')
    expect(await within(panel).findByText(/Only programs on this computer can reach it/)).toBeInTheDocument()
    expect(within(panel).getByRole('link', { name: 'Public address' })).toHaveAttribute('href', '/settings/webhooks')
    await user.click(within(panel).getByRole('button', { name: 'Copy address' }))
    await user.click(within(panel).getByRole('button', { name: 'Copy command' }))
    expect(copied[0]).toBe(URL)
    expect(copied[1]).toContain(`curl -X POST '${URL}'`)
    expect(copied[1]).toContain('"name":"#1001"')
    expect(path()).not.toContain('s3cret')
    await user.click(within(panel).getByRole('button', { name: 'I copied it' }))
    expect(document.body).not.toHaveTextContent('s3cret')
  })

  it('asks before it is left uncopied', async () => {
    const { user, path } = await createOne()
    await user.click(screen.getByRole('link', { name: 'Elsewhere' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Leave without copying the address?' })
    await user.click(within(dialog).getByRole('button', { name: 'Leave' }))
    await waitFor(() => expect(path()).toBe('/elsewhere'))
  })

  it('does not block other links of the page', async () => {
    const { user, runner, trigger, path } = await createOne()
    const delivery = makeDelivery({ triggerId: trigger.id })
    runner.answer({
      listDeliveries: () => ({ deliveries: [delivery], nextCursor: null }),
      getDelivery: () => ({ delivery: makeDeliveryDetail(delivery) }),
    })
    runner.happen({ type: 'trigger.changed', payload: { triggerId: trigger.id } })
    await user.click(await screen.findByRole('button', { name: /Job started/ }))
    expect(await screen.findByRole('group', { name: 'Payload' })).toBeInTheDocument()
    expect(path()).toContain(`delivery=${delivery.id}`)
    expect(screen.queryByRole('alertdialog')).not.toBeInTheDocument()
  })

  it('changes when the secret is rotated, after a question', async () => {
    const { user, runner } = await createOne()
    await user.click(screen.getByRole('button', { name: 'I copied it' }))
    await user.click(screen.getByRole('button', { name: 'More' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Rotate secret…' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Rotate the secret of Orders?' })
    expect(dialog).toHaveTextContent('The old address stops working immediately')
    expect(runner.callsOf('rotateTriggerSecret')).toHaveLength(0)
    await user.click(within(dialog).getByRole('button', { name: 'Rotate secret' }))
    const panel = await screen.findByRole('region', { name: 'New webhook address' })
    expect(panel).toHaveTextContent('an0ther')
    expect(panel).toHaveTextContent('The old address no longer works.')
  })
})
