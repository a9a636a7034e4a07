import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { TEST_TRASH } from '../../src-main/testing/e2e-hooks.ts'
import { createTunnelStandIns, pathWith } from '../../src-runner/testing/tunnel-stand-ins.ts'
import { test as base, expect } from '../fixtures/deckhand.ts'
import { createRealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'
import { startTrayHost, type TrayHost } from '../fixtures/tray-host.ts'

base.skip(process.platform !== 'linux', 'the tray of this system cannot be driven from outside')

const test = base.extend<{ tray: TrayHost }>({
  // Starts before the app, which checks for a tray at its start.
  tray: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
    async ({}, use) => {
      const tray = await startTrayHost()
      await use(tray)
      await tray.close()
    },
    { auto: true },
  ],
  env: async ({ tray }, use) => use({ DBUS_SESSION_BUS_ADDRESS: tray.busAddress }),
})

test('the tray shows what runs, stops it, brings the window back, and quits', async ({ tray, deckhand, models }) => {
  await expect.poll(() => tray.icons()).toBe(1)
  await expect
    .poll(() => tray.entries())
    .toEqual(['Open Deckhand', '—', 'No jobs running', '—', 'Pause all agents', 'Open in browser', 'Quit Deckhand'])

  const agent = await setUpAgent(deckhand.client, models)
  models.holdBefore(2)
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Count the stars', agentId: agent.id } })
  await expect
    .poll(() => tray.entries())
    .toEqual([
      'Open Deckhand',
      '—',
      '1 job running',
      expect.stringMatching(/^Count the stars · Ada · under a minute · \$0\.00$/),
      '  Show',
      '  Stop',
      '—',
      'Pause all agents',
      'Open in browser',
      'Quit Deckhand',
    ])

  // Closing the window ends neither the jobs nor the tray.
  const isVisible = () => deckhand.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((window) => window.isVisible()))
  await deckhand.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.close())
  await expect.poll(isVisible).toEqual([false])
  expect((await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('running')
  await tray.press('Show')
  await expect.poll(isVisible).toEqual([true])
  await expect(deckhand.page.getByRole('heading', { name: 'Count the stars' })).toBeVisible()

  await tray.press('Stop')
  await expect.poll(() => tray.entries()).toContain('No jobs running')
  await expect(deckhand.page.getByRole('main').getByText('Cancelled', { exact: true })).toBeVisible()

  const gone = deckhand.app.waitForEvent('close')
  await tray.press('Quit Deckhand')
  await gone
})

test('the tray has pause all, and a pending approval that opens its screen', async ({ tray, deckhand, models }) => {
  const agent = await setUpAgent(deckhand.client, models)
  await tray.press('Pause all agents')
  await expect.poll(() => tray.entries()).toContain('All agents are paused')
  await deckhand.page.goto('app://deckhand/')
  const banner = deckhand.page.getByRole('status').filter({ hasText: 'All agents are paused.' })
  await expect(banner).toBeVisible()

  models.play({ toolCalls: [{ id: 'call_1', name: 'ask_person', args: { question: 'Which colour?', choices: ['Blue', 'Green'] } }] })
  await deckhand.client.ok('submitTask', { body: { task: 'Paint the fence', agentId: agent.id } })
  await expect.poll(() => tray.entries()).toContain('No jobs running, 1 queued')
  // Pausing takes effect at once; resuming asks first.
  expect((await deckhand.hooks()).questions).toEqual([])
  await deckhand.setHooks({ confirm: false })
  await tray.press('Resume all agents…')
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual(['Resume all agents?'])
  await expect(banner).toBeVisible()
  await deckhand.setHooks({ confirm: true })
  await tray.press('Resume all agents…')
  await expect(banner).toBeHidden()
  await expect.poll(() => tray.entries()).toContain('1 approval waiting…')

  await tray.press('1 approval waiting…')
  await expect(deckhand.page.getByRole('article', { name: 'Question Which colour?' })).toBeVisible()
  await deckhand.page.getByRole('button', { name: 'Green' }).click()
  await expect.poll(() => tray.entries()).not.toContain('1 approval waiting…')
  await expect.poll(() => JSON.stringify(models.received.at(-1)?.body)).toContain('Green')
})

test('approvals can be answered in the tray, and the dock counts them', async ({ tray, deckhand, models }) => {
  const folder = createRealFolder({ 'old.txt': 'mine', 'plan.md': 'Paint it blue.' })
  const agent = await setUpAgent(deckhand.client, models, { folders: [folder.path] })
  const statusOf = async (jobId: string) => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status
  const submit = async (task: string) => (await deckhand.client.ok('submitTask', { body: { task, agentId: agent.id } })).jobId
  const shown = `Ada: Delete ${basename(folder.path)}/old.txt (4 bytes)`
  const old = join(folder.path, 'old.txt')

  // A call that fits into one line.
  const path = `${basename(folder.path)}/old.txt`
  models.play({ toolCalls: [{ id: 'call_1', name: 'delete_file', args: { path } }] }, { text: ['Gone.'] })
  const tidying = await submit('Tidy up')
  await expect
    .poll(() => tray.entries())
    .toEqual([
      'Open Deckhand',
      '1 approval waiting…',
      shown,
      '  Approve once',
      '  Reject',
      '  Open…',
      '—',
      'No jobs running',
      '—',
      'Pause all agents',
      'Open in browser',
      'Quit Deckhand',
    ])
  await expect.poll(async () => (await deckhand.hooks()).count).toBe(1)
  expect(existsSync(old)).toBe(true)
  await tray.press('Approve once')
  await expect.poll(() => statusOf(tidying)).toBe('completed')
  // The desktop has moved it to the trash.
  expect([existsSync(old), readFileSync(join(deckhand.dataDir, TEST_TRASH, 'old.txt'), 'utf8')]).toEqual([false, 'mine'])
  await expect.poll(async () => (await deckhand.hooks()).count).toBe(0)

  // A longer call can only be rejected here. It is approved where all of it is visible.
  const args = { path: `${basename(folder.path)}/plan.md`, content: 'Paint it red.' }
  models.play({ toolCalls: [{ id: 'call_1', name: 'write_file', args }] }, { text: ['As you wish.'] })
  const painting = await submit('Change the colour')
  await expect.poll(async () => (await tray.entries()).slice(3, 5)).toEqual(['  Reject', '  Open…'])
  await tray.press('Reject')
  await expect.poll(() => statusOf(painting)).toBe('completed')
  expect(readFileSync(join(folder.path, 'plan.md'), 'utf8')).toBe('Paint it blue.')

  // A question with choices.
  models.play({ toolCalls: [{ id: 'call_1', name: 'ask_person', args: { question: 'Which?', choices: ['Salt & pepper', 'None'] } }] })
  await submit('Cook')
  await expect
    .poll(async () => (await tray.entries()).slice(2, 6))
    .toEqual(['Ada: Which?', '  Answer “Salt & pepper”', '  Answer “None”', '  Open…'])
  await tray.press('Answer “Salt & pepper”')
  await expect.poll(() => JSON.stringify(models.received.at(-1)?.body)).toContain('Salt & pepper')
  expect((await deckhand.hooks()).notifications.filter((title) => title === 'Your answer was not taken')).toEqual([])
  folder.remove()
})

test('the tray stops and starts the tunnel, which ends with the app', async ({ tray, deckhand }) => {
  const standIns = createTunnelStandIns(['ngrok'])
  const isThere = (pid: number) => existsSync(`/proc/${pid}`) && !/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const pids = () => standIns.starts('ngrok').map(({ pid }) => pid)
  await deckhand.quit()
  await deckhand.start({ PATH: pathWith(standIns.folder) })
  expect(await tray.entries()).not.toContain('Stop tunnel (ngrok)')
  await deckhand.client.ok('startTunnel', { body: { program: 'ngrok' } })
  await expect.poll(() => tray.entries()).toContain('Checking the public address…')
  await tray.press('Stop tunnel (ngrok)')
  await expect.poll(() => tray.entries()).toContain('Start tunnel (ngrok)')
  await expect.poll(() => pids().filter(isThere)).toEqual([])
  await tray.press('Start tunnel (ngrok)')
  await expect.poll(async () => (await deckhand.client.ok('getPublicAddress')).publicAddress.tunnel?.state).toBe('running')
  expect(pids().filter(isThere)).toHaveLength(1)
  await deckhand.kill()
  await expect.poll(() => pids().filter(isThere)).toEqual([])
  standIns.close()
})

test('quitting asks while a job runs, and the job continues after the next start', async ({ tray, deckhand, models }) => {
  const agent = await setUpAgent(deckhand.client, models)
  const held = models.holdBefore(2)
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Count the stars', agentId: agent.id } })
  await expect.poll(() => tray.entries()).toContain('1 job running')

  await deckhand.setHooks({ confirm: false })
  await tray.press('Quit Deckhand')
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual(['A job is running. Quit Deckhand?'])
  expect((await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('running')

  await deckhand.setHooks({ confirm: true })
  const gone = deckhand.app.waitForEvent('close')
  await tray.press('Quit Deckhand')
  await gone
  held.release()
  await deckhand.start()
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
})

test('menus, dialogs and notifications use the language of the page', async ({ tray, deckhand, page, models }) => {
  await expect.poll(() => tray.entries()).toContain('Open Deckhand')
  await page.evaluate(() => localStorage.setItem('deckhand.language', 'de'))
  await page.reload()
  await expect
    .poll(() => tray.entries())
    .toEqual(['Deckhand öffnen', '—', 'Keine Aufträge laufen', '—', 'Alle Agenten pausieren', 'Im Browser öffnen', 'Deckhand beenden'])
  const menu = await deckhand.app.evaluate(({ Menu }) => Menu.getApplicationMenu()!.items.map(({ label }) => label))
  expect(menu).toEqual(['Datei', 'Bearbeiten', 'Gehe zu', 'Darstellung', 'Fenster', 'Hilfe'])

  const agent = await setUpAgent(deckhand.client, models, { autonomy: 'ask_first' })
  models.play({ toolCalls: [{ id: 'call_1', name: 'remember', args: { text: 'Der Zaun ist grün.' } }] })
  await deckhand.client.ok('submitTask', { body: { task: 'Merk dir die Farbe', agentId: agent.id } })
  await expect.poll(async () => (await deckhand.hooks()).notifications).toContain('Ada braucht deine Freigabe')
  await expect.poll(() => tray.entries()).toContain('Ada: Merken: Der Zaun ist grün.')
  expect(await tray.entries()).toEqual(expect.arrayContaining(['1 offene Freigabe …', '  Einmal freigeben', '  Ablehnen']))

  // Known before the page is loaded.
  await deckhand.quit()
  await deckhand.start()
  await expect.poll(() => tray.entries()).toContain('Deckhand öffnen')
})
