import { describe, expect, it } from 'vitest'
import { NO_TAINTS, type CallFacts } from '../../contract/rules.ts'
import { createMessage, inEnglish } from '../../lib/messages.ts'
import { isSummaryComplete, warningsOf } from './deciding-facts.ts'

const facts = (argv: string[], subject: string, summary: string): CallFacts => ({
  tool: 'run_command',
  effect: 'once',
  subject,
  argv,
  paths: ['/home/ada/Work'],
  summary,
  runsCode: true,
  sandboxed: true,
  leavesMachine: false,
  costsMoney: false,
  deletes: false,
  overwrites: false,
})
const isComplete = (argv: string[], subject: string, summary: string) =>
  isSummaryComplete(inEnglish, { args: { command: argv, folder: 'Work' }, facts: facts(argv, subject, summary) })

describe('the summary of a command', () => {
  it('is complete for a short one', () => expect(isComplete(['npm', 'test'], 'npm test', 'Runs “npm test” in Work, sandboxed')).toBe(true))

  it('is not complete for a long one, even if its beginning contains each of its words', () => {
    const argv = ['find', '.', '-name', '-delete', ...Array<string>(200).fill('-name'), '-delete']
    const subject = argv.join(' ')
    expect(isComplete(argv, subject, `Runs “${subject.slice(0, 600)}… (${subject.length} characters) in Work, sandboxed`)).toBe(false)
  })

  it('is not complete without the warning of a look-alike', () => {
    const line = 'ssh \u0430pple.com'
    expect(isComplete(line.split(' '), line, `Runs “${line}” in Work, sandboxed`)).toBe(false)
  })

  it('is not complete for a shell line whose text repeats the words before it', () => {
    const line = 'echo bash --init-file ./x -ic'
    const argv = ['bash', '--init-file', './x', '-ic', line]
    const summary = `Runs the shell line “${line}” (read by bash) in Work, sandboxed`
    expect(isComplete(argv, `bash --init-file ./x -ic '${line}'`, summary)).toBe(false)
  })
})

it('warns of a command that can run files which nobody checks', () => {
  const shown = facts(['node', 'tool'], 'node tool', '')
  const warnings = (runsUnnamed: boolean) => warningsOf({ args: {}, facts: { ...shown, runsUnnamed }, taints: NO_TAINTS, question: null })
  expect(warnings(false)).toEqual([])
  expect(warnings(true)).toEqual([createMessage('approval_runs_unnamed')])
})
