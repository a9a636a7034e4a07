import type { Page } from '@playwright/test'
import { type Deckhand, expect, test } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { createRealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const text = (wanted: string | RegExp) => (page: Page) => page.getByRole('main').getByText(wanted).first()

/** English words that no German sentence contains. */
const ENGLISH = /\b(?:the|are|were|cannot|could not|this is|has been|have been)\b/i

async function speakGerman({ client, page }: Deckhand): Promise<void> {
  await client.ok('updateSettings', { body: { firstStart: 'done' } })
  await page.evaluate(() => localStorage.setItem('deckhand.language', 'de'))
  await page.reload()
}

test.describe('with automations', () => {
  test.use({ scenario: 'automations' })

  test('a German page shows the messages of the runner in German', async ({ deckhand }) => {
    const { client, page } = deckhand
    await speakGerman(deckhand)
    const { schedules } = await client.ok('listSchedules', {})
    const { triggers } = await client.ok('listTriggers', {})
    // Nothing listens there, so webhooks cannot come in.
    await client.ok('updatePublicAddress', { body: { url: 'http://127.0.0.1:9' } })
    await client.ok('checkPublicAddress')
    const orders = triggers.find(({ name }) => name === 'New orders')!

    await lookAt(
      deckhand,
      [
        { name: 'home', path: '/', shows: text('Webhooks erreichen diesen Rechner nicht') },
        { name: 'settings', path: '/settings', shows: text('Benachrichtigungen') },
        {
          name: 'settings-doctor',
          path: '/settings/health',
          shows: text('Prüft, ob die Teile von Deckhand funktionieren'),
        },
        {
          name: 'settings-outside',
          path: '/settings/webhooks',
          shows: text('hat die Verbindung abgelehnt'),
        },
        { name: 'automations-schedules', path: '/automations/schedules', shows: text(schedules[0]!.name) },
        { name: 'automations-webhooks', path: '/automations/webhooks', shows: text(orders.name) },
        { name: 'automations-webhook', path: `/automations/webhooks/${orders.id}`, shows: text('hat die Verbindung abgelehnt') },
        { name: 'channels', path: '/channels', shows: text('Von überall mit Agenten schreiben') },
        { name: 'connections', path: '/connections', shows: text('Lass Agenten mit deinen Diensten arbeiten') },
        {
          name: 'connections-add',
          path: '/connections?add=mcp',
          shows: (on) => on.getByLabel('Adresse, Befehl oder JSON'),
        },
        { name: 'skills', path: '/skills', shows: text('Bring deinen Agenten eine Art von Arbeit bei') },
        { name: 'skills-install', path: '/skills?install=1', shows: (on) => on.getByLabel('Quelle') },
        { name: 'rules', path: '/rules', shows: text('Regeln testen') },
        { name: 'activity', path: '/activity', shows: (on) => on.getByRole('main').getByText('Cleo').first() },
        ...schedules.map(({ id }, at) => ({
          name: `automations-schedule-${at + 1}`,
          path: `/automations/schedules/${id}`,
          shows: text('Jeder geplante Lauf und sein Ergebnis'),
        })),
      ],
      'german',
    )

    for (const { id } of schedules) {
      const { occurrences } = await client.ok('listOccurrences', { params: { scheduleId: id } })
      // One has not come due yet.
      if (occurrences.length === 0) continue
      await page.goto(`app://deckhand/automations/schedules/${id}`)
      const runHistory = page.getByRole('list', { name: 'Laufverlauf' })
      await expect(runHistory).toBeVisible()
      await expect(runHistory).not.toContainText(ENGLISH)
    }
    await page.goto('app://deckhand/settings/health')
    const doctor = page.locator('#checks')
    await expect(doctor).toContainText('127.0.0.1:9')
    await expect(doctor).not.toContainText(ENGLISH)
    await page.goto('app://deckhand/settings/webhooks')
    await expect(page.getByLabel('Öffentliche Adresse')).toBeVisible()
    await expect(page.getByRole('main')).not.toContainText(ENGLISH)
  })
})

test('a German page shows approvals, reasons and errors in German', async ({ deckhand, models }) => {
  const { client, page } = deckhand
  await speakGerman(deckhand)
  const folder = createRealFolder({ 'plan.md': '# Plan\n\nZaun blau streichen.\n' })
  const agent = await setUpAgent(client, models, { name: 'Dora', folders: [folder.path], autonomy: 'ask_first' })
  await client.ok('createRule', { body: { effect: 'ask', tool: 'write_file' } })
  models.play({
    text: ['Grün ist besser.'],
    toolCalls: [
      { id: 'call_1', name: 'write_file', args: { path: `${folder.path}/plan.md`, content: '# Plan\n\nZaun grün streichen.\n' } },
    ],
  })
  const { jobId } = await client.ok('submitTask', { body: { task: 'Bring den Plan auf den neuen Stand.', agentId: agent.id } })
  await expect.poll(async () => (await client.ok('getJob', { params: { jobId } })).job.status).toBe('awaiting_approval')
  const { approvals } = await client.ok('listApprovals', {})
  await lookAt(
    deckhand,
    [
      {
        name: 'approvals',
        path: `/approvals?id=${approvals[0]!.id}`,
        shows: (on) =>
          on
            .getByRole('article')
            .getByText(/Überschreiben: .*plan\.md/)
            .first(),
      },
      { name: 'job-waiting', path: `/jobs/${jobId}`, shows: text(/Überschreiben: .*plan\.md/) },
    ],
    'german',
  )
  await page.goto(`app://deckhand/approvals?id=${approvals[0]!.id}`)
  await page.getByRole('article').getByRole('button', { name: 'Details' }).click()
  await expect(page.getByRole('article')).toContainText('Vor write_file fragen')
  await expect(page.getByRole('article')).not.toContainText(ENGLISH)

  // The job continues, and its model server is gone.
  await models.close()
  await page.getByRole('button', { name: 'Einmal freigeben' }).click()
  await expect.poll(async () => (await client.ok('getJob', { params: { jobId } })).job.status).toBe('failed')
  await page.goto(`app://deckhand/jobs/${jobId}`)
  const alert = page.getByRole('alert').first()
  await expect(alert).toContainText('nicht erreichbar')
  await expect(alert).not.toContainText(ENGLISH)
  await lookAt(
    deckhand,
    [{ name: 'job-failed', path: `/jobs/${jobId}`, shows: text(/Das Modell war auch nach mehreren Versuchen nicht erreichbar/) }],
    'german',
  )
})
