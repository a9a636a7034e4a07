import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { Rule } from '../../../src-runner/contract/rules.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeDecision, makeFacts, makeId, makeRule } from '../../testing/things.ts'
import { RulesScreen } from './RulesScreen.tsx'

const ada = makeAgent({ name: 'Ada', isDefault: true })

function open(rules: Rule[] = []) {
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
  return renderScreen(RulesScreen, { route: '/rules', path: '/rules', runner })
}

async function choose(user: ReturnType<typeof open>['user'], field: HTMLElement, option: string) {
  await user.click(field)
  await user.click(await screen.findByRole('option', { name: option }))
}

it('groups rules by whom they are for, and says each in words', async () => {
  open([
    makeRule({ effect: 'deny', tool: '*', folder: '/home/ada/Private' }),
    makeRule({ agentId: ada.id, tool: 'run_command', pattern: 'git status*', origin: 'approval' }),
  ])
  const everyone = (await screen.findByRole('heading', { name: 'For everyone' })).closest('section')!
  expect(within(everyone).getByText('Never let it use any tool in /home/ada/Private')).toBeInTheDocument()
  const own = screen.getByRole('heading', { name: 'Only for Ada' }).closest('section')!
  expect(own).toHaveTextContent('Allow run_command about “git status*”')
  expect(own).toHaveTextContent('written by “Always” on an approval')
})

it('writes a rule, showing what it will say', async () => {
  const { user, runner } = open()
  await screen.findByText('No rules yet')
  await user.click(screen.getByRole('button', { name: 'Add a rule' }))
  const form = screen.getByRole('group', { name: 'Add a rule' })
  await user.click(within(form).getByRole('radio', { name: 'Never' }))
  await choose(user, within(form).getByRole('button', { name: /Tool/ }), 'write_file')
  await user.type(within(form).getByRole('textbox', { name: /Only when it is about/ }), '*.pdf')
  expect(within(form).getByRole('status')).toHaveTextContent('Never let it use write_file about “*.pdf”, for every agent')
  await user.click(within(form).getByRole('button', { name: 'Add rule' }))
  await waitFor(() =>
    expect(runner.callsOf('createRule').map((call) => call.body)).toEqual([
      { effect: 'deny', tool: 'write_file', pattern: '*.pdf', folder: null, agentId: null },
    ]),
  )
  expect(await screen.findByText('Never let it use write_file about “*.pdf”')).toBeInTheDocument()
})

it('starts with an example that fills the form', async () => {
  const { user } = open()
  await user.click(await screen.findByRole('button', { name: 'Start with an example' }))
  expect(screen.getByRole('textbox', { name: /Only when it is about/ })).toHaveValue('git status*')
})

it('deletes at once, and brings back what was deleted', async () => {
  const { user, runner } = open([makeRule({ pattern: 'a*', folder: '/f' })])
  await user.click(await screen.findByRole('button', { name: 'Delete the rule “Allow write_file about “a*” in /f”' }))
  await screen.findByText('No rules yet')
  await user.click(await screen.findByRole('button', { name: 'Undo' }))
  expect(await screen.findByText('Allow write_file about “a*” in /f')).toBeInTheDocument()
  expect(runner.callsOf('createRule')[0]!.body).toEqual({ effect: 'allow', tool: 'write_file', pattern: 'a*', folder: '/f', agentId: null })
})

it('tries a call out: the decision, what decided, what was overruled', async () => {
  const { user, runner } = open()
  runner.answer({
    simulateCall: () => ({
      facts: makeFacts({ summary: 'Run git push' }),
      decision: makeDecision({
        verdict: 'deny',
        decidedBy: { source: 'rule', verdict: 'deny', ruleId: makeId(), text: 'Never push.' },
        overruled: [{ source: 'level', verdict: 'ask', ruleId: null, text: 'It runs a program.' }],
      }),
      marks: { untrusted: null, private: null, outside: null },
    }),
  })
  const panel = (await screen.findByRole('heading', { name: 'Would this be asked?' })).closest('section')!
  await choose(user, within(panel).getByRole('button', { name: /Tool/ }), 'run_command')
  await user.type(within(panel).getByRole('textbox', { name: 'Command line' }), 'git push "my origin"')
  await user.click(within(panel).getByRole('checkbox', { name: 'has read private data' }))
  await user.click(within(panel).getByRole('button', { name: 'Check' }))
  const verdict = await within(panel).findByRole('region', { name: 'Would this be asked?' })
  expect(verdict).toHaveTextContent('It is refused')
  expect(verdict).toHaveTextContent('Decided byNever push.')
  expect(verdict).toHaveTextContent('Level of the agent: It runs a program. (would ask)')
  expect(runner.callsOf('simulateCall')[0]!.body).toEqual({
    agentId: ada.id,
    tool: 'run_command',
    args: { command: ['git', 'push', 'my origin'] },
    marks: { untrusted: false, private: true },
  })
  // What is asked next is not answered by what was answered before.
  await user.type(within(panel).getByRole('textbox', { name: 'Command line' }), ' --force')
  expect(within(panel).queryByText('It is refused')).toBeNull()
})

it('shows what is wrong with an argument at its field', async () => {
  const { user, runner } = open()
  runner.answer({ simulateCall: () => new Refusal('invalid_request', 'No.', [{ path: 'args.content', message: 'The text is missing.' }]) })
  const panel = (await screen.findByRole('heading', { name: 'Would this be asked?' })).closest('section')!
  await choose(user, within(panel).getByRole('button', { name: /Tool/ }), 'write_file')
  await user.type(within(panel).getByRole('textbox', { name: 'Path' }), 'a.md{Enter}')
  expect(await within(panel).findByRole('alert')).toHaveTextContent('The text is missing.')
  expect(within(panel).getByRole('textbox', { name: 'Text' })).toHaveAttribute('aria-invalid', 'true')
})

it('takes JSON for a tool that it does not know', async () => {
  const { user, runner } = open()
  runner.answer({ simulateCall: () => new Refusal('tool_not_found', 'There is no such tool.') })
  const panel = (await screen.findByRole('heading', { name: 'Would this be asked?' })).closest('section')!
  await choose(user, within(panel).getByRole('button', { name: /Tool/ }), 'tool_of_tomorrow')
  const raw = within(panel).getByRole('textbox', { name: 'Arguments (JSON)' })
  await user.clear(raw)
  await user.type(raw, '[[1]')
  expect(within(panel).getByRole('button', { name: 'Check' })).toBeDisabled()
  await user.clear(raw)
  await user.type(raw, '{{"n": 1}')
  await user.click(within(panel).getByRole('button', { name: 'Check' }))
  await waitFor(() => expect(runner.callsOf('simulateCall')[0]!.body).toMatchObject({ args: { n: 1 } }))
})
