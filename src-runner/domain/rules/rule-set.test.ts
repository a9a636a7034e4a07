import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CallFacts, RuleText } from '../../contract/rules.ts'
import { digestOfCommand } from './call-hash.ts'
import { closedFoldersOf, createRuleSet, rulesFor } from './rule-set.ts'

const does = { leavesMachine: true, costsMoney: false, deletes: false, overwrites: false, runsCode: false }
const callOf = (tool: string): CallFacts => ({ tool, effect: 'once', subject: '{}', paths: [], summary: '', ...does })
const rule = (effect: RuleText['effect'], tool: string): RuleText => ({ effect, tool, pattern: null, agentId: null, folder: null })
const decides = (tool: string, ...rules: RuleText[]) => rulesFor(createRuleSet(rules), callOf(tool), null)[0]?.text.tool

it('holds a rule for all tools of a server against each of them, and against no other tool', () => {
  const server = rule('allow', 'github__*')
  expect(decides('github__create_issue', server)).toBe('github__*')
  expect(decides('github__a__b', server)).toBe('github__*')
  for (const tool of ['github-2__create_issue', 'git__hub', 'github', 'web_fetch']) expect(decides(tool, server)).toBeUndefined()
})

it('prefers a rule for the tool to one for its server, and that to one for every tool', () => {
  const [tool, server, any] = [rule('ask', 'github__send'), rule('deny', 'github__*'), rule('allow', '*')]
  expect(decides('github__send', any, server, tool)).toBe('github__send')
  expect(decides('github__look', any, server, tool)).toBe('github__*')
  expect(decides('web_fetch', any, server, tool)).toBe('*')
})

it('holds an allow rule for a digest only while the command names all that it runs', () => {
  const command = { ...callOf('run_command'), paths: ['/home/ada'], program: '/usr/bin/python3', found: [] }
  const bound = createRuleSet([{ ...rule('allow', 'run_command'), digest: digestOfCommand(command) }])
  expect(rulesFor(bound, command, null)).toHaveLength(1)
  expect(rulesFor(bound, { ...command, runsUnnamed: true }, null)).toEqual([])
  // A person wrote this one, for whatever the command runs.
  expect(rulesFor(createRuleSet([rule('allow', 'run_command')]), { ...command, runsUnnamed: true }, null)).toHaveLength(1)
})

it('closes a folder that a pattern denies to every tool, unless another rule lets something through', () => {
  const pattern = (effect: RuleText['effect'], text: string, tool = '*'): RuleText => ({ ...rule(effect, tool), pattern: text })
  const closed = (...rules: RuleText[]) => closedFoldersOf(createRuleSet(rules), 'ada', [{ name: 'Docs', path: '/home/ada/Docs' }])
  expect(closed(pattern('deny', 'docs/private/*'))).toEqual([join('/home/ada/Docs', 'private')])
  expect(closed(pattern('deny', 'Docs/*'))).toEqual([join('/home/ada/Docs')])
  expect(closed(pattern('deny', 'Docs/private/*'), pattern('allow', 'Docs/private/open/*'))).toEqual([])
  for (const text of ['Docs/private*', 'Docs/*/x/*', 'Other/private/*', 'https://example.com/*', '*'])
    expect(closed(pattern('deny', text))).toEqual([])
  expect(closed(pattern('deny', 'Docs/private/*', 'read_file'), pattern('ask', 'Docs/b/*'))).toEqual([])
})

it('holds a pattern against where links lead, too: one that allows must match both', () => {
  const call = { ...callOf('read_file'), subject: 'Docs/p/k', realSubject: 'Docs/private/k' }
  const holds = (effect: RuleText['effect'], text: string) =>
    rulesFor(createRuleSet([{ ...rule(effect, 'read_file'), pattern: text }]), call, null).length === 1
  expect([holds('deny', 'Docs/private/k'), holds('ask', 'Docs/p/*'), holds('deny', 'Docs/x')]).toEqual([true, true, false])
  expect([holds('allow', 'Docs/private/k'), holds('allow', 'Docs/p/*'), holds('allow', 'Docs/p*k')]).toEqual([false, false, true])
})
