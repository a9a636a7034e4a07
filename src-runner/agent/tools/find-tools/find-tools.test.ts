import { expect, it } from 'vitest'
import { z } from 'zod'
import type { PromptMessage } from '../../providers/model.ts'
import { callTool } from '../../../testing/scratch-folder.ts'
import { defineTool, type Tool } from '../tool.ts'
import { findToolsTool, toolsInUse, type FindableTool } from './find-tools.ts'

const TOOLS: FindableTool[] = [
  { name: 'hub__create_issue', server: 'Hub', title: null, description: 'Opens an issue in a repository.' },
  { name: 'hub__listPullRequests', server: 'Hub', title: 'List pull requests', description: 'Lists them.' },
  { name: 'mail__send', server: 'Mail', title: null, description: 'Sends a message. create issue pull request, create issue' },
  { name: 'mail__search', server: 'Mail', title: 'Search mail', description: 'Finds messages.' },
]

const finder = (now = TOOLS.map(({ name }) => name)) => findToolsTool(TOOLS, () => new Set(now))
const find = async (words: string, tool = finder()) => (await callTool(tool, { words }, [])).output

it.each([
  ['create an issue', 'Available from now on: hub__create_issue, mail__send'],
  ['pull requests', 'Available from now on: hub__listPullRequests, mail__send'],
  ['mail__send hub__create_issue', 'Available from now on: hub__create_issue, mail__send'],
  ['search my messages', 'Available from now on: mail__search, mail__send'],
  ['weather', 'No tool fits these words'],
])('finds tools for %j, best first', async (words, output) => {
  expect(await find(words)).toContain(output)
})

it('finds nothing that the agent may no longer use', async () => {
  expect(await find('create issue', finder(['mail__send']))).toBe('Available from now on: mail__send')
})

it('names servers and tools, with an end', () => {
  expect(finder().description).toContain('- "Hub": hub__create_issue, hub__listPullRequests\n- "Mail": mail__send, mail__search')
  const many = Array.from({ length: 500 }, (_, i) => ({ ...TOOLS[0]!, name: `hub__tool_${i}` }))
  expect(findToolsTool(many, () => new Set()).description).toMatch(/hub__tool_59, and 440 more$/)
})

it('shows what was found or called behind the rest, in that order', () => {
  const tool = (name: string, onDemand: boolean): Tool =>
    defineTool({
      name,
      onDemand,
      description: '',
      args: z.object({}),
      effect: 'read',
      parallel: true,
      run: async () => ({ ok: true, output: '' }),
    })
  const tools = [tool('read_file', false), ...['a__1', 'a__2', 'a__3', 'a__4'].map((name) => tool(name, true)), tool('last', false)]
  const found = (output: string, name = 'find_tools'): PromptMessage => ({ role: 'tool', callId: output, name, ok: true, output })
  const messages: PromptMessage[] = [
    found('Available from now on: a__3, a__1'),
    found('Available from now on: a__4', 'web_fetch'),
    { role: 'assistant', text: '', toolCalls: [{ callId: 'c', name: 'a__2', args: {} }] },
    found('Available from now on: a__1, gone__1'),
  ]
  const names = (count: number) => toolsInUse(tools, messages.slice(0, count)).map(({ name }) => name)
  expect(names(0)).toEqual(['read_file', 'last'])
  expect(names(2)).toEqual(['read_file', 'last', 'a__3', 'a__1'])
  expect(names(4)).toEqual(['read_file', 'last', 'a__3', 'a__1', 'a__2'])
})
