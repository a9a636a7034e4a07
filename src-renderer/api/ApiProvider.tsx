import { QueryClient, QueryClientProvider, type QueryFilters } from '@tanstack/solid-query'
import { type Accessor, createContext, createSignal, type JSX, onCleanup, onMount, useContext } from 'solid-js'
import { ApiError, type Client, createClient } from './client.ts'
import { type Connection, followEvents } from './events.ts'
import { createLive, type Live } from './live.ts'
import { useSession } from './SessionProvider.tsx'
import { createStaleBatch } from './stale-batch.ts'
import { keepStep, stepsKey } from './steps.ts'
import { isTouched, staleTagsOf } from './tags.ts'
import { createTurnStreams, type TurnStreams } from './turn-streams.ts'

export type Api = {
  client: Client
  live: Live
  turns: TurnStreams
  /** The state of the event stream. */
  connection: Accessor<Connection>
  /** Connects now instead of after the wait, for when the runner is known to be back. */
  nudge: () => void
}

const ApiContext = createContext<Api>()

export function useApi(): Api {
  const api = useContext(ApiContext)
  if (api === undefined) throw new Error('useApi outside of ApiProvider')
  return api
}

/** Events keep the data fresh, so nothing is refetched by time or focus. Loopback works without a network. */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 5 * 60_000,
        networkMode: 'always',
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) => error instanceof ApiError && error.code === 'runner_unavailable' && failures < 3,
        retryDelay: (attempt) => 300 * 2 ** attempt,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}

/**
 * Refetches the queries in use and marks the others as stale. A fetch that is under way may have been answered before the
 * event, so such a query is fetched again once that answer has arrived: starting over would show nothing new while events
 * come faster than answers. `startsOver`: the connection was lost, so an answer may never arrive.
 */
function refresh(queries: QueryClient, filters: QueryFilters = {}, { startsOver = false } = {}): void {
  const options = { cancelRefetch: startsOver }
  for (const query of queries.getQueryCache().findAll(filters)) {
    if (query.state.fetchStatus === 'idle' || (startsOver && query.state.data !== undefined)) continue
    const again = () => void queries.invalidateQueries({ queryKey: query.queryKey, exact: true }, options)
    query.promise?.then(again, again)
  }
  void queries.invalidateQueries(filters, options)
}

export function ApiProvider(props: { client?: Client; children: JSX.Element }) {
  const client = props.client ?? useSession()?.client ?? createClient()
  const queries = createQueries()
  const live = createLive()
  const turns = createTurnStreams(client, {
    keepStep: (jobId, step) => keepStep(queries, jobId, step),
    fetchSteps: (jobId) => refresh(queries, { queryKey: stepsKey(jobId), exact: true }, { startsOver: true }),
  })
  const [connection, setConnection] = createSignal<Connection>('connecting')
  const staleBatch = createStaleBatch((stale) => {
    refresh(queries, { predicate: ({ meta }) => isTouched((meta?.tags as string[] | undefined) ?? [], stale) })
  })
  const isStreamed = (tag: string) => tag.startsWith('steps:') && turns.isFollowed(tag.slice('steps:'.length))
  let nudge = () => {}

  onMount(() => {
    const stream = followEvents(client, {
      onRecorded(event) {
        live.takeRecorded(event)
        staleBatch.mark(staleTagsOf(event).filter((tag) => !isStreamed(tag)))
      },
      onLive(event) {
        live.takeLive(event)
        if (event.type === 'database.changed') staleBatch.mark(['attention'])
      },
      onConnection(next) {
        setConnection(next)
        if (next !== 'open') return
        // Data fetched before the stream was open may have changed since, and live events are not repeated.
        live.forget()
        refresh(queries, {}, { startsOver: true })
      },
    })
    nudge = stream.nudge
    const onVisible = () => document.visibilityState === 'visible' && stream.nudge()
    document.addEventListener('visibilitychange', onVisible)
    window.addEventListener('online', stream.nudge)
    onCleanup(() => {
      stream.stop()
      turns.stop()
      staleBatch.stop()
      document.removeEventListener('visibilitychange', onVisible)
      window.removeEventListener('online', stream.nudge)
      queries.clear()
    })
  })

  return (
    <QueryClientProvider client={queries}>
      <ApiContext.Provider value={{ client, live, turns, connection, nudge: () => nudge() }}>{props.children}</ApiContext.Provider>
    </QueryClientProvider>
  )
}
