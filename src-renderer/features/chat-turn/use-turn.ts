import { type Accessor, createComputed, createEffect, createMemo, createSignal, on, onCleanup, untrack } from 'solid-js'
import { unwrap } from 'solid-js/store'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { ApiError } from '../../api/client.ts'
import { useSteps } from '../../api/queries.ts'
import { EMPTY_TURN, reduceTurn, type TurnInput, turnItems, type TurnItem, type TurnState } from './turn.ts'

export type FollowedTurn = {
  state: Accessor<TurnState>
  items: Accessor<TurnItem[]>
  /** Why the recorded steps could not be fetched. */
  error: Accessor<unknown>
  /** The recorded steps are still being fetched. */
  isPending: Accessor<boolean>
}

/**
 * One job's work: its recorded steps, and the live stream while `follows` is true. The stream begins with the text so far
 * and carries each new step. The steps before are fetched once the stream is open, so that no step is missed; a turn
 * that this page started has none.
 */
export function useTurn(source: {
  jobId: () => string | null
  /** The job's newest attempt that the page knows of. A job that waited continues with the next. */
  attempt: () => number
  wantsSteps: () => boolean
  follows: () => boolean
}): FollowedTurn {
  const { turns } = useApi()
  const [state, setState] = createSignal(EMPTY_TURN)
  const take = (input: TurnInput) => setState((held) => reduceTurn(held, input))
  const jobId = createMemo(source.jobId)
  // Created before the query of the steps, so that it does not discard steps of the next job that the page holds already.
  createComputed(on(jobId, () => setState(EMPTY_TURN), { defer: true }))
  // The attempt in which the stream ended with a job that waits. The page may see the job again only when it has continued.
  const [waitedIn, setWaitedIn] = createSignal<number | null>(null)
  const follows = createMemo(source.follows)
  createComputed(on([jobId, follows], () => setWaitedIn(null), { defer: true }))
  const followed = createMemo(() => (follows() && source.attempt() > (waitedIn() ?? -1) ? jobId() : null))
  const [opened, setOpened] = createSignal<string | null>(null)
  const ready = createMemo<string | null>((before) => {
    const id = jobId()
    return id === before || followed() === null || opened() === id ? id : null
  }, null)
  const steps = useSteps(() => (source.wantsSteps() ? ready() : null))

  createComputed(() => {
    const recorded = steps.data?.steps
    if (recorded === undefined || recorded.length === 0) return
    // A recorded step never changes, so the objects inside the store can be kept.
    take({ type: 'steps', steps: [...unwrap(recorded)] })
  })

  async function follow(id: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of turns.follow(id, signal)) {
        if (signal.aborted) return
        if (event.type === 'attached' || event.type === 'step') setOpened(id)
        take(event)
        if (event.type === 'done' && !isTerminal(event.status)) setWaitedIn(untrack(source.attempt))
      }
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || signal.aborted) return
      setOpened(id)
      const { code, message, detail = { code: 'quoted', params: { words: message } } } = thrown
      take({ type: 'error', error: code, message, detail })
    }
  }

  createEffect(
    on(followed, (id) => {
      if (id === null) return
      const controller = new AbortController()
      onCleanup(() => controller.abort())
      void follow(id, controller.signal)
    }),
  )

  return {
    state,
    items: createMemo(() => turnItems(state())),
    error: () => steps.error,
    isPending: () => steps.isPending && source.wantsSteps(),
  }
}
