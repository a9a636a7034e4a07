import { screen } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { CodingCli, CodingProgram } from '../../../src-runner/contract/coding-programs.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { t } from '../../lib/language.ts'
import { renderScreen } from '../../testing/render.tsx'
import { CodingPrograms } from './CodingPrograms.tsx'

const FOUND: Record<CodingCli, Omit<CodingProgram, 'cli'>> = {
  claude: { installed: true, path: '/usr/bin/claude', version: '2.1.197', signedIn: 'yes', fix: null },
  codex: { installed: true, path: '/usr/bin/codex', version: '0.169.0', signedIn: 'no', fix: 'codex login' },
  gemini: { installed: true, path: '/usr/bin/gemini', version: null, signedIn: 'unknown', fix: 'npm install -g @google/gemini-cli' },
  opencode: { installed: false, path: null, version: null, signedIn: 'unknown', fix: 'npm install -g opencode-ai' },
}

it('says for each program whether it can be used, and what to type', async () => {
  const runner = createFakeRunner({ checkCodingProgram: ({ body: { cli } }) => ({ cli, ...FOUND[cli] }) })
  const { user } = renderScreen(CodingPrograms, { runner })
  for (const state of ['Signed in', 'Not signed in', 'Does not start', 'Not installed'])
    expect(await screen.findByText(state)).toBeVisible()
  expect(screen.getByText('2.1.197 · /usr/bin/claude')).toBeVisible()
  expect(screen.getByText('codex login')).toBeVisible()
  FOUND.codex = { ...FOUND.codex, signedIn: 'yes', fix: null }
  await user.click(screen.getByRole('button', { name: /again/i }))
  await expect.poll(() => screen.queryByText('Not signed in')).toBeNull()
})

it('says why a program could not be checked', async () => {
  const runner = createFakeRunner({ checkCodingProgram: () => new Refusal('internal') })
  renderScreen(CodingPrograms, { runner })
  expect(await screen.findAllByText(t('messages.error_internal'))).toHaveLength(4)
})
