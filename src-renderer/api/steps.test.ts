import { QueryClient } from '@tanstack/solid-query'
import { describe, expect, it } from 'vitest'
import type { Step } from '../../src-runner/contract/jobs.ts'
import { joinSteps, keepStep, lastWithoutGap, stepsKey } from './steps.ts'

const JOB = '00000000-0000-7000-8000-000000000001'

function step(seq: number): Step {
  return { kind: 'tool_started', seq, attempt: 1, createdAt: 0, durationMs: 0, callId: 'c', name: 'read_file' }
}

describe('steps of a job', () => {
  it('are joined in order, each once', () => {
    const held = [step(1), step(3)]
    expect(joinSteps(held, [step(2), step(3)]).map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(joinSteps(held, [step(3)])).toBe(held)
  })

  it('are fetched from the first gap on', () => {
    expect([[], [step(1), step(2)], [step(1), step(3)], [step(2)]].map(lastWithoutGap)).toEqual([0, 2, 1, 0])
  })

  it('stay fresh when a stream brings the next one, and are stale while one is missing', () => {
    const queries = new QueryClient()
    const isStale = () => queries.getQueryState(stepsKey(JOB))!.isInvalidated
    keepStep(queries, JOB, step(1))
    keepStep(queries, JOB, step(2))
    expect(isStale()).toBe(false)
    keepStep(queries, JOB, step(4))
    expect(isStale()).toBe(true)
  })
})
