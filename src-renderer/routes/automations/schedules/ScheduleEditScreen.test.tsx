import { quote } from '../../../testing/things.ts'
import { A } from '@solidjs/router'
import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library'
import { describe, expect, it } from 'vitest'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { createFakeRunner, Refusal } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeAgent, makeSchedule } from '../../../testing/things.ts'
import { ScheduleEditScreen } from './ScheduleEditScreen.tsx'
import { ownTimezone } from '../../../lib/time.ts'

const ada = makeAgent({ name: 'Ada', isDefault: true })
const NEXT = [Date.parse('2027-05-12T07:00:00Z'), Date.parse('2027-05-13T07:00:00Z')]

function open(path: string, schedules: Schedule[] = []) {
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [ada], nextCursor: null }),
    listChannels: () => ({ channels: [], nextCursor: null }),
    getSchedule: ({ params }) => {
      const schedule = schedules.find((one) => one.id === params.scheduleId)
      return schedule === undefined ? new Refusal('schedule_not_found') : { schedule }
    },
    previewCron: ({ query }) =>
      query.cron === '99 * * * *'
        ? { valid: false, problem: quote('A minute is between 0 and 59.'), next: [], isWatcher: false }
        : { valid: true, problem: null, next: NEXT, isWatcher: false },
    createSchedule: ({ body }) => ({ schedule: makeSchedule({ ...body, agentName: 'Ada' }) }),
    updateSchedule: ({ params }) => ({ schedule: schedules.find((one) => one.id === params.scheduleId)! }),
  })
  const Page = () => (
    <>
      <A href="/elsewhere">Elsewhere</A>
      <ScheduleEditScreen />
    </>
  )
  const route = path.includes('/new') ? '/automations/schedules/new' : '/automations/schedules/:scheduleId/edit'
  return renderScreen(Page, { route, path, runner })
}

const field = (name: RegExp | string) => screen.getByRole('textbox', { name })
const nameField = () => screen.findByRole('textbox', { name: 'Name' })

async function choose(user: ReturnType<typeof open>['user'], label: RegExp, option: string) {
  await user.click(screen.getByRole('button', { name: label }))
  await user.click(await screen.findByRole('option', { name: option }))
}

describe('a new schedule', () => {
  it('has the cursor in its name', async () => {
    open('/automations/schedules/new')
    await waitFor(async () => expect(await nameField()).toHaveFocus())
  })

  it('is created with the chosen values', async () => {
    const view = open('/automations/schedules/new')
    await view.user.type(await nameField(), 'Monday letter')
    await view.user.type(field(/^Task/), 'Write the letter.')
    await choose(view.user, /^Repeats/, 'Every week')
    await choose(view.user, /^On/, 'Tuesday')
    fireEvent.input(screen.getByLabelText('At'), { target: { value: '07:45' } })
    expect(field('Cron')).toHaveValue('45 7 * * 2')
    await view.user.clear(field(/^Daily spending limit/))
    await view.user.type(field(/^Daily spending limit/), '0,75')
    await choose(view.user, /^Missed runs/, 'Run late within 3 days')
    await view.user.click(screen.getByRole('button', { name: 'Create schedule' }))
    await waitFor(() => expect(view.path()).toMatch(/^\/automations\/schedules\/0/))
    expect(view.runner.callsOf('createSchedule')[0]!.body).toEqual({
      name: 'Monday letter',
      agentId: ada.id,
      task: 'Write the letter.',
      cron: '45 7 * * 2',
      timezone: ownTimezone(),
      dailyBudgetUsd: 0.75,
      catchUpHours: 72,
      notifyOnSuccess: false,
      notifyVia: 'auto',
    })
  })

  it('keeps the rhythm and the cron expression in step', async () => {
    const view = open('/automations/schedules/new')
    await nameField()
    const often = () => screen.getByRole('button', { name: /^Repeats/ })
    expect(often()).toHaveTextContent('Every day')
    await view.user.clear(field('Cron'))
    await view.user.type(field('Cron'), '*/15 * * * *')
    expect(often()).toHaveTextContent('Every few minutes')
    await view.user.clear(field('Cron'))
    await view.user.type(field('Cron'), '0 9 * 6 *')
    expect(often()).toHaveTextContent('Custom (cron)')
    await choose(view.user, /^Repeats/, 'Every hour')
    expect(field('Cron')).toHaveValue('0 * * * *')
  })

  it('shows the next runs in its time zone while typing, or the problem', async () => {
    const view = open('/automations/schedules/new')
    await nameField()
    const preview = screen.getByRole('region', { name: 'Next runs' })
    expect(await within(preview).findByText(/Wed, May 12/)).toBeInTheDocument()
    await view.user.clear(field('Cron'))
    await view.user.type(field('Cron'), '99 * * * *')
    expect(await screen.findByText('A minute is between 0 and 59.')).toBeInTheDocument()
    expect(field('Cron')).toBeInvalid()
    expect(within(preview).queryByText(/May 12/)).not.toBeInTheDocument()
    const asked = view.runner.callsOf('previewCron')
    expect(asked.at(-1)!.query).toMatchObject({ cron: '99 * * * *', timezone: ownTimezone() })
    expect(asked.length).toBeLessThan(8)
  })

  it('finds a time zone by a part of its name', async () => {
    const view = open('/automations/schedules/new')
    await view.user.type(await nameField(), 'x')
    const zone = screen.getByRole('combobox', { name: 'Time zone' })
    await view.user.click(zone)
    expect((await screen.findAllByRole('option')).length).toBeLessThanOrEqual(30)
    expect(screen.getByText('Type to find more.')).toBeInTheDocument()
    await view.user.clear(zone)
    await view.user.type(zone, 'tokyo')
    await view.user.click(await screen.findByRole('option', { name: /Tokyo/ }))
    const preview = screen.getByRole('region', { name: 'Next runs' })
    expect(await within(preview).findByText(/May 12, 4:00.PM/)).toBeInTheDocument()
    expect(within(preview).getAllByText(/your time/)).toHaveLength(2)
  })

  it('is not sent with a budget out of bounds', async () => {
    const view = open('/automations/schedules/new?example=1')
    expect(await nameField()).toHaveValue('Morning summary')
    await view.user.clear(field(/^Daily spending limit/))
    await view.user.type(field(/^Daily spending limit/), '0.4')
    await view.user.click(screen.getByRole('button', { name: 'Create schedule' }))
    expect(await screen.findByText('Enter a number between 0.5 and 100.')).toBeInTheDocument()
    expect(view.runner.callsOf('createSchedule')).toHaveLength(0)
  })

  it('shows the runner’s issue at its field', async () => {
    const view = open('/automations/schedules/new?example=1')
    await nameField()
    view.runner.answer({
      createSchedule: () => new Refusal('invalid_request', 'No.', [{ path: 'timezone', message: 'There is no such time zone.' }]),
    })
    await view.user.click(screen.getByRole('button', { name: 'Create schedule' }))
    expect(await screen.findByText('There is no such time zone.')).toBeInTheDocument()
    expect(screen.getByText('1 field is invalid.')).toBeInTheDocument()
  })

  it('asks before unsaved changes are discarded', async () => {
    const view = open('/automations/schedules/new')
    await view.user.type(await nameField(), 'x')
    await view.user.click(screen.getByRole('link', { name: 'Elsewhere' }))
    expect(await screen.findByRole('alertdialog', { name: 'Discard changes?' })).toBeInTheDocument()
  })

  it('can start as a copy', async () => {
    const original = makeSchedule({ name: 'Summary', cron: '*/5 * * * *', agentId: ada.id, timezone: 'Asia/Tokyo', dailyBudgetUsd: 2.5 })
    open(`/automations/schedules/new?from=${original.id}`, [original])
    expect(await nameField()).toHaveValue('Summary (copy)')
    expect(field('Cron')).toHaveValue('*/5 * * * *')
    expect(field(/^Daily spending limit/)).toHaveValue('2.5')
    expect(screen.getByRole('combobox', { name: 'Time zone' })).toHaveValue('Asia/Tokyo')
  })
})

describe('an existing schedule', () => {
  it('sends only changed fields', async () => {
    const schedule = makeSchedule({ name: 'Summary', agentId: ada.id })
    const view = open(`/automations/schedules/${schedule.id}/edit`, [schedule])
    expect(await screen.findByRole('button', { name: 'Save changes' })).toBeDisabled()
    await view.user.clear(field(/^Daily spending limit/))
    await view.user.type(field(/^Daily spending limit/), '8')
    await view.user.click(screen.getByRole('button', { name: 'Save changes' }))
    await waitFor(() => expect(view.path()).toBe(`/automations/schedules/${schedule.id}`))
    expect(view.runner.callsOf('updateSchedule')[0]).toMatchObject({ params: { scheduleId: schedule.id }, body: { dailyBudgetUsd: 8 } })
    expect(Object.keys(view.runner.callsOf('updateSchedule')[0]!.body)).toEqual(['dailyBudgetUsd'])
  })

  it('takes over changes from elsewhere, unless there are unsaved changes', async () => {
    const schedules = [makeSchedule({ name: 'Summary', agentId: ada.id })]
    const id = schedules[0]!.id
    const view = open(`/automations/schedules/${id}/edit`, schedules)
    await nameField()
    schedules[0] = { ...schedules[0]!, name: 'Digest' }
    view.runner.happen({ type: 'schedule.changed', payload: { scheduleId: id } })
    await waitFor(async () => expect(await nameField()).toHaveValue('Digest'))
    await view.user.type(await nameField(), '!')
    schedules[0] = { ...schedules[0], name: 'Overview' }
    view.runner.happen({ type: 'schedule.changed', payload: { scheduleId: id } })
    expect(await screen.findByText(/This was changed elsewhere/)).toBeInTheDocument()
    expect(await nameField()).toHaveValue('Digest!')
  })

  it('says that a schedule does not exist', async () => {
    open(`/automations/schedules/${makeSchedule().id}/edit`)
    expect(await screen.findByText('Schedule not found')).toBeInTheDocument()
  })
})
