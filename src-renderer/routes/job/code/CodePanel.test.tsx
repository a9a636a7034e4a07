import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { CodeTask } from '../../../../src-runner/contract/code-tasks.ts'
import type { Desktop } from '../../../platform/desktop.ts'
import { type Answers, createFakeRunner, Refusal } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeCodeTask, makeJob } from '../../../testing/things.ts'
import { JobScreen } from '../JobScreen.tsx'

function open(fields: Partial<CodeTask> = {}, answers: Answers = {}) {
  const held = { task: makeCodeTask(fields) }
  const { jobId, title, jobStatus } = held.task
  const opened: string[] = []
  const runner = createFakeRunner({
    getJob: () => ({ job: makeJob({ id: jobId, title, status: jobStatus }) }),
    listSteps: () => ({ steps: [] }),
    getCodeTask: () => ({ codeTask: held.task }),
    ...answers,
  })
  const showCodeFolder = (given: { jobId: string }) => {
    opened.push(given.jobId)
    return Promise.resolve(true)
  }
  const desktop = { api: { showCodeFolder } as unknown as Desktop['api'] }
  const view = renderScreen(JobScreen, { route: '/jobs/:jobId', path: `/jobs/${jobId}`, runner, desktop })
  return {
    ...view,
    runner,
    held,
    opened,
    panel: async () => within((await screen.findByRole('heading', { name: 'Code changes' })).closest('section')!),
  }
}

it('shows branch, files, commands with exit status, and cost', async () => {
  const { user, panel, opened, held } = open({
    files: [
      ...makeCodeTask().files,
      { path: 'a\u202Eb.ts', change: 'renamed', from: 'old.ts', additions: 0, deletions: 0, binary: false, runsByItself: false },
    ],
    fileCount: 5,
  })
  const shown = await panel()
  expect(shown.getByText('deckhand/test-the-empty-cart-7f3k')).toBeVisible()
  expect(shown.getByText('from main')).toBeVisible()
  expect(shown.getByText('$0.42')).toBeVisible()
  expect(shown.getByText('5 files changed')).toBeVisible()
  expect(shown.getByText('Runs by itself')).toBeVisible()
  expect(shown.getByText('a⟨U+202E⟩b.ts')).toBeVisible()
  expect(shown.getByText(/^2 more files are not listed/)).toBeVisible()
  const commands = within(shown.getByRole('region', { name: 'Commands it ran' })).getAllByRole('listitem')
  expect(commands.map((item) => item.textContent)).toEqual(['npm testexit 1', 'npm testexit 0'])
  await user.click(shown.getByRole('button', { name: 'Open folder' }))
  expect(opened).toEqual([held.task.jobId])
})

it.each([
  ['a running task', { jobStatus: 'running', result: 'none' }, 'It works on a branch of its own.'],
  ['a waiting task', { jobStatus: 'awaiting_approval', result: 'none' }, 'It waits for you.'],
  ['a task that changed nothing', { result: 'none', files: [], fileCount: 0 }, 'It ended without changing a file.'],
  ['a stopped task with changes', { jobStatus: 'cancelled' }, 'It did not finish.'],
] as const)('says how things stand: %s', async (_name, fields, text) => {
  const { panel } = open(fields as Partial<CodeTask>)
  expect((await panel()).getByText(text, { exact: false })).toBeVisible()
})

it('says that the program told no cost', async () => {
  const { panel } = open({ priced: false, costUsd: 0 })
  expect((await panel()).getByText('Claude Code did not say')).toBeVisible()
})

it('shows nothing of it for another job', async () => {
  const { runner } = open({}, { getCodeTask: () => new Refusal('code_task_not_found') })
  await screen.findByText('Timeline')
  await waitFor(() => expect(runner.callsOf('getCodeTask')).toHaveLength(1))
  expect(screen.queryByRole('heading', { name: 'Code changes' })).not.toBeInTheDocument()
})
