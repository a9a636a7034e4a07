import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { Person } from '../../../../src-main/contract/auth-api.ts'
import type { CodeTask } from '../../../../src-runner/contract/code-tasks.ts'
import type { Desktop } from '../../../platform/desktop.ts'
import { type Answers, createFakeRunner, Refusal } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeCodeTask, makeId, makeJob, quote } from '../../../testing/things.ts'
import { JobScreen } from '../JobScreen.tsx'

const DIFF = '--- a/src/cart.ts\n+++ b/src/cart.ts\n@@ -1,2 +1,2 @@\n-const total = 1\n+const total = 0\n export { total }\n'

function open(fields: Partial<CodeTask> = {}, answers: Answers = {}, person?: Person) {
  const held = { task: makeCodeTask(fields) }
  const { jobId, title, jobStatus } = held.task
  const opened: string[] = []
  const runner = createFakeRunner({
    getJob: () => ({ job: makeJob({ id: jobId, title, status: jobStatus, isCodeTask: true }) }),
    listSteps: () => ({ steps: [] }),
    getCodeTask: () => ({ codeTask: held.task }),
    ...answers,
  })
  const showCodeFolder = (given: { jobId: string }) => {
    opened.push(given.jobId)
    return Promise.resolve(true)
  }
  const desktop = { api: { showCodeFolder } as unknown as Desktop['api'] }
  const view = renderScreen(JobScreen, { route: '/jobs/:jobId', path: `/jobs/${jobId}`, runner, desktop, person })
  const change = (next: Partial<CodeTask>) => {
    held.task = { ...held.task, ...next }
    runner.happen({ type: 'code_task.changed', payload: { jobId } })
  }
  return {
    ...view,
    runner,
    held,
    opened,
    change,
    panel: async () => within((await screen.findByRole('heading', { name: 'Code changes' })).closest('section')!),
  }
}

it('shows branch, files with their diff, commands with exit status, and cost', async () => {
  const { user, runner, panel, opened, held } = open(
    {
      files: [
        ...makeCodeTask().files,
        { path: 'a\u202Eb.ts', change: 'renamed', from: 'old.ts', additions: 0, deletions: 0, binary: false, runsByItself: false },
      ],
      fileCount: 5,
    },
    { getCodeTaskDiff: ({ query }) => ({ path: query.path, diff: DIFF, truncated: false, binary: false }) },
  )
  const shown = await panel()
  expect(shown.getByText('deckhand/test-the-empty-cart-7f3k')).toBeVisible()
  expect(shown.getByText('from main')).toBeVisible()
  expect(screen.getByRole('link', { name: 'Code' })).toHaveAttribute('href', '/code')
  expect(shown.getByText('$0.42')).toBeVisible()
  expect(shown.getByText('5 files changed')).toBeVisible()
  expect(shown.getByText('Runs automatically')).toBeVisible()
  expect(shown.getByText('a⟨U+202E⟩b.ts')).toBeVisible()
  expect(shown.getByText(/^2 more files are not listed/)).toBeVisible()
  const commands = within(shown.getByRole('region', { name: 'Commands it ran' })).getAllByRole('listitem')
  expect(commands.map((item) => item.textContent)).toEqual(['npm testexit 1', 'npm testexit 0'])
  await user.click(shown.getByRole('button', { name: /src\/cart\.ts/ }))
  expect(await shown.findByText('const total = 0')).toBeVisible()
  expect(runner.callsOf('getCodeTaskDiff').map(({ query }) => query.path)).toEqual(['src/cart.ts'])
  await user.click(shown.getByRole('button', { name: 'Open folder' }))
  expect(opened).toEqual([held.task.jobId])
})

it('applies after it has said what changes, and says why if it does not fit', async () => {
  let fits = false
  const why = quote('One file does not fit.')
  const misfits = [{ path: 'src/cart.ts', message: '', detail: quote('changed in your checkout') }]
  const { user, panel, change } = open(
    {},
    { applyCodeTask: () => (fits ? { ok: true, files: 2 } : new Refusal('code_does_not_apply', undefined, misfits, why)) },
  )
  const shown = await panel()
  await user.click(shown.getByRole('button', { name: 'Apply to my checkout' }))
  const dialog = within(await screen.findByRole('alertdialog', { name: 'Apply to shop?' }))
  expect(dialog.getByText(/2 files change in \/home\/ada\/shop/)).toBeVisible()
  expect(dialog.getByText('1 of them runs automatically:')).toBeVisible()
  expect(dialog.getByText('package.json')).toBeVisible()
  await user.click(dialog.getByRole('button', { name: 'Apply' }))
  expect(await dialog.findByRole('alert')).toHaveTextContent(
    /these files do not fit your checkout:src\/cart\.ts · changed in your checkoutUndo your changes/,
  )
  fits = true
  await user.click(dialog.getByRole('button', { name: 'Apply' }))
  await waitFor(() => expect(screen.queryByRole('alertdialog')).not.toBeInTheDocument())
  change({ result: 'applied' })
  expect(await shown.findByText('The changes are in your checkout.')).toBeVisible()
  expect(shown.queryByRole('button', { name: 'Apply to my checkout' })).not.toBeInTheDocument()
})

it('discards only after it has said what is lost', async () => {
  const { user, runner, panel, change } = open({}, { discardCodeTask: () => ({ ok: true }) })
  const shown = await panel()
  await user.click(shown.getByRole('button', { name: 'Discard…' }))
  const dialog = within(await screen.findByRole('alertdialog', { name: 'Discard “Test the empty cart”?' }))
  expect(
    dialog.getByText(/^The branch deckhand\/test-the-empty-cart-7f3k and its folder are deleted, with the changes to 2 files/),
  ).toBeVisible()
  expect(runner.callsOf('discardCodeTask')).toEqual([])
  await user.click(dialog.getByRole('button', { name: 'Discard' }))
  await waitFor(() => expect(runner.callsOf('discardCodeTask')).toHaveLength(1))
  change({ result: 'discarded', folder: null, folderRemovedAt: 1_700_000_100_000 })
  expect(await shown.findByText('The changes were discarded. Branch and folder are deleted.')).toBeVisible()
  expect(shown.queryByRole('button', { name: /src\/cart\.ts|Discard|Apply|folder/ })).not.toBeInTheDocument()
})

it('says what the branch could not keep, why, and what to do', async () => {
  const leftOut = [
    { path: 'data/shop\u202E.sqlite', reason: 'too_large' as const },
    ...Array.from({ length: 6 }, (_, at) => ({ path: `run/${at}.sock`, reason: 'not_a_file' as const })),
  ]
  const { user, panel, change } = open({ leftOut })
  const shown = within((await panel()).getByRole('region', { name: 'Not on the branch' }))
  expect(shown.getByText(/^These are only in the folder\. Move/)).toBeVisible()
  const lines = () => shown.getAllByRole('listitem').map((item) => item.textContent)
  expect(lines()[0]).toBe('data/shop⟨U+202E⟩.sqliteToo large')
  expect(lines()).toHaveLength(5)
  await user.click(shown.getByRole('button', { name: '2 more' }))
  expect(lines()).toHaveLength(7)
  change({ result: 'discarded', folder: null })
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Not on the branch' })).not.toBeInTheDocument())
})

it('lets a member look at the changes, and only an owner decide', async () => {
  const { panel } = open({}, {}, { id: makeId(), name: 'Bo', role: 'member', createdAt: 0 })
  const shown = await panel()
  expect(shown.getByText('Only an owner can apply or discard the changes.')).toBeVisible()
  expect(shown.getByRole('button', { name: /src\/cart\.ts/ })).toBeVisible()
  expect(shown.queryByRole('button', { name: /Apply|Discard|Remove/ })).not.toBeInTheDocument()
})

it('removes the folder and keeps the branch', async () => {
  const { user, panel, change } = open({}, { removeCodeTaskFolder: () => ({ ok: true }) })
  const shown = await panel()
  await user.click(shown.getByRole('button', { name: 'Remove folder, keep branch' }))
  const dialog = within(await screen.findByRole('alertdialog', { name: 'Remove the folder?' }))
  expect(dialog.getByText('This frees 2.4 MB.')).toBeVisible()
  await user.click(dialog.getByRole('button', { name: 'Remove folder' }))
  await waitFor(() => expect(screen.queryByRole('alertdialog')).not.toBeInTheDocument())
  change({ folder: null, folderRemovedAt: 1_700_000_100_000 })
  expect(await shown.findByText(/^Removed, the branch is kept/)).toBeVisible()
  // While the dialog leaves, nothing behind it has a role.
  expect(await shown.findByRole('button', { name: 'Apply to my checkout' })).toBeVisible()
  expect(shown.queryByRole('button', { name: 'Open folder' })).not.toBeInTheDocument()
})

it.each([
  ['a running task', { jobStatus: 'running', result: 'none' }, 'It is working on its own branch.'],
  ['a waiting task', { jobStatus: 'awaiting_approval', result: 'none' }, 'It is waiting for you.'],
  ['a task that changed nothing', { result: 'none', files: [], fileCount: 0 }, 'It ended without changing a file.'],
  ['a stopped task with changes', { jobStatus: 'cancelled' }, 'It did not finish.'],
] as const)('says how things stand: %s', async (_name, fields, text) => {
  const { panel } = open(fields as Partial<CodeTask>)
  expect((await panel()).getByText(text, { exact: false })).toBeVisible()
})

it('says that the program told no cost', async () => {
  const { panel } = open({ priced: false, costUsd: 0 })
  expect((await panel()).getByText('Not reported by Claude Code')).toBeVisible()
})

it('shows nothing of it for another job', async () => {
  const { runner } = open({}, { getJob: () => ({ job: makeJob() }) })
  await screen.findByText('Timeline')
  expect(screen.getByRole('link', { name: 'Activity' })).toHaveAttribute('href', '/activity')
  expect(runner.callsOf('getCodeTask')).toEqual([])
  expect(screen.queryByRole('heading', { name: 'Code changes' })).not.toBeInTheDocument()
})
