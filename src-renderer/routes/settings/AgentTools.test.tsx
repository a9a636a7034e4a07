import { screen } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { AgentTools } from './AgentTools.tsx'

it('gives agents the user toolchain until the person switches it off', async () => {
  const runner = createFakeRunner({
    updateSettings: ({ body }) => ({ settings: { ...DEFAULT_SETTINGS, firstStart: 'done', ...body } }),
  })
  const { user } = renderScreen(AgentTools, { runner })
  const own = await screen.findByRole('switch', { name: 'User toolchain' })
  expect(own).toBeChecked()
  expect(own).toHaveAccessibleDescription(/without your logins/)
  await user.click(own)
  expect(runner.callsOf('updateSettings').at(-1)!.body).toEqual({ ownPrograms: false })
})

it('asks before Escape drops addresses that were typed', async () => {
  const { user } = renderScreen(AgentTools, { runner: createFakeRunner() })
  await screen.findByRole('switch', { name: 'User toolchain' })
  await user.click(document.querySelector<HTMLElement>('#hosts button')!)
  const field = await screen.findByRole('textbox')
  await user.type(field, 'nas.local')
  await user.keyboard('{Escape}')
  expect(await screen.findByText('Discard changes?')).toBeVisible()
  expect(field).toHaveValue('nas.local')
})
