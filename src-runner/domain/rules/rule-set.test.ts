import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CallFacts, RuleText } from '../../contract/rules.ts'
import { digestOfCommand } from './call-hash.ts'
import { closedFoldersOf, createRuleSet, deniedFoldersOf, rulesFor, scanFilterFor } from './rule-set.ts'

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

const pattern = (effect: RuleText['effect'], text: string, tool = '*'): RuleText => ({ ...rule(effect, tool), pattern: text })
const DOCS = [{ name: 'Docs', path: '/home/ada/Docs' }]
const closed = (...rules: RuleText[]) => closedFoldersOf(createRuleSet(rules), 'ada', DOCS)
const denied = (...rules: RuleText[]) => deniedFoldersOf(createRuleSet(rules), 'ada', DOCS).map(({ path }) => path)

it('closes a folder that a pattern denies to every tool, unless another rule lets something through', () => {
  expect(closed(pattern('deny', 'docs/private/*'))).toEqual([join('/home/ada/Docs', 'private')])
  expect(closed(pattern('deny', 'Docs/*'))).toEqual([join('/home/ada/Docs')])
  expect(closed(pattern('deny', 'Docs/private/*'), pattern('allow', 'Docs/private/open/*'))).toEqual([])
  for (const text of ['Docs/private*', 'Docs/*/x/*', 'Other/private/*', 'https://example.com/*', '*'])
    expect(closed(pattern('deny', text))).toEqual([])
  expect(closed(pattern('deny', 'Docs/private/*', 'read_file'), pattern('ask', 'Docs/b/*'))).toEqual([])
})

it('closes a folder that a rule denies, unless a more specific rule opens something in it; then it stays hidden from commands', () => {
  const inside = (effect: RuleText['effect'], folder: string, agentId: string | null = null): RuleText => ({
    ...rule(effect, '*'),
    folder,
    agentId,
  })
  const [everyone, ada] = [inside('deny', '/home/ada/Docs/Taxes'), inside('deny', '/home/ada/Docs/Taxes', 'ada')]
  expect(closed(inside('ask', '/home/ada/Docs/Taxes'), ada)).toEqual(['/home/ada/Docs/Taxes'])
  expect(closed(inside('allow', '/home/ada/Docs'), everyone)).toEqual(['/home/ada/Docs/Taxes'])
  for (const opening of [
    inside('allow', '/home/ada/Docs/Taxes/Shared'),
    inside('ask', '/home/ada/Docs/Taxes', 'ada'),
    { ...inside('allow', '/home/ada/Docs/Taxes/Shared'), tool: 'read_file' },
    pattern('allow', 'Docs/taxes/open.txt', 'read_file'),
  ]) {
    expect(closed(everyone, opening)).toEqual([])
    expect(denied(everyone, opening)).toEqual(['/home/ada/Docs/Taxes'])
  }
  expect(denied(everyone, inside('allow', '/home/ada/Docs/Taxes', 'ada'))).toEqual([])
  expect(denied(everyone, inside('allow', '/home/ada/Docs/Taxes', 'bo'))).toEqual(['/home/ada/Docs/Taxes'])
})

it('holds a pattern that asks or denies against the source and the target of a move, too', () => {
  const call = {
    ...callOf('move_file'),
    subject: 'Docs/l/a.env -> Docs/out/a',
    realSubject: 'Docs/in/a.env -> Docs/out/a',
    alsoSubjects: ['Docs/l/a.env', 'Docs/in/a.env', 'Docs/out/a', 'Docs/out/a'],
  }
  const holds = (effect: RuleText['effect'], text: string) => rulesFor(createRuleSet([pattern(effect, text)]), call, null).length === 1
  expect(['*.env', 'docs/in/a.env', 'Docs/out*', 'Docs/in*'].filter((text) => !holds('deny', text) || !holds('ask', text))).toEqual([])
  expect([holds('deny', 'Docs/a'), holds('allow', '*.env'), holds('allow', 'Docs/out/*'), holds('allow', 'Docs/in/* -> *')]).not.toContain(
    true,
  )
  expect(holds('allow', 'Docs/*.env -> Docs/out/*')).toBe(true)
})

it('shows a scan only what its rules for places allow, or what they were asked about', () => {
  const call: CallFacts = { ...callOf('search_files'), effect: 'read', subject: 'Docs', paths: ['/home/ada/Docs'] }
  const shows = (path: string, ...rules: RuleText[]) => {
    const entry = { subject: `Docs/${path}`, realSubject: `Docs/${path}`, paths: [`/home/ada/Docs/${path}`] }
    return scanFilterFor(createRuleSet(rules), call, ['ada', 'bo'])?.(entry)
  }
  expect(shows('a', rule('deny', 'search_files'), pattern('allow', 'Docs/*'), pattern('deny', 'Docs/*', 'read_file'))).toBeUndefined()
  expect(shows('a', { ...pattern('deny', '*.env'), agentId: 'eve' })).toBeUndefined()
  expect([shows('a.ENV', pattern('deny', '*.env')), shows('a', pattern('deny', '*.env'))]).toEqual([false, true])
  expect(shows('keys.txt', { ...pattern('ask', 'Docs/keys.txt', 'search_files'), agentId: 'bo' })).toBe(false)
  expect(shows('in/a', pattern('deny', 'Docs/*'), pattern('allow', 'Docs/in/*'))).toBe(true)
  // It matches the call itself, which the person then allowed.
  expect(shows('a', { ...rule('ask', '*'), folder: '/home/ada/Docs' })).toBe(true)
})

it('holds a pattern against where links lead, too: one that allows must match both', () => {
  const call = { ...callOf('read_file'), subject: 'Docs/p/k', realSubject: 'Docs/private/k' }
  const holds = (effect: RuleText['effect'], text: string) =>
    rulesFor(createRuleSet([{ ...rule(effect, 'read_file'), pattern: text }]), call, null).length === 1
  expect([holds('deny', 'Docs/private/k'), holds('ask', 'Docs/p/*'), holds('deny', 'Docs/x')]).toEqual([true, true, false])
  expect([holds('allow', 'Docs/private/k'), holds('allow', 'Docs/p/*'), holds('allow', 'Docs/p*k')]).toEqual([false, false, true])
})
