import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import { expect, test } from '../fixtures/deckhand.ts'
import { asPhone, expectAccessible, expectNoSidewaysScroll, takePicture } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

test('a damaged database is shown with ways out, diagnosed and restored, and kept', async ({ deckhand, models }) => {
  await setUpAgent(deckhand.client, models)
  await deckhand.client.ok('makeBackup')
  await deckhand.quit()
  const file = join(deckhand.dataDir, 'deckhand.db')
  const damaged = readFileSync(file).fill(0xff, 4096, 40_960)
  writeFileSync(file, damaged)

  await deckhand.start({}, 'window')
  const { page } = deckhand
  await expect(page.getByRole('heading', { name: 'The database is damaged' })).toBeVisible()
  await expect(page.getByRole('navigation')).toHaveCount(0)
  await expectAccessible(deckhand, 'damaged', 'light')
  await takePicture(deckhand, 'damaged')
  await asPhone(deckhand, async () => {
    await takePicture(deckhand, 'damaged-phone')
    await expectNoSidewaysScroll(deckhand, 'damaged-phone')
  })

  const zip = join(deckhand.dataDir, 'report.zip')
  await deckhand.setHooks({ newFile: zip })
  await page.getByRole('button', { name: 'Save…' }).click()
  await expect(page.getByText(`Saved to ${zip}`)).toBeVisible()
  const about = JSON.parse(strFromU8(unzipSync(readFileSync(zip))['about.json']!)) as object
  expect(about).toMatchObject({ state: { runner: 'failed (database_damaged)' } })

  await page.getByRole('button', { name: 'Restore…' }).click()
  await expect(page.getByRole('heading', { name: 'The database is damaged' })).toBeHidden()
  await deckhand.untilReady()
  expect((await deckhand.client.ok('listAgents')).agents.map(({ name }) => name)).toEqual(['Ada'])
  const kept = readdirSync(deckhand.dataDir).find((name) => /\.replaced-\d+T\d+Z$/.test(name))!
  expect(readFileSync(join(deckhand.dataDir, kept))).toEqual(damaged)

  await page.goto('app://deckhand/settings/health#log')
  await expect(page.getByRole('list', { name: 'Log' })).toContainText('Error')
  await takePicture(deckhand, 'log')
  await asPhone(deckhand, async () => {
    await takePicture(deckhand, 'log-phone')
    await expectNoSidewaysScroll(deckhand, 'log-phone')
  })
})
