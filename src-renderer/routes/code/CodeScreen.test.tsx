import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { CodeTask } from '../../../src-runner/contract/code-tasks.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeCodeTask } from '../../testing/things.ts'
import { CodeScreen } from './CodeScreen.tsx'

function open({ tasks = [] }: { tasks?: CodeTask[] } = {}) {
  const codeTasks = tasks.map(({ files: _files, commands: _commands, ...summary }) => summary)
  const runner = createFakeRunner({ listCodeTasks: () => ({ codeTasks, nextCursor: null }) })
  return renderScreen(CodeScreen, { route: '/code', path: '/code', runner, more: { '/jobs/:jobId': () => <p>the job</p> } })
}

it('says what code tasks are', async () => {
  open()
  expect(await screen.findByText('Hand a repository to a coding agent')).toBeVisible()
})

it('lists tasks with repository, program, branch, changes, cost and what became of them', async () => {
  const ready = makeCodeTask({ branch: 'deckhand/evil\u202Ename' })
  const nothing = makeCodeTask({ title: 'Look only', result: 'none', additions: 0, deletions: 0 })
  const failed = makeCodeTask({ title: 'Broke', jobStatus: 'failed', result: 'none', priced: false, costUsd: 0 })
  const running = makeCodeTask({ title: 'Works', jobStatus: 'running', result: 'none', cli: 'gemini' })
  const { user, path } = open({ tasks: [ready, nothing, failed, running] })
  const list = await screen.findByRole('listbox', { name: 'Code tasks, newest first' })
  const rows = within(list).getAllByRole('option')
  for (const part of ['Ready to review', 'shop', 'Claude Code', 'deckhand/evil⟨U+202E⟩name', '4 lines added', '1 line removed', '$0.42']) {
    expect(rows[0]).toHaveTextContent(part)
  }
  expect(rows[1]).toHaveTextContent('No changes')
  expect(rows[2]).toHaveTextContent('unpriced')
  expect(rows[2]).not.toHaveTextContent('No changes')
  expect(rows[3]).toHaveTextContent('Gemini CLI')
  expect(rows[3]).toHaveTextContent('Running')
  await user.click(rows[0]!)
  await waitFor(() => expect(path()).toBe(`/jobs/${ready.jobId}`))
})
