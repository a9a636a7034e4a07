import { type InfiniteData, type QueryClient, useQueryClient } from '@tanstack/solid-query'
import { createSignal } from 'solid-js'
import type { Approval } from '../../src-runner/contract/approvals.ts'
import { useApi } from './ApiProvider.tsx'
import type { CallAnswer, CallRequest, JsonRoute } from './client.ts'

/** Something the person does. `run` rejects with an `ApiError`, which stays in `error` until the next run. */
export type Action<N extends JsonRoute> = {
  run: (request: CallRequest<N>) => Promise<CallAnswer<N>>
  readonly isRunning: boolean
  readonly error: unknown
  readonly reset: () => void
}

/** Changes the cache before the runner responds. Returns a function that undoes the change. */
type Foresee<N extends JsonRoute> = (queries: QueryClient, request: CallRequest<N>) => () => void

/** Calls a route that changes something. The events of the change refresh the page. */
export function useAction<N extends JsonRoute>(name: N, foresee?: Foresee<N>): Action<N> {
  const { client } = useApi()
  const queries = useQueryClient()
  const [running, setRunning] = createSignal(0)
  const [error, setError] = createSignal<unknown>(null)
  return {
    async run(request) {
      setError(null)
      setRunning((count) => count + 1)
      const takeBack = foresee?.(queries, request)
      try {
        return await (client.call as (name: N, request: CallRequest<N>) => Promise<CallAnswer<N>>)(name, request)
      } catch (thrown) {
        takeBack?.()
        setError(thrown)
        throw thrown
      } finally {
        setRunning((count) => count - 1)
      }
    },
    get isRunning() {
      return running() > 0
    },
    get error() {
      return error()
    },
    reset: () => setError(null),
  }
}

/** Shows the job as stopping at once; the runner needs up to two seconds. */
export const useCancelJob = () =>
  useAction('cancelJob', (queries, { params: { jobId } }) => {
    const key = ['getJob', { params: { jobId } }]
    const before = queries.getQueryData<CallAnswer<'getJob'>>(key)
    if (before !== undefined) queries.setQueryData(key, { job: { ...before.job, cancelRequested: true } })
    return () => {
      // In what is held now, as the job may have changed meanwhile. A runner that cannot be reached does not say that it goes on.
      queries.setQueryData<CallAnswer<'getJob'>>(
        key,
        (held) => held && before && { job: { ...held.job, cancelRequested: before.job.cancelRequested } },
      )
      void queries.invalidateQueries({ queryKey: key })
    }
  })

/** Shows the approval as answered at once, wherever it is shown, until the runner's data replaces it. */
export const useResolveApproval = () =>
  useAction('resolveApproval', (queries, { body }) => {
    const status = body.decision === 'approve' ? ('approved' as const) : ('rejected' as const)
    const answeredAt = Date.now()
    const answered = (approval: Approval): Approval =>
      approval.id === body.approvalId && approval.status === 'pending'
        ? {
            ...approval,
            status,
            remember: body.remember ?? 'once',
            note: body.note ?? null,
            answer: body.answer ?? null,
            answeredAt,
          }
        : approval
    const reopened = (approval: Approval): Approval =>
      approval.id === body.approvalId && approval.answeredAt === answeredAt
        ? { ...approval, status: 'pending', remember: null, note: null, answer: null, answeredAt: null }
        : approval
    const change = (changed: (approval: Approval) => Approval, pending: 1 | -1) => {
      queries.setQueriesData<CallAnswer<'getApproval'>>(
        { queryKey: ['getApproval'] },
        (held) => held && { approval: changed(held.approval) },
      )
      queries.setQueriesData<Partial<CallAnswer<'listApprovals'>>>({ queryKey: ['listApprovals'] }, (held) => {
        // Under the same name there are also paged lists, of approvals that were answered before.
        if (held?.approvals === undefined || held.pending === undefined) return held
        const approvals = held.approvals.map(changed)
        const isHeld = approvals.some((approval, at) => approval !== held.approvals![at])
        return { ...held, approvals, pending: isHeld ? Math.max(0, held.pending + pending) : held.pending }
      })
    }
    change(answered, -1)
    return () => {
      // A runner that cannot be reached does not say that it still waits.
      change(reopened, 1)
      // Somebody else was first, or it is too late: only the runner knows its state.
      void queries.invalidateQueries({ queryKey: ['getApproval'] })
      void queries.invalidateQueries({ queryKey: ['listApprovals'] })
    }
  })

/** Removes the rule from the list at once. */
export const useDeleteRule = () =>
  useAction('deleteRule', (queries, { params: { ruleId } }) => {
    queries.setQueriesData<InfiniteData<CallAnswer<'listRules'>>>(
      { queryKey: ['listRules', 'pages'] },
      (held) => held && { ...held, pages: held.pages.map((page) => ({ ...page, rules: page.rules.filter((rule) => rule.id !== ruleId) })) },
    )
    return () => void queries.invalidateQueries({ queryKey: ['listRules'] })
  })

/** Checks the sandbox and keeps the result. No event announces it. */
export function useCheckSandbox(): { run: () => Promise<void>; readonly isRunning: boolean } {
  const queries = useQueryClient()
  const check = useAction('checkSandbox')
  return {
    async run() {
      queries.setQueryData(['getSandbox', {}], await check.run({}))
    },
    get isRunning() {
      return check.isRunning
    },
  }
}

/** Makes a backup and reads the list again. No event announces it. */
export function useMakeBackup(): { run: () => Promise<void>; readonly isRunning: boolean } {
  const queries = useQueryClient()
  const make = useAction('makeBackup')
  return {
    async run() {
      try {
        await make.run({})
      } finally {
        await queries.invalidateQueries({ queryKey: ['listBackups'] })
      }
    },
    get isRunning() {
      return make.isRunning
    },
  }
}

const showSettings = (queries: QueryClient, { body }: CallRequest<'updateSettings' | 'setPauseAll'>) => {
  const key = ['getSettings', {}]
  const before = queries.getQueryData<CallAnswer<'getSettings'>>(key)
  if (before !== undefined) queries.setQueryData(key, { settings: { ...before.settings, ...body } })
  return () => {
    queries.setQueryData(key, before)
    // Something else may have changed meanwhile.
    void queries.invalidateQueries({ queryKey: key })
  }
}

/** Both show the new settings at once. */
export const useUpdateSettings = () => useAction('updateSettings', showSettings)
export const useSetPauseAll = () => useAction('setPauseAll', showSettings)

const triggerIs = (status: 'active' | 'paused') => (queries: QueryClient, request: { params: { triggerId: string } }) => {
  const key = ['getTrigger', { params: request.params }]
  const before = queries.getQueryData<CallAnswer<'getTrigger'>>(key)
  if (before !== undefined) queries.setQueryData(key, { trigger: { ...before.trigger, status } })
  return () => {
    queries.setQueryData(key, before)
    void queries.invalidateQueries({ queryKey: key })
  }
}
export const usePauseTrigger = () => useAction('pauseTrigger', triggerIs('paused'))
export const useResumeTrigger = () => useAction('resumeTrigger', triggerIs('active'))
