import { quote } from '../../../testing/things.ts'
import { screen, within } from '@solidjs/testing-library'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changeLanguage } from '../../../lib/language.ts'
import { createFakeRunner } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeOccurrence, makeSchedule } from '../../../testing/things.ts'
import { ScheduleScreen } from './ScheduleScreen.tsx'

beforeEach(() => changeLanguage('de'))
afterEach(() => changeLanguage('system'))

it('shows the reason of each run in German', async () => {
  const schedule = makeSchedule({ name: 'Digest' })
  const skipped = { scheduleId: schedule.id, jobId: null, jobStatus: null, state: 'skipped_budget' as const }
  const runner = createFakeRunner({
    getSchedule: () => ({ schedule }),
    listOccurrences: () => ({
      occurrences: [
        makeOccurrence({
          ...skipped,
          dueAt: 3_600_000,
          reason: { code: 'due_over_budget', params: { spentUsd: 5.25, budgetUsd: 5 } },
        }),
        makeOccurrence({ ...skipped, dueAt: 0, reason: quote('The money was gone.') }),
      ],
      nextCursor: null,
    }),
  })
  renderScreen(ScheduleScreen, { route: '/automations/schedules/:scheduleId', path: `/automations/schedules/${schedule.id}`, runner })
  const rows = within(await screen.findByRole('list', { name: 'Laufverlauf' })).getAllByRole('listitem')
  expect(rows[0]).toHaveTextContent(
    /Die Aufträge des Agenten haben heute 5,25\s\$ gekostet, und das Tageslimit dieses Zeitplans ist 5,00\s\$/,
  )
  expect(rows[1]).toHaveTextContent('The money was gone.')
})
