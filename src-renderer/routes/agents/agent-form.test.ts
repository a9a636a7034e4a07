import { describe, expect, it } from 'vitest'
import { CreateAgent } from '../../../src-runner/contract/agents.ts'
import { makeAgent } from '../../testing/things.ts'
import { bodyOf, fieldOfIssue, formOf, problemsOf } from './agent-form.ts'

describe('the form of an agent', () => {
  it('sends exactly what it was filled with', () => {
    const agent = makeAgent({
      name: 'Ada',
      avatar: '🚀',
      model: { providerId: 'p', model: 'org/large:free' },
      fallbacks: [{ providerId: 'q', model: 'm' }],
      folders: ['/srv/notes'],
      limits: { maxTurns: 7, maxCostUsd: 0.5, maxWorkingMs: 90_000, maxToolCalls: 0 },
      budgets: { dayUsd: 2.5, monthUsd: null },
    })
    expect(CreateAgent.parse(bodyOf(formOf(agent)))).toEqual({
      name: 'Ada',
      avatar: '🚀',
      instructions: '',
      model: agent.model,
      fallbacks: agent.fallbacks,
      autonomy: agent.autonomy,
      folders: agent.folders,
      limits: agent.limits,
      budgets: agent.budgets,
    })
  })

  it.each([
    ['name', '  ', 'Enter a name.'],
    ['name', 'x'.repeat(121), 'Use at most 120 characters.'],
    ['avatar', 'abcdefghijk', 'Use two letters or one emoji.'],
    ['instructions', 'x'.repeat(100_001), 'Use at most 100,000 characters.'],
    ['maxTurns', '', 'Enter a number.'],
    ['maxTurns', 'many', 'Enter a number.'],
    ['maxTurns', '2.5', 'Enter a whole number.'],
    ['maxTurns', '0', 'Enter a number between 1 and 1,000.'],
    ['maxCostUsd', '0', 'Enter a number between 0.01 and 1,000.'],
    ['maxCostUsd', '1000000', 'Enter a number between 0.01 and 1,000.'],
    ['maxCostUsd', '1e9', 'Enter a number.'],
    ['maxWorkingMinutes', '1441', 'Enter a number between 1 and 1,440.'],
    ['maxToolCalls', '-1', 'Enter a number between 0 and 10,000.'],
    ['dayUsd', '0', 'Enter a number between 0.01 and 100,000.'],
    ['monthUsd', 'lots', 'Enter a number.'],
  ] as const)('%s %j is a problem', (field, value, problem) => {
    expect(problemsOf({ ...formOf(makeAgent()), [field]: value }, 'en')).toEqual({ [field]: problem })
  })

  it('accepts a number as its own messages write it', () => {
    const form = { ...formOf(makeAgent()), maxToolCalls: '10,000' }
    expect(problemsOf(form, 'en')).toEqual({})
    expect(bodyOf(form).limits?.maxToolCalls).toBe(10_000)
  })

  // Seven, ten and seven code points; eleven, fifteen and fourteen units of a string.
  it.each(['👨‍👩‍👧‍👦', '👩🏽‍❤️‍💋‍👨🏿', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'])('takes %s, which is one emoji', (avatar) => {
    const form = { ...formOf(makeAgent()), avatar }
    expect(problemsOf(form, 'en')).toEqual({})
    expect(CreateAgent.parse(bodyOf(form)).avatar).toBe(avatar)
  })

  it('accepts only what the contract accepts, with a decimal comma too', () => {
    const form = { ...formOf(makeAgent()), maxCostUsd: '1,50', maxWorkingMinutes: '0090' }
    expect(problemsOf(form, 'en')).toEqual({})
    expect(CreateAgent.parse(bodyOf(form)).limits).toMatchObject({ maxCostUsd: 1.5, maxWorkingMs: 5_400_000 })
  })

  it.each([
    ['name', 'name'],
    ['body.name', 'name'],
    ['folders.2', 'folders'],
    ['limits.maxCostUsd', 'maxCostUsd'],
    ['limits.maxWorkingMs', 'maxWorkingMinutes'],
    ['model.providerId', 'model'],
    ['budgets.monthUsd', 'monthUsd'],
    ['entityId', null],
  ])('an issue at %s belongs to %s', (path, field) => {
    expect(fieldOfIssue(path)).toBe(field)
  })
})
