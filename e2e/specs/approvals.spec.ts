import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import type { CreateAgent } from '../../src-runner/contract/agents.ts'
import type { ModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import type { ServedToolCall } from '../../src-runner/testing/model-servers/reply.ts'
import { type Deckhand, expect, test as base } from '../fixtures/deckhand.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const BLUE = 'Paint it blue.\n'
const GREEN = 'Paint it green.\n'

const test = base.extend<{ folder: RealFolder }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  folder: async ({}, use) => {
    const folder = createRealFolder({ 'draft.md': GREEN, 'plan.md': BLUE })
    await use(folder)
    folder.remove()
  },
})

/** A call that runs a program, which needs an approval. */
const running = (folder: RealFolder, ...command: string[]): ServedToolCall => ({
  id: 'call_1',
  name: 'run_command',
  args: { command, folder: folder.path },
})
const copyingDraft = (folder: RealFolder) => running(folder, 'cp', 'draft.md', 'plan.md')
const writing = (folder: RealFolder, content: string): ServedToolCall => ({
  id: 'call_1',
  name: 'write_file',
  args: { path: join(folder.path, 'plan.md'), content },
})
const read = (folder: RealFolder, name: string) => readFileSync(join(folder.path, name), 'utf8')

const TASK = 'Put the new colour into the plan.'

async function addAgent({ client }: Deckhand, models: ModelServer, folder: RealFolder, fields: Partial<CreateAgent> = {}): Promise<string> {
  return (await setUpAgent(client, models, { folders: [folder.path], ...fields })).id
}

async function handOver({ client }: Deckhand, agentId: string, task = TASK): Promise<string> {
  return (await client.ok('submitTask', { body: { task, agentId } })).jobId
}

const statusOf = async ({ client }: Deckhand, jobId: string) => (await client.ok('getJob', { params: { jobId } })).job.status

/** The requests to the model, in order. */
function promptsOf(models: ModelServer): string[] {
  return models.received.filter(({ path }) => path.endsWith('/chat/completions')).map(({ body }) => JSON.stringify(body))
}

const filesOf = (page: Page) => page.locator('section').filter({ has: page.getByRole('heading', { name: 'Changed files' }) })

async function openApprovals(page: Page): Promise<Locator> {
  await page.goto('app://deckhand/approvals')
  const card = page.getByRole('article', { name: /^Permission/ })
  await expect(card).toBeVisible()
  return card
}

test('a pending approval is counted in the title, shows the exact call, and is approved with one key', async ({
  deckhand,
  page,
  models,
  folder,
}) => {
  models.play({ text: ['The draft is newer.'], toolCalls: [writing(folder, GREEN)] }, { text: ['The plan says green now.'] })
  const jobId = await handOver(deckhand, await addAgent(deckhand, models, folder))
  await expect(page).toHaveTitle('(1) Deckhand')
  const card = await openApprovals(page)
  await expect(card.getByRole('group', { name: /plan\.md/ })).toContainText('green')
  await card.getByRole('button', { name: 'Details' }).click()
  await expect(card).toContainText('The draft is newer.')
  await expect(card.getByRole('group', { name: 'path' })).toHaveText(join(folder.path, 'plan.md'))
  await expect(card.getByRole('group', { name: 'content' })).toHaveText(GREEN)
  expect(read(folder, 'plan.md')).toBe(BLUE)
  expect(promptsOf(models)).toHaveLength(1)

  await page.keyboard.press('a')
  await expect(card).toContainText('Approved once')
  await expect(page).toHaveTitle('Deckhand')
  await expect.poll(() => statusOf(deckhand, jobId)).toBe('completed')
  expect(read(folder, 'plan.md')).toBe(GREEN)

  await page.getByRole('link', { name: 'Open job' }).click()
  const main = page.getByRole('main')
  await expect(main).toContainText('The plan says green now.')
  await expect(main).toContainText('Approved once')
  await expect(main).toContainText('The agent asks for risky actions. This call overwrites a file that the agent did not create.')
})

test('a rejection changes nothing, and the model reads the note', async ({ deckhand, page, models, folder }) => {
  models.play({ text: ['The draft is newer.'], toolCalls: [writing(folder, GREEN)] }, { text: ['Then it stays blue.'] })
  const jobId = await handOver(deckhand, await addAgent(deckhand, models, folder))
  const card = await openApprovals(page)
  await page.keyboard.press('r')
  await expect(card.getByRole('textbox')).toBeFocused()
  // In the field, letters are text, not answers.
  await page.keyboard.type('a better colour is red')
  expect(await statusOf(deckhand, jobId)).toBe('awaiting_approval')
  await page.keyboard.press('Enter')
  await expect(card).toContainText('Rejected')
  await expect(card).toContainText('a better colour is red')
  await expect.poll(() => statusOf(deckhand, jobId)).toBe('completed')

  expect(read(folder, 'plan.md')).toBe(BLUE)
  const [first, second, ...more] = promptsOf(models)
  expect(more).toEqual([])
  expect(first).not.toContain('a better colour is red')
  expect(second).toContain('the person said no. They wrote: a better colour is red')
})

test('"Always" shows the rule before it creates it, and later calls run without asking', async ({ deckhand, page, models, folder }) => {
  const { client } = deckhand
  const asking = { text: ['The draft is newer.'], toolCalls: [writing(folder, GREEN)] }
  models.play(asking, { text: ['Green.'] }, asking, { text: ['Green again.'] })
  const agentId = await addAgent(deckhand, models, folder)
  const jobId = await handOver(deckhand, agentId)
  const rule = `Allow write_file in ${realpathSync(folder.path)}`
  const card = await openApprovals(page)
  await expect(card).toContainText('Paint it blue.')
  await card.getByRole('button', { name: 'Always…' }).click()
  await expect(card).toContainText(`${rule}, only for Ada`)
  expect((await client.ok('listRules', {})).rules).toEqual([])
  expect(await statusOf(deckhand, jobId)).toBe('awaiting_approval')

  await card.getByRole('button', { name: 'Create rule and approve' }).click()
  await expect(card).toContainText('Approved and rule created')
  await expect.poll(() => statusOf(deckhand, jobId)).toBe('completed')
  await page.getByRole('link', { name: 'Rules', exact: true }).click()
  await expect(page.getByRole('listitem').filter({ hasText: rule })).toContainText('created from an approval')

  writeFileSync(join(folder.path, 'plan.md'), BLUE)
  const next = await handOver(deckhand, agentId)
  await expect.poll(() => statusOf(deckhand, next)).toBe('completed')
  expect(read(folder, 'plan.md')).toBe(GREEN)
  expect((await client.ok('listApprovals', { query: { jobId: next } })).approvals).toEqual([])
  await page.goto(`app://deckhand/jobs/${next}`)
  await expect(page.getByRole('main')).toContainText(`Rule: Allow write_file in ${realpathSync(folder.path)}, for this agent.`)

  // The rule allows only this tool.
  const deleting = { id: 'call_1', name: 'delete_file', args: { path: join(folder.path, 'plan.md') } }
  models.play({ text: ['And away with it.'], toolCalls: [deleting] })
  await handOver(deckhand, agentId)
  await expect(page).toHaveTitle('(1) Deckhand')
})

test('an approval survives a restart of the app, and the approved call runs once', async ({ deckhand, models, folder }) => {
  models.play({ text: ['I write it down.'], toolCalls: [running(folder, 'sh', '-c', 'echo green >> orders.txt')] }, { text: ['Ordered.'] })
  const jobId = await handOver(deckhand, await addAgent(deckhand, models, folder))
  await expect(deckhand.page).toHaveTitle('(1) Deckhand')
  await deckhand.quit()

  await deckhand.start()
  const { page } = deckhand
  await expect(page).toHaveTitle('(1) Deckhand')
  const card = await openApprovals(page)
  await expect(card.getByRole('group', { name: 'command' })).toContainText('echo green >> orders.txt')
  expect(existsSync(join(folder.path, 'orders.txt'))).toBe(false)
  await page.keyboard.press('a')
  await expect(card).toContainText('Approved once')
  await expect.poll(() => statusOf(deckhand, jobId)).toBe('completed')
  expect(read(folder, 'orders.txt')).toBe('green\n')
  // The model was not called again for its earlier reply.
  expect(promptsOf(models)).toHaveLength(2)
})

test('a job shows the diff of a file, and undo restores it', async ({ deckhand, page, models, folder }) => {
  models.play({ text: ['The draft is newer.'], toolCalls: [writing(folder, GREEN)] }, { text: ['Green.'] })
  const jobId = await handOver(deckhand, await addAgent(deckhand, models, folder, { autonomy: 'on_its_own' }))
  await page.goto(`app://deckhand/jobs/${jobId}`)
  const files = filesOf(page)
  await files.getByRole('button', { name: /^Modified .*plan\.md$/ }).click()
  const lines = files.getByRole('group', { name: /^Changes to .*plan\.md$/ }).getByRole('row')
  await expect(lines.filter({ hasText: 'Removed' })).toContainText('Paint it blue.')
  await expect(lines.filter({ hasText: 'Added' })).toContainText('Paint it green.')
  expect(read(folder, 'plan.md')).toBe(GREEN)

  await files.getByRole('button', { name: /^Undo/ }).click()
  await page
    .getByRole('alertdialog', { name: /^Undo changes to .*plan\.md\?$/ })
    .getByRole('button', { name: 'Undo' })
    .click()
  await expect(files).toContainText('Undone')
  expect(read(folder, 'plan.md')).toBe(BLUE)
})

test('undo asks before it discards a later change', async ({ deckhand, page, models, folder }) => {
  models.play({ text: ['The draft is newer.'], toolCalls: [writing(folder, GREEN)] }, { text: ['Green.'] })
  const jobId = await handOver(deckhand, await addAgent(deckhand, models, folder, { autonomy: 'on_its_own' }))
  await expect.poll(() => statusOf(deckhand, jobId)).toBe('completed')
  writeFileSync(join(folder.path, 'plan.md'), 'Paint it red.\n')
  await page.goto(`app://deckhand/jobs/${jobId}`)
  await filesOf(page).getByRole('button', { name: /^Undo/ }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Undo' }).click()
  const again = page.getByRole('alertdialog', { name: 'Changed since this job' })
  await expect(again).toBeVisible()
  expect(read(folder, 'plan.md')).toBe('Paint it red.\n')
  await again.getByRole('button', { name: 'Undo anyway' }).click()
  await expect(again).toBeHidden()
  await expect.poll(() => read(folder, 'plan.md')).toBe(BLUE)
})

test('pause all stops every agent, survives a restart, and only a person ends it', async ({ deckhand, models, folder }) => {
  models.play({ text: ['The draft is newer.'], toolCalls: [copyingDraft(folder)] }, { text: ['Nothing to do.'] }, { text: ['Green.'] })
  const held = models.holdBefore(1)
  // An agent that asks for nothing by itself.
  const agentId = await addAgent(deckhand, models, folder, { autonomy: 'on_its_own' })
  const underWay = await handOver(deckhand, agentId)
  await models.untilQuiet()
  await deckhand.page.goto('app://deckhand/')
  await deckhand.page.getByRole('button', { name: 'Pause all agents' }).click()
  const banner = () => deckhand.page.getByRole('status').filter({ hasText: 'All agents are paused.' })
  await expect(banner()).toBeVisible()
  held.release()
  await expect.poll(() => statusOf(deckhand, underWay)).toBe('awaiting_approval')
  const kept = await handOver(deckhand, agentId, 'Look at the plan.')

  await deckhand.quit()
  await deckhand.start()
  const { page } = deckhand
  await expect(banner()).toBeVisible()
  const card = await openApprovals(page)
  await card.getByRole('button', { name: 'Details' }).click()
  await expect(card).toContainText('All agents are paused, so every call needs approval.')
  expect(read(folder, 'plan.md')).toBe(BLUE)
  expect(await statusOf(deckhand, kept)).toBe('pending')
  expect(promptsOf(models)).toHaveLength(1)

  await page.getByRole('button', { name: 'Resume all agents…' }).click()
  const question = page.getByRole('alertdialog', { name: 'Resume all agents?' })
  await expect(question).toContainText('1 job is waiting and starts right away.')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(question).toBeHidden()
  await expect(banner()).toBeVisible()
  await page.getByRole('button', { name: 'Resume all agents…' }).click()
  await question.getByRole('button', { name: 'Resume all agents' }).click()
  await expect(banner()).toBeHidden()
  await expect.poll(() => statusOf(deckhand, kept)).toBe('completed')

  // The approval stays pending, because nobody has answered it.
  expect(read(folder, 'plan.md')).toBe(BLUE)
  await page.keyboard.press('a')
  await expect(card).toContainText('Approved once')
  await expect.poll(() => statusOf(deckhand, underWay)).toBe('completed')
  expect(read(folder, 'plan.md')).toBe(GREEN)
})
