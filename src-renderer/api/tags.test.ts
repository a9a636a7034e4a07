import { describe, expect, it } from 'vitest'
import { RECORDED_EVENTS, type RecordedEvent } from '../../src-runner/contract/events.ts'
import { ROUTES, type Route, type RouteName } from '../../src-runner/contract/routes.ts'
import { isTouched, staleTagsOf, tagsOf } from './tags.ts'

const JOB = '00000000-0000-7000-8000-000000000001'
const OTHER = '00000000-0000-7000-8000-000000000002'

const stepOf = (jobId: string, conversationId: string | null): RecordedEvent => ({
  type: 'job.step_recorded',
  payload: { jobId, conversationId, seq: 1, kind: 'reply', costUsd: 0 },
})

describe('tags', () => {
  it('match only the job of the event', () => {
    const stale = new Set(staleTagsOf(stepOf(JOB, null)))
    expect(isTouched(tagsOf('listSteps', { jobId: JOB }), stale)).toBe(true)
    expect(isTouched(tagsOf('getJob', { jobId: JOB }), stale)).toBe(true)
    expect(isTouched(tagsOf('getJob', { jobId: OTHER }), stale)).toBe(false)
    expect(isTouched(tagsOf('listAgents', undefined), stale)).toBe(false)
  })

  it('match a conversation only when the event has one', () => {
    const held = tagsOf('getConversation', { conversationId: OTHER })
    expect(isTouched(held, new Set(staleTagsOf(stepOf(JOB, OTHER))))).toBe(true)
    expect(isTouched(held, new Set(staleTagsOf(stepOf(JOB, null))))).toBe(false)
  })

  it('match all that shows the name of a renamed agent', () => {
    const stale = new Set(staleTagsOf({ type: 'agent.changed', payload: { agentId: JOB } }))
    const routes = ['listAgents', 'listApprovals', 'listCodeTasks', 'listTriggers', 'listSchedules', 'listJobs', 'listChannels'] as const
    for (const name of routes) expect([name, isTouched(tagsOf(name, undefined), stale)]).toEqual([name, true])
    expect(isTouched(tagsOf('getTrigger', { triggerId: OTHER }), stale)).toBe(true)
  })

  it('without an id match all things of their kind', () => {
    expect(isTouched(['job:1'], new Set(['job']))).toBe(true)
    expect(isTouched(['job'], new Set(['job:1']))).toBe(true)
    expect(isTouched(['job:1'], new Set(['jobs']))).toBe(false)
  })

  it('make every GET of the page stale with some event', () => {
    const payload = {
      jobId: JOB,
      agentId: JOB,
      conversationId: JOB,
      providerId: 'p',
      triggerId: JOB,
      scheduleId: JOB,
      authorizationId: JOB,
    }
    const everything = new Set(
      (Object.keys(RECORDED_EVENTS) as (keyof typeof RECORDED_EVENTS)[]).flatMap((type) =>
        staleTagsOf({ type, payload } as unknown as RecordedEvent),
      ),
    )
    const params = { jobId: JOB, conversationId: JOB, triggerId: JOB, scheduleId: JOB, authorizationId: JOB }
    for (const name of Object.keys(ROUTES) as RouteName[]) {
      const route: Route = ROUTES[name]
      if (route.shows === undefined) continue
      expect([name, isTouched(tagsOf(name, params), everything)]).toEqual([name, true])
    }
  })
})
