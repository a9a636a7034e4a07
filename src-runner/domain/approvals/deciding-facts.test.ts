import { describe, expect, it } from 'vitest'
import { NO_TAINTS, type CallFacts } from '../../contract/rules.ts'
import type { Message } from '../../contract/messages.ts'
import { createMessage, inEnglish } from '../../lib/messages.ts'
import { cutText } from '../../lib/text.ts'
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

describe('the summary of a call', () => {
  const isShown = (args: Record<string, unknown>, effectOn: Message, subject = JSON.stringify(args)) => {
    const { argv: _, ...call } = facts([], subject, '')
    return isSummaryComplete(inEnglish, { args, facts: { ...call, effectOn } })
  }
  const ofServer = (args: Record<string, unknown>) => {
    const shown = cutText(JSON.stringify(args), 600)
    return isShown(args, createMessage('effect_mcp', { tool: 'transfer', server: 'Bank', args: shown, acts: 'yes' }))
  }
  const request = { connection: 'Bank', url: 'https://bank.example/pay', method: 'POST' }
  const shown = { connection: 'Bank', hasAccount: 'no', account: '', method: 'POST', address: request.url, hasBody: 'yes' } as const
  const ofRequest = (args: Record<string, unknown>, body: string) =>
    isShown(
      { ...request, ...args },
      createMessage('effect_request', { ...shown, body: cutText(body, 1_000) }),
      `POST ${request.url} (Bank)`,
    )

  it('is complete if it has all arguments for a tool of a server', () => {
    expect(ofServer({ to: 'DE02', amount: 990_000, confirm: true })).toBe(true)
  })

  it.each([
    ['numbers and booleans', { to: 'DE02', pad: Array(400).fill(0), amount: 990_000, confirm: true }],
    ['a text that occurs before', { to: 'DE02', pad: Array(400).fill('DE99'), further: 'DE99' }],
    ['a key', { to: 'DE02', confirm: 'x', pad: Array(400).fill(0), x: 'confirm' }],
  ])('is not complete if it was cut before %s', (_, args) => expect(ofServer(args)).toBe(false))

  it('is complete for a request with a short body', () => {
    expect(ofRequest({ body: { amount: 5 } }, '{"amount":5}')).toBe(true)
    expect(ofRequest({ body: '{"amount":$&}' }, '{"amount":$&}')).toBe(true)
  })

  it('is not complete for a request with a long body', () => {
    const body = { pad: Array(600).fill(0), amount: 990_000 }
    expect(ofRequest({ body }, JSON.stringify(body))).toBe(false)
  })

  it('is not complete for a request with a header, even if its text occurs in the body', () => {
    expect(ofRequest({ headers: { amount: '5' }, body: { a: { amount: '5' } } }, '{"a":{"amount":"5"}}')).toBe(false)
  })
})

it('warns of a command that can run files which nobody checks', () => {
  const shown = facts(['node', 'tool'], 'node tool', '')
  const warnings = (runsUnnamed: boolean) => warningsOf({ args: {}, facts: { ...shown, runsUnnamed }, taints: NO_TAINTS, question: null })
  expect(warnings(false)).toEqual([])
  expect(warnings(true)).toEqual([createMessage('approval_runs_unnamed')])
})
