import { startBotApiServer } from '../../src-runner/testing/bot-api-server/bot-api-server.ts'
import type { ModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import { type Deckhand, expect, test } from '../fixtures/deckhand.ts'
import { findLayoutFaults, openScreen, resizePage, unfoldAll } from '../fixtures/layout-faults.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { EVERY_PICTURE } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const SIZES = [
  { width: 900, height: 600 },
  { width: 390, height: 844 },
]

/** Adds what the scenario lacks: a chat that waits for an approval, a rule, a memory and a failed job. */
async function addMore({ client }: Deckhand, models: ModelServer, folder: RealFolder) {
  const agent = await setUpAgent(client, models, { name: 'Dora', folders: [folder.path], autonomy: 'ask_first' })
  await client.ok('createRule', { body: { effect: 'ask', tool: 'write_file', pattern: '*.md' } })
  await client.ok('createMemory', { body: { agentId: agent.id, text: 'The fence is painted every second spring.' } })
  const args = { path: `${folder.path}/plan.md`, content: '# Plan\n\nPaint the fence green.\n' }
  models.play({ text: ['Green it is.'], toolCalls: [{ id: 'call_1', name: 'write_file', args }] })
  const chat = await client.ok('chat', { body: { agentId: agent.id, message: 'Bring the plan up to date.' } })
  const { approvals } = await client.ok('listApprovals', { query: { status: 'pending' } })
  return { agent, chat, approval: approvals[0]! }
}

test.use({ scenario: 'automations' })

test('texts that are 40 % longer break no layout, in a narrow window and on a phone', async ({ deckhand, models }) => {
  const { client, page } = deckhand
  const folder = createRealFolder({ 'plan.md': '# Plan\n\nPaint the fence blue.\n' })
  const telegram = await startBotApiServer()
  const { agent, chat, approval } = await addMore(deckhand, models, folder)
  await client.ok('createChannel', { body: { agentId: agent.id, kind: 'telegram', token: telegram.token, baseUrl: telegram.url } })
  telegram.say({ id: 4711, first_name: 'Mira', username: 'mira_at_home' }, 'It is me.')
  const { triggers } = await client.ok('listTriggers', {})
  const { schedules } = await client.ok('listSchedules', {})
  const scheduleOf = (wanted: string) => schedules.find(({ name }) => name === wanted)!
  const orders = triggers.find(({ name }) => name === 'New orders')!
  const { deliveries } = await client.ok('listDeliveries', { params: { triggerId: orders.id } })
  const [fired] = (await client.ok('listJobs', { query: { channel: 'webhook' } })).jobs
  const [failed] = (await client.ok('listJobs', { query: { status: 'failed' } })).jobs
  const sections = ['general', 'jobs', 'notifications', 'tools', 'webhooks', 'people', 'tokens', 'computer', 'health', 'about']
  const paths = [
    '/',
    '/chat',
    `/chat/${chat.conversationId}`,
    `/approvals/${approval.id}`,
    '/approvals',
    '/approvals?show=answered',
    '/rules',
    '/activity',
    `/jobs/${chat.jobId}`,
    `/jobs/${fired!.id}`,
    ...(failed === undefined ? [] : [`/jobs/${failed.id}`]),
    '/automations',
    '/automations/schedules',
    '/automations/webhooks/new?preset=github_issue',
    `/automations/webhooks/${orders.id}?delivery=${deliveries[0]!.id}`,
    '/automations/schedules/new?example=1',
    ...['Watch the parcel', 'Check the prices'].map((name) => `/automations/schedules/${scheduleOf(name).id}`),
    `/automations/schedules/${scheduleOf('Watch the parcel').id}/edit`,
    '/agents',
    '/agents/new',
    `/agents/${agent.id}`,
    '/code',
    '/channels',
    '/connections',
    '/connections?connect=github',
    '/connections?add=mcp',
    '/skills',
    '/skills?install=1',
    '/models',
    '/models?add=openai-compatible',
    '/settings',
    ...sections.map((section) => `/settings/${section}`),
    ...['model', 'agent', 'job'].map((step) => `/welcome?step=${step}`),
  ]

  await page.evaluate(() => localStorage.setItem('deckhand.pseudo-locale', '1'))
  await page.reload()
  await expect(page.locator('main').first()).toBeVisible()
  const session = await page.context().newCDPSession(page)
  const faults = new Map<string, string>()
  for (const path of paths) {
    await openScreen(page, path)
    await unfoldAll(page)
    for (const { width, height } of SIZES) {
      await resizePage(page, session, width, height)
      const found = await findLayoutFaults(page)
      for (const fault of found) faults.set(`${fault} at a width of ${width}`, path)
      if (EVERY_PICTURE || found.length > 0)
        await page.screenshot({ path: test.info().outputPath(`${path.replaceAll(/[^a-z]+/g, '-')}-${width}.png`) })
    }
  }
  await telegram.close()
  folder.remove()
  expect([...faults].map(([fault, path]) => `${path}: ${fault}`)).toEqual([])
})
