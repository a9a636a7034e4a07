import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { SkillDraft } from '../../../src-runner/contract/skills.ts'
import { type Answers, createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeId, makeSkill, makeSkillContents, quote } from '../../testing/things.ts'
import { EditSkillScreen } from './EditSkillScreen.tsx'

const own = makeSkill({ kind: 'own', source: '' })
const opened = `sha256:${'c'.repeat(64)}`

function open(route: string, path: string, answers: Answers = {}) {
  const runner = createFakeRunner({
    checkSkill: ({ body }) => {
      const text = body.files.find((file) => file.path === 'SKILL.md')?.text ?? ''
      return text.includes('description:')
        ? { contents: makeSkillContents({ permissions: text.includes('http') ? ['host:forms.example'] : [] }), problem: null }
        : { contents: null, problem: quote('The field description is missing.') }
    },
    ...answers,
  })
  return { ...renderScreen(EditSkillScreen, { route, path, runner }), runner }
}

it('checks a new skill while it is written, and creates it with its files', async () => {
  const { user, runner, path } = open('/skills/new', '/skills/new', { createSkill: () => ({ skill: own }) })
  const text = await screen.findByLabelText('SKILL.md')
  await user.clear(text)
  await user.type(text, 'name: forms')
  expect(await screen.findByText('The field description is missing.')).toBeVisible()
  expect(screen.getByRole('button', { name: 'Create skill' })).toBeDisabled()
  await user.type(text, '{Enter}description: See https://forms.example')
  expect(await screen.findByText('Names the host forms.example')).toBeVisible()
  await user.type(screen.getByLabelText('Path of a new file'), 'references/forms.md{Enter}')
  await user.type(await screen.findByLabelText('references/forms.md'), 'Forms.')
  await user.type(screen.getByLabelText('Path of a new file'), 'unwanted.md{Enter}')
  await user.click(await screen.findByRole('button', { name: 'Remove unwanted.md' }))
  await waitFor(() => expect(screen.getByRole('button', { name: 'Create skill' })).toBeEnabled())
  await user.click(screen.getByRole('button', { name: 'Create skill' }))
  await waitFor(() =>
    expect(runner.callsOf('createSkill')[0]!.body.files).toEqual([
      { path: 'SKILL.md', text: 'name: forms\ndescription: See https://forms.example' },
      { path: 'references/forms.md', text: 'Forms.' },
    ]),
  )
  await waitFor(() => expect(path()).toBe(`/skills/${own.id}`))
})

it('saves exactly the version that was opened, and keeps what is not text', async () => {
  let refuses = true
  const { user, runner, path } = open('/skills/:skillId/edit', `/skills/${own.id}/edit`, {
    getSkill: () => ({ skill: own, text: 'x' }),
    readSkillFiles: () => ({
      files: [
        { path: 'SKILL.md', text: 'description: Old.', bytes: 17 },
        { path: 'logo.png', text: null, bytes: 900 },
      ],
      digest: opened,
      isChanged: true,
    }),
    saveSkill: () => (refuses ? new Refusal('skill_has_changed') : { skill: own }),
  })
  expect(await screen.findByText(/changed outside Deckhand/)).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'logo.png' }))
  expect(screen.getByText('This file is not text. It stays as it is.')).toBeVisible()
  // Left with Escape, nothing is renamed.
  for (const [written, name] of [
    ['x{Escape}', 'logo.png'],
    ['{Backspace>8/}assets/shell.png{Enter}', 'assets/shell.png'],
  ] as const) {
    await user.click(screen.getByRole('button', { name: 'Rename logo.png' }))
    await user.type(screen.getByLabelText('Rename logo.png'), written)
    expect(await screen.findByRole('button', { name })).toBeVisible()
  }
  await user.click(screen.getByRole('button', { name: 'SKILL.md' }))
  await user.type(screen.getByLabelText('SKILL.md'), ' New.')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  expect(await screen.findByText(/has changed in the meantime/)).toBeVisible()
  expect(screen.getByLabelText('SKILL.md')).toHaveValue('description: Old. New.')
  refuses = false
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(path()).toBe(`/skills/${own.id}`))
  expect(runner.callsOf('saveSkill').at(-1)!.body).toEqual({
    expectedDigest: opened,
    files: [
      { path: 'SKILL.md', text: 'description: Old. New.' },
      { path: 'assets/shell.png', from: 'logo.png' },
    ],
  })
})

it('waits for the draft that an agent writes, and says where its words may come from', async () => {
  const jobId = makeId()
  const draft: SkillDraft = {
    jobId,
    fromJobId: makeId(),
    agentId: makeId(),
    status: 'writing',
    files: [],
    check: null,
    isUntrusted: true,
  }
  let current = draft
  const { runner } = open('/skills/new', `/skills/new?draft=${jobId}`, { getSkillDraft: () => ({ draft: current }) })
  expect(await screen.findByText('The agent is writing the skill')).toBeVisible()
  expect(screen.getByRole('link', { name: 'Open job' })).toHaveAttribute('href', `/jobs/${jobId}`)
  current = { ...draft, status: 'ready', files: [{ path: 'SKILL.md', text: 'description: Drafted.', bytes: 21 }] }
  runner.happen({
    type: 'job.finished',
    payload: {
      jobId,
      agentId: draft.agentId,
      conversationId: null,
      status: 'completed',
      title: 'Write',
      error: null,
      costUsd: 0,
      scheduleId: null,
    },
  })
  expect(await screen.findByLabelText('SKILL.md')).toHaveValue('description: Drafted.')
  expect(screen.getByRole('alert')).toHaveTextContent('some of it may be in this draft')
})

it('offers to write a skill by hand when the agent wrote none', async () => {
  const draft: SkillDraft = {
    jobId: makeId(),
    fromJobId: makeId(),
    agentId: makeId(),
    status: 'failed',
    files: [],
    check: null,
    isUntrusted: false,
  }
  const { user } = open('/skills/new', `/skills/new?draft=${draft.jobId}`, { getSkillDraft: () => ({ draft }) })
  const alert = await screen.findByRole('alert')
  await user.click(within(alert).getByRole('button', { name: 'Write it yourself' }))
  expect(await screen.findByLabelText('SKILL.md')).toBeVisible()
})
