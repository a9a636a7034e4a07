import { QueryClient, QueryClientProvider } from '@tanstack/solid-query'
import { type Accessor, createContext, createSignal, type JSX, onCleanup, onMount, useContext } from 'solid-js'
import { ApiError, type Client, createClient } from './client.ts'
import { type Connection, followEvents } from './events.ts'
import { createLive, type Live } from './live.ts'
import { createStaleBatch } from './stale-batch.ts'
import { isTouched, staleTagsOf } from './tags.ts'

export type Api = {
  client: Client
  live: Live
  /** Whether the page hears of what happens. */
  connection: Accessor<Connection>
  /** Try to connect now: it is known that the runner is back. */
  nudge: () => void
}

const ApiContext = createContext<Api>()

export function useApi(): Api {
  const api = useContext(ApiContext)
  if (api === undefined) throw new Error('useApi outside of ApiProvider')
  return api
}

/** Data stays fresh through events, so nothing is fetched twice on its own; loopback works without a network. */
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

export function ApiProvider(props: { client?: Client; children: JSX.Element }) {
  const client = props.client ?? createClient()
  const queries = createQueries()
  const live = createLive()
  const [connection, setConnection] = createSignal<Connection>('connecting')
  const markStale = createStaleBatch((stale) => {
    void queries.invalidateQueries({ predicate: ({ meta }) => isTouched((meta?.tags as string[] | undefined) ?? [], stale) })
  })
  let nudge = () => {}

  onMount(() => {
    const stream = followEvents(client, {
      onRecorded(event) {
        live.takeRecorded(event)
        markStale(staleTagsOf(event))
      },
      onLive: (event) => live.takeLive(event),
      onConnection(next) {
        setConnection(next)
        if (next !== 'open') return
        // What was read before the stream was open may have changed in between; live events are not repeated.
        live.forget()
        void queries.invalidateQueries()
      },
    })
    nudge = stream.nudge
    const onVisible = () => document.visibilityState === 'visible' && stream.nudge()
    document.addEventListener('visibilitychange', onVisible)
    window.addEventListener('online', stream.nudge)
    onCleanup(() => {
      stream.stop()
      document.removeEventListener('visibilitychange', onVisible)
      window.removeEventListener('online', stream.nudge)
      queries.clear()
    })
  })

  return (
    <QueryClientProvider client={queries}>
      <ApiContext.Provider value={{ client, live, connection, nudge: () => nudge() }}>{props.children}</ApiContext.Provider>
    </QueryClientProvider>
  )
}
