import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { Rule } from '../../../src-runner/contract/rules.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { type RenderOptions, renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeDecision, makeFacts, makeId, makeRule, quote } from '../../testing/things.ts'
import { RulesScreen } from './RulesScreen.tsx'

const ada = makeAgent({ name: 'Ada', isDefault: true })

function open(rules: Rule[] = [], options: RenderOptions = {}) {
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [ada], nextCursor: null }),
    listTools: () => ({
      tools: [
        { name: 'run_command', description: 'Runs a program.', effect: 'once' },
        { name: 'write_file', description: 'Writes a file.', effect: 'idempotent' },
        { name: 'tool_of_tomorrow', description: 'New.', effect: 'once' },
      ],
    }),
    listRules: () => ({ rules: [...rules], nextCursor: null }),
    createRule: ({ body }) => {
      const rule = makeRule(body)
      rules.unshift(rule)
      runner.happen({ type: 'rule.created', payload: { ruleId: rule.id, agentId: rule.agentId } })
      return { rule }
    },
    deleteRule: ({ params }) => {
      const at = rules.findIndex((rule) => rule.id === params.ruleId)
      if (at === -1) return new Refusal('rule_not_found')
      const [rule] = rules.splice(at, 1)
      runner.happen({ type: 'rule.deleted', payload: { ruleId: params.ruleId, agentId: rule!.agentId } })
      return { ok: true }
    },
  })
  return renderScreen(RulesScreen, { route: '/rules', path: '/rules', runner, ...options })
}

async function choose(user: ReturnType<typeof open>['user'], field: HTMLElement, option: string) {
  await user.click(field)
  await user.click(await screen.findByRole('option', { name: option }))
}

it('groups rules by agent and shows each as a sentence', async () => {
  open([
    makeRule({ effect: 'deny', tool: '*', folder: '/home/ada/Private' }),
    makeRule({ agentId: ada.id, tool: 'run_command', pattern: 'git status*', origin: 'approval' }),
  ])
  const everyone = (await screen.findByRole('heading', { name: 'All agents' })).closest('section')!
  expect(within(everyone).getByText('Deny any tool in /home/ada/Private')).toBeInTheDocument()
  const own = screen.getByRole('heading', { name: 'Ada only' }).closest('section')!
  expect(own).toHaveTextContent('Allow run_command for “git status*”')
  expect(own).toHaveTextContent('created from an approval')
})

it('lets a member read the rules only', async () => {
  open([makeRule({ effect: 'deny', tool: '*', folder: '/home/ada/Private' })], {
    person: { id: makeId(), name: 'Bo', role: 'member', createdAt: 0 },
  })
  expect(await screen.findByText('Deny any tool in /home/ada/Private')).toBeInTheDocument()
  expect(screen.queryByRole('button', { name: 'Add rule' })).toBeNull()
  expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
})

it('creates a rule with a preview of its sentence', async () => {
  const { user, runner } = open()
  await screen.findByText('No rules yet')
  await user.click(screen.getByRole('button', { name: 'Add rule' }))
  const form = screen.getByRole('group', { name: 'Add rule' })
  await user.click(within(form).getByRole('radio', { name: 'Deny' }))
  await choose(user, within(form).getByRole('button', { name: /Tool/ }), 'write_file')
  await user.type(within(form).getByRole('textbox', { name: /Matching/ }), '*.pdf')
  expect(within(form).getByRole('status')).toHaveTextContent('Deny write_file for “*.pdf”, for all agents')
  await user.click(within(form).getByRole('button', { name: 'Add rule' }))
  await waitFor(() =>
    expect(runner.callsOf('createRule').map((call) => call.body)).toEqual([
      { effect: 'deny', tool: 'write_file', pattern: '*.pdf', folder: null, agentId: null },
    ]),
  )
  expect(await screen.findByText('Deny write_file for “*.pdf”')).toBeInTheDocument()
})

it('starts with an example that fills the form', async () => {
  const { user } = open()
  await user.click(await screen.findByRole('button', { name: 'Use an example' }))
  expect(screen.getByRole('textbox', { name: /Matching/ })).toHaveValue('git status*')
})

it('deletes at once, and restores what was deleted', async () => {
  const { user, runner } = open([makeRule({ pattern: 'a*', folder: '/f' })])
  await user.click(await screen.findByRole('button', { name: 'Delete rule “Allow write_file for “a*” in /f”' }))
  await screen.findByText('No rules yet')
  await user.click(await screen.findByRole('button', { name: 'Undo' }))
  expect(await screen.findByText('Allow write_file for “a*” in /f')).toBeInTheDocument()
  expect(runner.callsOf('createRule')[0]!.body).toEqual({ effect: 'allow', tool: 'write_file', pattern: 'a*', folder: '/f', agentId: null })
})

it('restores a rule with the scripts that it was for', async () => {
  const digest = 'ab'.repeat(32)
  const { user, runner } = open([makeRule({ tool: 'run_command', pattern: './build.sh', folder: '/f', digest })])
  await user.click(await screen.findByRole('button', { name: /^Delete rule/ }))
  await user.click(await screen.findByRole('button', { name: 'Undo' }))
  await waitFor(() => expect(runner.callsOf('createRule')[0]?.body).toMatchObject({ pattern: './build.sh', digest }))
})

it('tries a call out: the decision, what decided, what was overruled', async () => {
  const { user, runner } = open()
  runner.answer({
    simulateCall: () => ({
      facts: makeFacts({ summary: 'Run git push' }),
      decision: makeDecision({
        verdict: 'deny',
        decidedBy: { source: 'rule', verdict: 'deny', ruleId: makeId(), reason: quote('Never push.') },
        overruled: [{ source: 'level', verdict: 'ask', ruleId: null, reason: quote('It runs a program.') }],
      }),
      taints: { untrusted: null, private: null, outside: null },
    }),
  })
  const panel = (await screen.findByRole('heading', { name: 'Test rules' })).closest('section')!
  await choose(user, within(panel).getByRole('button', { name: /Tool/ }), 'run_command')
  await user.type(within(panel).getByRole('textbox', { name: 'Command' }), 'git push "my origin"')
  await user.click(within(panel).getByRole('checkbox', { name: 'has read private data' }))
  await user.click(within(panel).getByRole('button', { name: 'Test' }))
  const verdict = await within(panel).findByRole('region', { name: 'Test rules' })
  expect(verdict).toHaveTextContent('Denied')
  expect(verdict).toHaveTextContent('Decided byNever push.')
  expect(verdict).toHaveTextContent('Agent autonomy: It runs a program. (would ask)')
  expect(runner.callsOf('simulateCall')[0]!.body).toEqual({
    agentId: ada.id,
    tool: 'run_command',
    args: { command: ['git', 'push', 'my origin'] },
    taints: { untrusted: false, private: true },
  })
  // What is asked next is not answered by what was answered before.
  await user.type(within(panel).getByRole('textbox', { name: 'Command' }), ' --force')
  expect(within(panel).queryByText('Denied')).toBeNull()
})

it('shows no decision about a call that was changed meanwhile', async () => {
  const { user, runner } = open()
  let arrive!: () => void
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  runner.answer({
    simulateCall: async () => {
      await arrived
      return { facts: makeFacts(), decision: makeDecision({ verdict: 'run' }), taints: { untrusted: null, private: null, outside: null } }
    },
  })
  const panel = (await screen.findByRole('heading', { name: 'Test rules' })).closest('section')!
  await choose(user, within(panel).getByRole('button', { name: /Tool/ }), 'run_command')
  const command = within(panel).getByRole('textbox', { name: 'Command' })
  await user.type(command, 'git status')
  await user.click(within(panel).getByRole('button', { name: 'Test' }))
  await user.clear(command)
  await user.type(command, 'git push')
  arrive()
  await waitFor(() => expect(within(panel).getByRole('button', { name: 'Test' })).toBeEnabled())
  expect(within(panel).queryByRole('region', { name: 'Test rules' })).toBeNull()
})

it('shows what is wrong with an argument at its field', async () => {
  const { user, runner } = open()
  runner.answer({ simulateCall: () => new Refusal('invalid_request', 'No.', [{ path: 'args.content', message: 'The text is missing.' }]) })
  const panel = (await screen.findByRole('heading', { name: 'Test rules' })).closest('section')!
  await choose(user, within(panel).getByRole('button', { name: /Tool/ }), 'write_file')
  await user.type(within(panel).getByRole('textbox', { name: 'Path' }), 'a.md{Enter}')
  expect(await within(panel).findByRole('alert')).toHaveTextContent('The text is missing.')
  expect(within(panel).getByRole('textbox', { name: 'Text' })).toHaveAttribute('aria-invalid', 'true')
})

it('takes JSON for an unknown tool', async () => {
  const { user, runner } = open()
  runner.answer({ simulateCall: () => new Refusal('tool_not_found', 'There is no such tool.') })
  const panel = (await screen.findByRole('heading', { name: 'Test rules' })).closest('section')!
  await choose(user, within(panel).getByRole('button', { name: /Tool/ }), 'tool_of_tomorrow')
  const raw = within(panel).getByRole('textbox', { name: 'Arguments (JSON)' })
  await user.clear(raw)
  await user.type(raw, '[[1]')
  expect(within(panel).getByRole('button', { name: 'Test' })).toBeDisabled()
  await user.clear(raw)
  await user.type(raw, '{{"n": 1}')
  await user.click(within(panel).getByRole('button', { name: 'Test' }))
  await waitFor(() => expect(runner.callsOf('simulateCall')[0]!.body).toMatchObject({ args: { n: 1 } }))
})
