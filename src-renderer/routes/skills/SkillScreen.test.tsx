import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it, vi } from 'vitest'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { type Answers, createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen, type RenderOptions } from '../../testing/render.tsx'
import { makeAgent, makeId, makeSkill, makeSkillContents, quote } from '../../testing/things.ts'
import { SkillScreen } from './SkillScreen.tsx'

const ada = makeAgent({ name: 'Ada' })
const bo = makeAgent({ name: 'Bo' })
const digest = (letter: string) => `sha256:${letter.repeat(64)}`

function open(
  skill: Skill,
  answers: Answers = {},
  { text = '# Forms', query = '', ...options }: { text?: string | null; query?: string } & RenderOptions = {},
) {
  let current = skill
  const change = (fields: Partial<Skill>) => {
    current = { ...current, ...fields }
    queueMicrotask(() => runner.happen({ type: 'skill.changed', payload: { skillId: skill.id } }))
    return { skill: current }
  }
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [ada, bo], nextCursor: null }),
    getSkill: () => ({ skill: current, text }),
    readSkillFiles: () => ({ files: [], digest: skill.digest, isChanged: false }),
    updateSkillSettings: ({ body }) =>
      change({
        ...(body.agent && { agents: body.agent.has ? [...current.agents, { agentId: body.agent.agentId, agentName: 'Agent' }] : [] }),
        ...(body.allowedDigest && { status: 'ready', newPermissions: [] }),
      }),
    ...answers,
  })
  const view = renderScreen(SkillScreen, { route: '/skills/:skillId', path: `/skills/${skill.id}${query}`, runner, ...options })
  return { ...view, runner, change }
}

it('shows a member a skill without anything to change', async () => {
  const skill = makeSkill({ status: 'needs_consent', hasUpdate: true })
  open(skill, {}, { person: { id: makeId(), name: 'Bo', role: 'member', createdAt: 0 }, query: '?update=1' })
  await screen.findByRole('heading', { name: skill.name })
  for (const one of await screen.findAllByRole('switch')) expect(one).toBeDisabled()
  for (const name of [/^Allow/, /^Review/, /^Actions for/]) expect(screen.queryByRole('button', { name })).toBeNull()
  expect(screen.queryByRole('dialog')).toBeNull()
})

it('shows the instructions formatted and as they are, and what the skill asks for', async () => {
  const contents = makeSkillContents({ hosts: ['forms.example'], programs: ['pdftk'], findings: [] })
  const text = '---\nname: pdf-forms\nhidden: yes\n---\n\n# Fill in\n\n<script>alert(1)</script> and \\u{202e}that.\n'
  const { user } = open(makeSkill({ contents }), {}, { text })
  expect(await screen.findByRole('heading', { name: 'Fill in' })).toBeVisible()
  expect(screen.getByText(/<script>alert\(1\)<\/script>/)).toBeVisible()
  expect(document.querySelector('main script, .md script')).toBeNull()
  // What else the front matter says is not left out.
  expect(screen.getByText(/hidden: yes/)).toBeVisible()
  await user.click(screen.getByRole('radio', { name: 'Source' }))
  const source = await screen.findByRole('group', { name: 'SKILL.md' })
  expect(within(source).getByText('# Fill in')).toBeVisible()
  for (const words of ['forms.example', 'pdftk', 'MIT', 'Ada']) expect(screen.getAllByText(words)[0]).toBeVisible()
  expect(screen.getByText(/does not prove/)).toBeVisible()
})

it('gives the skill to an agent and takes it away again', async () => {
  const { user, runner } = open(makeSkill({ agents: [{ agentId: ada.id, agentName: 'Ada' }] }))
  expect(await screen.findByRole('switch', { name: 'Ada' })).toBeChecked()
  expect(screen.getByText(/about 24 tokens a turn/)).toBeVisible()
  await user.click(screen.getByRole('switch', { name: 'Bo' }))
  await waitFor(() => expect(runner.callsOf('updateSkillSettings')[0]!.body).toEqual({ agent: { agentId: bo.id, has: true } }))
  await waitFor(() => expect(screen.getByRole('switch', { name: 'Bo' })).toBeChecked())
  await user.click(screen.getByRole('switch', { name: 'Ada' }))
  await waitFor(() => expect(runner.callsOf('updateSkillSettings')[1]!.body).toEqual({ agent: { agentId: ada.id, has: false } }))
})

it('names what an update newly asks for, and allows exactly this version', async () => {
  const skill = makeSkill({ status: 'needs_consent', newPermissions: ['scripts', 'host:evil.example', 'tool:Bash'] })
  const { user, runner } = open(skill)
  const notice = await screen.findByRole('alert')
  for (const words of ['Has scripts to run', 'Names the host evil.example', 'Wants the tool Bash']) expect(notice).toHaveTextContent(words)
  await user.click(within(notice).getByRole('button', { name: 'Allow' }))
  await waitFor(() => expect(runner.callsOf('updateSkillSettings')[0]!.body).toEqual({ allowedDigest: skill.digest }))
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
})

const preview = {
  ok: true as const,
  changed: true,
  permissionsAdded: ['scripts'],
  currentDigest: digest('a'),
  upstreamDigest: digest('b'),
  newFindings: { findings: [], findingsCut: false },
  findingCount: 0,
  files: [
    { path: 'scripts/fill.sh', change: 'added' as const, diff: '@@ -0,0 +1,1 @@\n+curl https://forms.example\n' },
    { path: 'SKILL.md', change: 'modified' as const, diff: '@@ -1,1 +1,1 @@\n-Fill in.\n+Fill in with the script.\n' },
    { path: 'logo.png', change: 'modified' as const, diff: '' },
  ],
}

it('shows the difference of an update with its new permissions first, which stay off until they are allowed', async () => {
  const { user, runner } = open(makeSkill({ hasUpdate: true }), {
    previewSkillUpdate: () => preview,
    updateSkill: ({ body }) => ({ ok: true, changed: true, scriptsChanged: true, consentRevoked: !body.allowsPermissions }),
  })
  await user.click(await screen.findByRole('button', { name: 'Review update' }))
  const dialog = await screen.findByRole('dialog', { name: 'Update pdf-forms' })
  expect(await within(dialog).findByText('Has scripts to run')).toBeVisible()
  const allow = within(dialog).getByRole('checkbox', { name: 'Allow this' })
  expect(allow).not.toBeChecked()
  expect(within(dialog).getByText('Fill in with the script.')).toBeVisible()
  expect(within(dialog).getByText('curl https://forms.example')).toBeVisible()
  expect(await within(dialog).findByText(/No diff/)).toBeVisible()
  await user.click(within(dialog).getByRole('button', { name: 'Update' }))
  await waitFor(() => expect(runner.callsOf('updateSkill')[0]!.body).toEqual({ expectedDigest: digest('b'), allowsPermissions: false }))
  expect(await screen.findByText(/Agents can use it again once you allow/)).toBeVisible()
  expect(screen.queryByRole('dialog')).toBeNull()
})

it('takes no other version than the one that was shown', async () => {
  let moved = false
  const { user, runner } = open(
    makeSkill({ hasUpdate: true }),
    {
      previewSkillUpdate: () => (moved ? { ...preview, permissionsAdded: [], upstreamDigest: digest('c') } : preview),
      updateSkill: ({ body }) =>
        body.expectedDigest === digest('c')
          ? { ok: true, changed: true, scriptsChanged: false, consentRevoked: false }
          : new Refusal('update_failed', undefined, undefined, { code: 'error_skill_has_changed', params: {} }),
    },
    { query: '?update=1' },
  )
  await user.click(await screen.findByRole('checkbox', { name: 'Allow this' }))
  moved = true
  await user.click(screen.getByRole('button', { name: 'Update' }))
  expect(await screen.findByText(/has changed in the meantime/)).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Look again' }))
  expect(await screen.findByText('It requests no new access.')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Update' }))
  // What was allowed for the other version is not carried over.
  await waitFor(() => expect(runner.callsOf('updateSkill').at(-1)!.body).toEqual({ expectedDigest: digest('c'), allowsPermissions: false }))
})

it('hides the badge until there is another version', async () => {
  const skill = makeSkill({ hasUpdate: true })
  const view = open(skill, { acknowledgeSkillUpdate: () => (view.change({ hasUpdate: false }), { ok: true }) })
  expect(await screen.findByText('Update available')).toBeVisible()
  await view.user.click(screen.getByRole('button', { name: 'Later' }))
  await waitFor(() => expect(screen.queryByText('Update available')).toBeNull())
})

it('repairs a skill whose files were changed, and says why its source cannot be read', async () => {
  let isThere = false
  const { user } = open(
    makeSkill({ status: 'changed', checkProblem: quote('The source took too long.') }),
    {
      previewSkillUpdate: () =>
        isThere
          ? { ...preview, changed: false, files: [], permissionsAdded: [] }
          : new Refusal('preview_failed', undefined, undefined, quote('The source is not there.')),
    },
    { text: null },
  )
  expect(await screen.findByText('The files of this skill were changed outside Deckhand')).toBeVisible()
  expect(screen.getByText(/The source took too long/)).toBeVisible()
  expect(screen.queryByRole('radio', { name: 'Source' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Install again' }))
  expect(await screen.findByText('The source is not there.')).toBeVisible()
  isThere = true
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  expect(await screen.findByText('The skill is up to date.')).toBeVisible()
})

it('asks before it removes a skill', async () => {
  const skill = makeSkill()
  const { user, runner, path } = open(skill, { deleteSkill: () => ({ ok: true }) })
  await user.click(await screen.findByRole('button', { name: 'Actions for pdf-forms' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Remove' }))
  await user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: 'Remove' }))
  await waitFor(() => expect(path()).toBe('/skills'))
  expect(runner.callsOf('deleteSkill').map(({ params }) => params)).toEqual([{ skillId: skill.id }])
})

it('says that a skill is gone', async () => {
  open(makeSkill(), { getSkill: () => new Refusal('skill_not_found') })
  expect(await screen.findByText('Skill not found')).toBeVisible()
})

it('updates a skill that came from a file with another file only', async () => {
  const skill = makeSkill({ kind: 'file', source: 'forms.zip' })
  const { user, runner } = open(skill, {
    previewSkillUpdate: () => preview,
    updateSkill: () => ({ ok: true, changed: true, scriptsChanged: true, consentRevoked: false }),
  })
  expect(await screen.findByText('From the file forms.zip')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Actions for pdf-forms' }))
  expect(await screen.findByRole('menuitem', { name: 'Update from a file…' })).toBeVisible()
  expect(screen.queryByRole('menuitem', { name: 'Check for updates' })).toBeNull()
  await user.keyboard('{Escape}')
  await user.upload(screen.getByLabelText('Archive'), new File(['PK'], 'forms-2.zip'))
  await user.click(await screen.findByRole('button', { name: 'Update' }))
  const upload = { fileName: 'forms-2.zip', base64: btoa('PK') }
  await waitFor(() => expect(runner.callsOf('updateSkill')[0]!.body).toMatchObject({ expectedDigest: digest('b'), upload }))
  expect(runner.callsOf('previewSkillUpdate')[0]!.body).toEqual({ upload })
})

it('leads to the editor of an own skill, and exports it', async () => {
  const skill = makeSkill({ kind: 'own', source: '' })
  const { user, runner } = open(skill, { exportSkill: () => ({ fileName: 'pdf-forms.zip', base64: btoa('PK') }) })
  expect(await screen.findByRole('link', { name: 'Edit' })).toHaveAttribute('href', `/skills/${skill.id}/edit`)
  expect(screen.getByText('Written in Deckhand')).toBeVisible()
  expect(screen.queryByText('Last update check')).toBeNull()
  const saved: Blob[] = []
  vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: (blob: Blob) => (saved.push(blob), 'blob:x'), revokeObjectURL: () => {} }))
  await user.click(screen.getByRole('button', { name: 'Actions for pdf-forms' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Export' }))
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(await saved[0]!.text()).toBe('PK')
  expect(runner.callsOf('exportSkill').map(({ params }) => params)).toEqual([{ skillId: skill.id }])
})
