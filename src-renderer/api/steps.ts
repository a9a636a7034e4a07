import type { QueryClient } from '@tanstack/solid-query'
import type { Step } from '../../src-runner/contract/jobs.ts'
import type { RouteAnswer } from '../../src-runner/contract/routes.ts'

/** Both lists in order, each step once. Returns `held` itself when `more` has nothing new. */
export function joinSteps(held: readonly Step[], more: readonly Step[]): readonly Step[] {
  const known = new Set(held.map((step) => step.seq))
  const fresh = more.filter((step) => !known.has(step.seq))
  return fresh.length === 0 ? held : [...held, ...fresh].toSorted((a, b) => a.seq - b.seq)
}

/** Steps are numbered 1, 2, 3 …: the last one before the first that is missing, or 0. */
export function lastWithoutGap(steps: readonly Step[]): number {
  const gap = steps.findIndex((step, index) => step.seq !== index + 1)
  return gap === -1 ? steps.length : gap
}

/** The key under which `useSteps` holds the steps of a job. */
export function stepsKey(jobId: string): readonly unknown[] {
  return ['listSteps', { params: { jobId } }]
}

/** Keeps a step that a stream brought, so that it is not fetched. A step missing before it is fetched. */
export function keepStep(queries: QueryClient, jobId: string, step: Step): void {
  const queryKey = stepsKey(jobId)
  const held = queries.getQueryData<RouteAnswer<'listSteps'>>(queryKey)
  const steps = [...joinSteps(held?.steps ?? [], [step])]
  queries.setQueryData<RouteAnswer<'listSteps'>>(queryKey, { steps })
  if (lastWithoutGap(steps) < steps.length) void queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
}
