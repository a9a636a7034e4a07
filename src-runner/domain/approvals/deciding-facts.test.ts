import { describe, expect, it } from 'vitest'
import type { CallFacts } from '../../contract/rules.ts'
import { isSummaryComplete } from './deciding-facts.ts'

const facts = (argv: string[], subject: string, summary: string): CallFacts => ({
  ...{ tool: 'run_command', effect: 'once', subject, argv, paths: ['/home/ada/Work'], summary, runsCode: true, sandboxed: true },
  ...{ leavesMachine: false, costsMoney: false, deletes: false, overwrites: false },
})
const isSaid = (argv: string[], subject: string, summary: string) =>
  isSummaryComplete({ args: { command: argv, folder: 'Work' }, facts: facts(argv, subject, summary) })

describe('the summary of a command', () => {
  it('says all of a short one', () => expect(isSaid(['npm', 'test'], 'npm test', 'Runs “npm test” in Work, sandboxed')).toBe(true))

  it('does not say a long one, though each of its words occurs in the beginning', () => {
    const argv = ['find', '.', '-name', '-delete', ...Array<string>(200).fill('-name'), '-delete']
    const subject = argv.join(' ')
    expect(isSaid(argv, subject, `Runs “${subject.slice(0, 600)}… (${subject.length} characters) in Work, sandboxed`)).toBe(false)
  })

  it('does not say a shell line whose text repeats the words before it', () => {
    const line = 'echo bash --init-file ./x -ic'
    const argv = ['bash', '--init-file', './x', '-ic', line]
    const summary = `Runs the shell line “${line}” (read by bash) in Work, sandboxed`
    expect(isSaid(argv, `bash --init-file ./x -ic '${line}'`, summary)).toBe(false)
  })
})
