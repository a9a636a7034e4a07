import { expect, it } from 'vitest'
import type { CallFacts } from '../../contract/rules.ts'
import { skillAgainst } from './skill-tools.ts'

const NOTHING = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false, summary: '' }
const call = (tool: string, more: Partial<CallFacts> = {}): CallFacts => ({ ...NOTHING, tool, subject: '', effect: 'once', ...more })
const command = (...argv: string[]) => call('run_command', { runsCode: true, paths: ['/docs'], argv })
const write = call('write_file', { paths: ['/docs/a.md'] })
const fetched = call('web_fetch', { effect: 'read', leavesMachine: true })

it.each<[string, string[], CallFacts, boolean]>([
  ['a tool by its name here', ['write_file'], write, true],
  ['a tool by the name that other programs give it', ['Read', 'Write'], write, true],
  ['writing, which a skill that only reads does not list', ['Read', 'Grep'], write, false],
  ['a command', ['Bash'], command('rm', '-r', 'x'), true],
  ['a command with these first words', ['Bash(git add:*)'], command('git', 'add', '.'), true],
  ['a command with other words', ['Bash(git add:*)'], command('git', 'push'), false],
  ['a program whose name only begins like that', ['Bash(git:*)'], command('git-evil'), false],
  ['words that are joined into one argument', ['Bash(git add:*)'], command('git add'), false],
  ['exactly this command', ['Bash(ls)'], command('ls'), true],
  ['this command with more arguments', ['Bash(ls)'], command('ls', '-a'), false],
  ['an empty pattern', ['Bash()'], command('ls'), false],
  ['only wildcards', ['Bash(*)'], command('ls'), true],
  ['a pattern of another kind', ['WebFetch(domain:x.example)'], fetched, false],
  ['a name that means nothing here', ['Everything', '*', ''], fetched, false],
  ['reading a file, which changes nothing', ['Bash'], call('read_file', { effect: 'read', paths: ['/docs/a.md'] }), true],
  ['a note of its own', ['Bash'], call('remember', { effect: 'idempotent' }), true],
  ['giving the work to another agent', ['Bash'], call('delegate', { delegates: true }), false],
])('says of %s by the list %j', (_, allowedTools, facts, isListed) => {
  expect(skillAgainst(facts, [{ name: 'one', allowedTools }]) === null).toBe(isListed)
})

it('narrows by every skill that has a list, so that another skill never gives back what one took away', () => {
  const skills = [{ name: 'silent', allowedTools: [] }, { name: 'writer', allowedTools: ['Write'] }, { name: 'reader', allowedTools: ['Read'] }] // prettier-ignore
  expect(skillAgainst(write, skills)?.name).toBe('reader')
  expect(skillAgainst(write, skills.slice(0, 2))).toBe(null)
  expect(skillAgainst(write, [])).toBe(null)
})
