import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startUpdateServer, type UpdateServer } from '../../src-main/testing/update-server.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

/** The new version, as far as this test needs one: it says that it was started. */
const NEW_VERSION = Buffer.from(`#!/bin/sh\necho started > "$0.ran"\n# ${'x'.repeat(100_000)}\n`)

type Fixtures = { updates: UpdateServer; appImage: string }

const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  updates: async ({}, use) => {
    const server = await startUpdateServer()
    await use(server)
    await server.close()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above.
  appImage: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-app-'))
    const file = join(folder, 'Deckhand.AppImage')
    writeFileSync(file, 'the present version')
    chmodSync(file, 0o755)
    await use(file)
    rmSync(folder, { recursive: true, force: true })
  },
  env: async ({ updates, appImage }, use) =>
    use({ APPIMAGE: appImage, DECKHAND_TEST_UPDATES: JSON.stringify({ url: updates.url, key: updates.key }) }),
})

test.skip(process.platform !== 'linux', 'replaces an AppImage')
// A slow start would check by itself before the test does.
test.use({ machineSettings: { updateMode: 'off' } })

test('an update is found, downloaded, and installed after a backup, while nothing else is lost', async ({
  deckhand,
  page,
  updates,
  appImage,
  models,
}) => {
  updates.publish('99.0.0', NEW_VERSION, { notes: 'Lists load faster.\n<img src=x onerror="document.title=1">Fewer faults.' })
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  await page.goto('app://deckhand/settings/about')
  const main = page.getByRole('main')
  await main.getByRole('button', { name: 'Check now' }).click()
  await main.getByRole('button', { name: 'Download' }).click()
  await expect(main).toContainText('Deckhand 99.0.0 is ready to install')
  await expect(main).toContainText('Lists load faster.')
  await expect(main.locator('img')).toHaveCount(0)
  const banner = page.getByRole('status').first()
  await expect(banner).toContainText('Deckhand 99.0.0 is ready to install.')
  expect(readFileSync(appImage, 'utf8')).toBe('the present version')

  // Never in the middle of a job.
  const agent = await setUpAgent(deckhand.client, models)
  const held = models.holdBefore(2)
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Count the stars', agentId: agent.id } })
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('running')
  await banner.getByRole('button', { name: 'Install and restart' }).click()
  await expect(banner).toContainText('Deckhand 99.0.0 installs when no job is running.')
  expect(readFileSync(appImage, 'utf8')).toBe('the present version')

  // The disk for copies of backups is away, which must not keep the update from being installed.
  const disk = mkdtempSync(join(tmpdir(), 'deckhand-disk-'))
  await deckhand.client.ok('updateSettings', { body: { backupFolder: disk } })
  rmSync(disk, { recursive: true })
  const gone = new Promise((resolve) => deckhand.app.process().once('exit', resolve))
  held.release()
  await gone
  expect(readFileSync(appImage)).toEqual(NEW_VERSION)
  await expect.poll(() => existsSync(`${appImage}.ran`)).toBe(true)
  // A second one is made if the job was heard of only during the first.
  expect(readdirSync(join(deckhand.dataDir, 'backups')).filter((name) => name.endsWith('.db'))).not.toHaveLength(0)
})

test('a version that nobody signed is discarded, and the person reads why', async ({ deckhand, page, updates, appImage }) => {
  updates.publish('99.0.0', NEW_VERSION, { signedBy: 'stranger' })
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  await page.goto('app://deckhand/settings/about')
  const main = page.getByRole('main')
  await main.getByRole('button', { name: 'Check now' }).click()
  await expect(main).toContainText('The update has no valid signature, so it was discarded.')
  expect(updates.requests().filter((path) => path.endsWith('.AppImage'))).toEqual([])
  expect(readFileSync(appImage, 'utf8')).toBe('the present version')
})
