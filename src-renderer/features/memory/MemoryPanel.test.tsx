import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { Memory } from '../../../src-runner/contract/memory.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeId } from '../../testing/things.ts'
import { JobMemories } from './JobMemories.tsx'
import { MemoryPanel } from './MemoryPanel.tsx'

const ada = makeAgent({ name: 'Ada' })

function makeMemory(fields: Partial<Memory> = {}): Memory {
  return { id: makeId(), agentId: ada.id, text: 'Tea, no coffee.', jobId: null, untrusted: false, createdAt: 1, updatedAt: 1, ...fields }
}

function open(memories: Memory[], path = '/') {
  const happen = (type: 'memory.created' | 'memory.changed' | 'memory.deleted', { id, agentId }: Memory) =>
    runner.happen({ type, payload: { memoryId: id, agentId } })
  const runner = createFakeRunner({
    listMemories: ({ query }) => ({
      memories: memories
        .filter((one) => (query.agentId === 'shared' ? one.agentId === null : one.agentId === query.agentId))
        .filter((one) => query.q === undefined || one.text.includes(query.q))
        .map((one) => ({ ...one })),
      nextCursor: null,
    }),
    createMemory: ({ body }) => {
      const memory = makeMemory(body)
      memories.unshift(memory)
      happen('memory.created', memory)
      return { memory }
    },
    updateMemory: ({ params, body }) => {
      const memory = memories.find((one) => one.id === params.memoryId)
      if (memory === undefined) return new Refusal('memory_not_found')
      Object.assign(memory, { text: body.text, untrusted: false })
      happen('memory.changed', memory)
      return { memory }
    },
    deleteMemory: ({ params }) => {
      const [memory] = memories.splice(
        memories.findIndex((one) => one.id === params.memoryId),
        1,
      )
      happen('memory.deleted', memory!)
      return { ok: true }
    },
  })
  return renderScreen(() => <MemoryPanel agent={ada} />, { runner, path })
}

it('shows memories with their origin, and lets the person trust one', async () => {
  const jobId = makeId()
  const { user } = open([makeMemory(), makeMemory({ text: 'Pay to IBAN X.', jobId, untrusted: true })])
  await screen.findByText('Tea, no coffee.')
  expect(screen.getByText('added by you')).toBeInTheDocument()
  expect(screen.getByRole('link', { name: 'from a job' })).toHaveAttribute('href', `/jobs/${jobId}`)
  expect(screen.getByText('Untrusted')).toBeInTheDocument()
  await user.click(screen.getByRole('button', { name: 'Trust this memory' }))
  await waitFor(() => expect(screen.queryByText('Untrusted')).toBeNull())
})

it('adds a memory of the agent or of all agents', async () => {
  const { user, runner } = open([])
  await screen.findByText(/No memories yet/)
  await user.type(screen.getByRole('textbox', { name: 'New memory' }), 'The boiler is from 2019.')
  await user.click(screen.getByRole('button', { name: 'Add' }))
  expect(await screen.findByText('The boiler is from 2019.')).toBeInTheDocument()
  await user.click(screen.getByRole('radio', { name: 'All agents' }))
  await screen.findByText(/No shared memories/)
  await user.type(screen.getByRole('textbox', { name: 'New memory' }), 'We live in Graz.')
  await user.click(screen.getByRole('button', { name: 'Add' }))
  expect(await screen.findByText('We live in Graz.')).toBeInTheDocument()
  expect(runner.callsOf('createMemory').map((call) => call.body.agentId)).toEqual([ada.id, null])
})

it('searches', async () => {
  const { user } = open([makeMemory(), makeMemory({ text: 'The boiler is from 2019.' })])
  await screen.findByText('Tea, no coffee.')
  await user.type(screen.getByRole('textbox', { name: 'Search memory' }), 'boiler')
  await waitFor(() => expect(screen.queryByText('Tea, no coffee.')).toBeNull())
  expect(screen.getByText('The boiler is from 2019.')).toBeInTheDocument()
  await user.type(screen.getByRole('textbox', { name: 'Search memory' }), 'x')
  expect(await screen.findByText('No results for “boilerx”')).toBeInTheDocument()
})

it('keeps its tab and its search over a reload', async () => {
  const shared = [makeMemory({ agentId: null, text: 'We live in Graz.' }), makeMemory({ agentId: null, text: 'The boiler is from 2019.' })]
  const { user, path, unmount } = open([makeMemory(), ...shared])
  await user.click(screen.getByRole('radio', { name: 'All agents' }))
  await user.type(screen.getByRole('textbox', { name: 'Search memory' }), 'Graz')
  await waitFor(() => expect(path()).toBe('/?memoryTab=shared&memoryQ=Graz'))
  unmount()
  open([makeMemory(), ...shared], path())
  expect(await screen.findByText('We live in Graz.')).toBeInTheDocument()
  expect(screen.queryByText('The boiler is from 2019.')).toBeNull()
  expect(screen.getByRole('textbox', { name: 'Search memory' })).toHaveValue('Graz')
})

it('edits in place, and Escape cancels', async () => {
  const { user, runner } = open([makeMemory()])
  await user.click(await screen.findByRole('button', { name: 'Edit “Tea, no coffee.”' }))
  const field = screen.getByRole('textbox', { name: 'Edit “Tea, no coffee.”' })
  await waitFor(() => expect(field).toHaveFocus())
  await user.type(field, ' Never.{Escape}')
  expect(await screen.findByText('Tea, no coffee.')).toBeInTheDocument()
  expect(runner.callsOf('updateMemory')).toHaveLength(0)
  await user.click(screen.getByRole('button', { name: 'Edit “Tea, no coffee.”' }))
  await user.type(screen.getByRole('textbox', { name: 'Edit “Tea, no coffee.”' }), ' Ever.')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  expect(await screen.findByText('Tea, no coffee. Ever.')).toBeInTheDocument()
})

it('asks before it deletes', async () => {
  const { user, runner } = open([makeMemory()])
  await user.click(await screen.findByRole('button', { name: 'Delete “Tea, no coffee.”' }))
  const dialog = await screen.findByRole('alertdialog', { name: 'Delete this memory?' })
  expect(runner.callsOf('deleteMemory')).toHaveLength(0)
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  await screen.findByText(/No memories yet/)
})

it('shows the memories that a job received', async () => {
  const runner = createFakeRunner({
    listJobMemories: () => ({
      memories: [
        { memoryId: makeId(), text: 'Tea, no coffee.', via: 'prompt', untrusted: false, at: 1 },
        { memoryId: makeId(), text: 'Pay to IBAN X.', via: 'recall', untrusted: true, at: 2 },
      ],
    }),
  })
  renderScreen(() => <JobMemories jobId={makeId()} />, { runner })
  const lines = within(await screen.findByRole('list')).getAllByRole('listitem')
  expect(lines.map((line) => line.textContent)).toEqual(['Tea, no coffee.in the prompt', 'Pay to IBAN X.looked upUntrusted'])
})
