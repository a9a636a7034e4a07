import { expect, test, type Deckhand } from '../fixtures/deckhand.ts'
import { createRealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

/** The process of the window is asked: Playwright gives a crashed page up. Empty while nothing is shown. */
const shownBy = (deckhand: Deckhand) =>
  deckhand.app.evaluate(async ({ BrowserWindow }) => {
    const { webContents } = BrowserWindow.getAllWindows()[0]!
    if (webContents.isCrashed() || webContents.isLoading()) return ''
    // A page that is about to crash does not answer.
    const gone = new Promise((resolve) => webContents.once('render-process-gone', () => resolve('')))
    return `${webContents.getURL()} ${await Promise.race([webContents.executeJavaScript('document.body.innerText'), gone])}`
  })

test('a crashed page comes back at the same path, and the third crash says what to do', async ({ deckhand, page, models }) => {
  const agent = await setUpAgent(deckhand.client, models)
  models.play({ text: ['Done with it.'] })
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Water the plants', agentId: agent.id } })
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
  const crash = () => deckhand.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.webContents.forcefullyCrashRenderer())
  const shown = () => shownBy(deckhand)
  const runner = await deckhand.runnerPid()
  // Once by a link in the page, and once by a full load.
  await page.goto('app://deckhand/activity')
  await page.getByRole('link', { name: 'Chat', exact: true }).click()
  await expect(page).toHaveURL('app://deckhand/chat')
  await crash()
  await expect.poll(shown).toMatch(/^app:\/\/deckhand\/chat [^]*Activity/)
  await deckhand.app.evaluate(({ BrowserWindow }, url) => BrowserWindow.getAllWindows()[0]!.loadURL(url), `app://deckhand/jobs/${jobId}`)
  await crash()
  await expect.poll(shown).toMatch(new RegExp(`^app://deckhand/jobs/${jobId} [^]*Done with it\\.`))

  await crash()
  await expect.poll(shown).toMatch(/^data:[^ ]* The page crashed three times/)
  expect(await deckhand.runnerPid()).toBe(runner)
  // The page says that the window can be opened again.
  await deckhand.app.evaluate(({ app }) => void app.emit('activate'))
  await expect.poll(shown).toMatch(/^app:\/\/deckhand\/ [^]*Activity/)
})

test('a page that hangs can be reloaded, and is not asked about when it responds again', async ({ deckhand, page }) => {
  const QUESTION = 'The page does not respond. Reload it?'
  await page.goto('app://deckhand/activity')
  await expect(page.getByRole('heading', { name: 'Activity', exact: true })).toBeVisible()
  await deckhand.setHooks({ confirm: null })
  // While a debugger is attached, as in this test, Chromium does not report a page that hangs.
  const report = (event: 'unresponsive' | 'responsive') =>
    deckhand.app.evaluate(({ BrowserWindow }, name) => void BrowserWindow.getAllWindows()[0]!.emit(name), event)
  await report('unresponsive')
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual([QUESTION])
  await report('responsive')
  await expect.poll(async () => (await deckhand.hooks()).withdrawn).toEqual([QUESTION])

  await deckhand.setHooks({ confirm: true })
  await deckhand.app.evaluate(({ BrowserWindow }) => {
    void BrowserWindow.getAllWindows()[0]!.webContents.executeJavaScript('document.body.textContent = "hangs"; while (true);')
  })
  await report('unresponsive')
  await expect.poll(() => shownBy(deckhand)).toMatch(/^app:\/\/deckhand\/activity [^]*Activity/)
  expect((await deckhand.hooks()).questions).toEqual([QUESTION, QUESTION])
})

test('a job survives a crash of the runner and repeats no recorded step', async ({ deckhand, page, models }) => {
  const folder = createRealFolder({ 'plan.md': 'Paint the fence on Saturday.\n' })
  const agent = await setUpAgent(deckhand.client, models, { folders: [folder.path] })
  models.play(
    {
      text: ['I read the plan.'],
      toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: `${folder.path}/plan.md` } }],
      usage: { input: 100, output: 10 },
    },
    ...Array(2).fill({ text: [...'You paint the fence on Saturday.'], usage: { input: 200, output: 20 } }),
  )
  // The process dies in the middle of the second reply.
  const held = models.holdBefore(1 + 'You paint the'.length)
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'What is the plan?', agentId: agent.id } })
  await page.goto(`app://deckhand/jobs/${jobId}`)
  await expect(page.getByText('You paint the', { exact: true })).toBeVisible()

  const before = await deckhand.runnerPid()
  const banner = page.getByRole('status').filter({ hasText: 'The runner stopped and is restarting' })
  const told = banner.waitFor({ state: 'visible' })
  process.kill(before, 'SIGKILL')
  held.release()
  await told
  await expect(banner).toBeHidden()
  await deckhand.untilReady()
  expect(await deckhand.runnerPid()).not.toBe(before)

  const main = page.getByRole('main')
  await expect(main.getByText('Completed', { exact: true })).toBeVisible()
  await expect(main).toContainText('You paint the fence on Saturday.')
  await expect(page.getByText('Attempt 2')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Read .*plan\.md/ })).toHaveCount(1)

  const asked = models.received.filter(({ path }) => path.endsWith('/chat/completions'))
  expect(asked).toHaveLength(3)
  // The next attempt repeats the last request, which contains the file that was read.
  expect(JSON.stringify(asked[2]!.body)).toContain('Paint the fence on Saturday.')
  expect(asked[2]!.body).toEqual(asked[1]!.body)

  const { steps } = await deckhand.client.ok('listSteps', { params: { jobId } })
  expect(steps.map(({ seq, kind, attempt }) => [seq, kind, attempt])).toEqual([
    [1, 'reply', 1],
    [2, 'tool_result', 1],
    [3, 'reply', 2],
  ])
  folder.remove()
})
