import { screen, waitFor, within } from '@solidjs/testing-library'
import { createTwoFilesPatch } from 'diff'
import { expect, it } from 'vitest'
import type { FileDiff, WrittenFile } from '../../../src-runner/contract/files.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeId, quote } from '../../testing/things.ts'
import { JobFiles } from './JobFiles.tsx'

const JOB = makeId()

function makeFile(fields: Partial<WrittenFile> = {}): WrittenFile {
  return {
    path: 'Documents/notes.md',
    change: 'modified',
    movedFrom: null,
    callIds: ['c1'],
    binary: false,
    sizeBefore: 20,
    sizeAfter: 24,
    undoable: true,
    whyNoUndo: null,
    undone: false,
    ...fields,
  }
}

function open(files: WrittenFile[], diff: Partial<FileDiff> = {}) {
  const runner = createFakeRunner({
    listJobFiles: () => ({ files }),
    getFileDiff: ({ query }) => {
      const file = files.find((one) => one.path === query.path)
      if (file === undefined) return new Refusal('file_not_written')
      return {
        path: file.path,
        change: file.change,
        diff: createTwoFilesPatch('a', 'b', 'one\ntwo\n', 'one\n2\n<b>three</b>\n'),
        truncated: false,
        binary: file.binary,
        ...diff,
      }
    },
    undoFile: ({ body }) => {
      const file = files.find((one) => one.path === body.path)!
      if (!file.undoable && !body.force) return new Refusal('file_changed_since', 'It was changed since.')
      file.undone = true
      runner.happen({ type: 'files.undone', payload: { jobId: JOB, agentId: JOB, conversationId: null, path: body.path } })
      return { file }
    },
  })
  return renderScreen(() => <JobFiles jobId={JOB} />, { runner })
}

const show = async (view: ReturnType<typeof open>, path: string) =>
  view.user.click(await screen.findByRole('button', { name: new RegExp(path), expanded: false }))

it('lists the changed files and shows their diffs', async () => {
  const view = open([makeFile(), makeFile({ path: 'Documents/new.md', change: 'added', sizeBefore: null })])
  await screen.findByText('2 files changed')
  expect(screen.getByText('New')).toBeInTheDocument()
  await show(view, 'Documents/notes.md')
  const diff = await screen.findByRole('group', { name: 'Changes to Documents/notes.md' })
  expect(
    within(diff)
      .getAllByRole('row')
      .map((row) => row.textContent),
  ).toEqual(['11 one', '2−Removed: two', '2+Added: 2', '3+Added: <b>three</b>'])
  expect(diff.querySelector('b')).toBeNull()
  expect(screen.getByText('2 lines added')).toBeInTheDocument()
  expect(screen.getByText('1 line removed')).toBeInTheDocument()
})

it('shows nothing for a job without changes', async () => {
  const { runner } = open([])
  await waitFor(() => expect(runner.callsOf('listJobFiles')).toHaveLength(1))
  expect(screen.queryByText('Changed files')).toBeNull()
})

it.each<[string, Partial<WrittenFile>, Partial<FileDiff>, RegExp]>([
  [
    'a file that is no text',
    { binary: true, sizeBefore: 2_000_000, sizeAfter: null, change: 'deleted' },
    { diff: '' },
    /2 MB before, – now/,
  ],
  ['a file that only moved', { movedFrom: 'Documents/old.md' }, { diff: '--- a\n+++ b\n' }, /Moved without changes/],
  ['an empty new file', { change: 'added', sizeBefore: null, sizeAfter: 0 }, { diff: '' }, /The file is empty/],
  [
    'a file that came and went',
    { change: 'deleted', sizeBefore: null, sizeAfter: null, undoable: false },
    { diff: '' },
    /created and deleted/,
  ],
  ['a change that is too long', {}, { truncated: true }, /too long to show/],
])('says it of %s', async (_, file, diff, sentence) => {
  const view = open([makeFile(file)], diff)
  await show(view, 'Documents/notes.md')
  expect(await screen.findByText(sentence)).toBeInTheDocument()
})

it('shows the beginning of a huge change, and the rest when asked', async () => {
  const lines = Array.from({ length: 900 }, (_, n) => `line ${n}\n`).join('')
  const view = open([makeFile()], { diff: createTwoFilesPatch('a', 'b', '', lines) })
  await show(view, 'Documents/notes.md')
  expect(await screen.findAllByRole('row')).toHaveLength(400)
  await view.user.click(screen.getByRole('button', { name: 'Show 500 more lines' }))
  expect(screen.getAllByRole('row')).toHaveLength(900)
})

it('asks before it undoes a change', async () => {
  const view = open([makeFile()])
  await view.user.click(await screen.findByRole('button', { name: 'Undo changes to Documents/notes.md' }))
  const dialog = await screen.findByRole('alertdialog', { name: 'Undo changes to Documents/notes.md?' })
  expect(view.runner.callsOf('undoFile')).toHaveLength(0)
  await view.user.click(within(dialog).getByRole('button', { name: 'Undo' }))
  expect(await screen.findByText('Undone')).toBeInTheDocument()
  expect(screen.queryByRole('button', { name: /^Undo/ })).toBeNull()
  expect(view.runner.callsOf('undoFile')[0]!.body).toEqual({ path: 'Documents/notes.md', force: false })
})

it('asks a second time when the file was changed since', async () => {
  const view = open([makeFile({ undoable: false })])
  await view.user.click(await screen.findByRole('button', { name: 'Undo changes to Documents/notes.md' }))
  await view.user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: 'Undo' }))
  const second = await screen.findByRole('alertdialog', { name: 'Changed since this job' })
  expect(second).toHaveTextContent('discards that newer change')
  await view.user.click(within(second).getByRole('button', { name: 'Undo anyway' }))
  expect(await screen.findByText('Undone')).toBeInTheDocument()
  expect(view.runner.callsOf('undoFile').map((call) => call.body.force)).toEqual([false, true])
})

it('says why a change cannot be undone', async () => {
  const view = open([makeFile()])
  view.runner.answer({ undoFile: () => new Refusal('file_cannot_be_undone', undefined, undefined, quote('It was too large to be kept.')) })
  await view.user.click(await screen.findByRole('button', { name: 'Undo changes to Documents/notes.md' }))
  await view.user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: 'Undo' }))
  expect(await screen.findByText('Cannot be undone: It was too large to be kept.')).toBeInTheDocument()
})

it('writes out the hidden characters of a path where it asks', async () => {
  const view = open([makeFile({ path: 'a\u202Eb.md' })])
  await view.user.click(await screen.findByRole('button', { name: /Undo/ }))
  expect(await screen.findByRole('alertdialog', { name: /a⟨U\+202E⟩b\.md/ })).toBeInTheDocument()
})
