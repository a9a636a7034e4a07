import {
  type DefaultError,
  InfiniteQueryObserver,
  type InfiniteData,
  keepPreviousData,
  QueryObserver,
  useQueryClient,
} from '@tanstack/solid-query'
import { batch, createComputed, createMemo, on, onCleanup, untrack } from 'solid-js'
import { createStore, reconcile } from 'solid-js/store'
import { useApi } from './ApiProvider.tsx'
import type { CallAnswer, CallRequest, JsonRoute } from './client.ts'
import { tagsOf } from './tags.ts'

/**
 * The data of a route. Reading it never suspends: a screen decides what to show while `data` is undefined. Rows keep their
 * identity by `id`, so a list updates in place.
 */
export type Loaded<T> = {
  readonly data: T | undefined
  /** Why the data could not be fetched or refreshed. */
  readonly error: unknown
  /** There is neither data nor an error yet. */
  readonly isPending: boolean
  readonly retry: () => void
}

/** A list in pages. */
export type Pages<T> = {
  readonly items: readonly T[]
  readonly error: unknown
  readonly isPending: boolean
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly more: () => void
  readonly retry: () => void
}

type AnyRequest = { params?: Record<string, string>; query?: Record<string, unknown> }
/** The hooks below check that name and request fit together. TypeScript cannot prove it for a generic name. */
type LooseCall = (name: JsonRoute, request: AnyRequest | null, options: { signal: AbortSignal }) => Promise<unknown>
type State<T> = { data: T | undefined; error: unknown; isPending: boolean; hasMore: boolean; isLoadingMore: boolean }
type Result = {
  data: unknown
  error: unknown
  isPending: boolean
  hasNextPage?: boolean
  isFetchingNextPage?: boolean
  isPlaceholderData: boolean
}

/**
 * Solid's own adapter reads data through a resource, which suspends whole screens. This store is fed by the same observer.
 * It gets a copy, because `reconcile` writes into its argument, which must not be the cache.
 */
function createResultStore<T>(first: Result) {
  const [state, setState] = createStore<State<T>>(toState<T>(first))
  const take = (result: Result) => {
    const { data, ...rest } = toState<T>(result)
    // In one batch, so that no screen sees "no error, not pending" without the data.
    batch(() => {
      setState(rest)
      if (data === undefined) setState('data', undefined)
      else setState('data', reconcile(data, { key: 'id' }) as never)
    })
  }
  return [state, take] as const
}

function toState<T>(result: Result): State<T> {
  return {
    data: result.data === undefined ? undefined : (structuredClone(result.data) as T),
    error: result.error,
    isPending: result.isPending,
    hasMore: result.hasNextPage ?? false,
    isLoadingMore: result.isFetchingNextPage ?? false,
  }
}

export type ObserveOptions = {
  /** Shows the previous data while the next is fetched, for example after a change of the filter. */
  keepPrevious?: boolean
  /** Changes without an event of ours (servers on this machine): fetched again on every mount and focus. */
  isOutside?: boolean
  /** Changes as time passes: fetched again after so many milliseconds while the page is seen. */
  everyMs?: number
}

/** For an answer that only ever grows: fetching again fetches what comes after the held part, and joins the two. */
export type Growth<A> = { after: (held: A) => Record<string, unknown>; join: (held: A, more: A) => A | Promise<A> }

/** Holds the data of a route that changes nothing, refreshed by events. A `null` request fetches nothing. */
export function useRoute<N extends JsonRoute>(
  name: N,
  request: () => CallRequest<N> | null,
  options: ObserveOptions & { grows?: Growth<CallAnswer<N>> } = {},
): Loaded<CallAnswer<N>> {
  const callLoosely = useApi().client.call as LooseCall
  const queries = useQueryClient()
  const query = createMemo(() => {
    const wanted = request() as AnyRequest | null
    return queries.defaultQueryOptions<CallAnswer<N>>({
      queryKey: [name, wanted],
      queryFn: async ({ signal, queryKey }) => {
        const { grows } = options
        const held = () => grows && queries.getQueryData<CallAnswer<N>>(queryKey)
        const before = held()
        const rest = before && { ...wanted, query: { ...wanted?.query, ...grows!.after(before) } }
        const fetched = (await callLoosely(name, rest ?? wanted, { signal })) as CallAnswer<N>
        // Read again: more may have come on a stream in the meantime.
        const now = held()
        return now === undefined ? fetched : grows!.join(now, fetched)
      },
      enabled: wanted !== null,
      meta: { tags: tagsOf(name, wanted?.params) },
      ...(options.keepPrevious && { placeholderData: keepPreviousData }),
      ...(options.everyMs !== undefined && { refetchInterval: options.everyMs }),
      ...(options.isOutside && { refetchOnMount: 'always' as const, refetchOnWindowFocus: 'always' as const }),
    })
  })
  const observer = new QueryObserver<CallAnswer<N>>(queries, untrack(query))
  const [state, take] = createResultStore<CallAnswer<N>>(observer.getOptimisticResult(untrack(query)))
  onCleanup(observer.subscribe(take))
  createComputed(
    on(
      query,
      (next) => {
        observer.setOptions(next)
        take(observer.getOptimisticResult(next))
      },
      { defer: true },
    ),
  )
  return {
    get data() {
      return state.data
    },
    get error() {
      return state.error
    },
    get isPending() {
      return state.isPending
    },
    retry: () => void observer.refetch(),
  }
}

/** Holds a keyset-paged list. `pick` returns the rows of a page; `params` are the parameters of the path. */
export function usePages<N extends JsonRoute, T>(
  name: N,
  query: () => Record<string, unknown> | null,
  pick: (answer: CallAnswer<N>) => T[],
  params: () => Record<string, string> | null = () => ({}),
  { everyMs }: Pick<ObserveOptions, 'everyMs'> = {},
): Pages<T> {
  const callLoosely = useApi().client.call as LooseCall
  const queries = useQueryClient()
  type Page = CallAnswer<N> & { nextCursor: string | null }
  const options = createMemo(() => {
    const filters = query()
    const of = params()
    return {
      queryKey: [name, 'pages', filters, of] as const,
      queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: unknown }) =>
        callLoosely(name, { params: of ?? {}, query: { ...filters, cursor: pageParam ?? undefined } }, { signal }) as Promise<Page>,
      initialPageParam: null as string | null,
      getNextPageParam: (last: Page) => last.nextCursor,
      enabled: filters !== null && of !== null,
      meta: { tags: tagsOf(name, of ?? undefined) },
      placeholderData: keepPreviousData as never,
      ...(everyMs !== undefined && { refetchInterval: everyMs }),
    }
  })
  const observer = new InfiniteQueryObserver<Page, DefaultError, InfiniteData<Page>, readonly unknown[], string | null>(
    queries,
    untrack(options),
  )
  const [state, take] = createResultStore<InfiniteData<Page>>(observer.getCurrentResult())
  onCleanup(observer.subscribe(take))
  createComputed(
    on(
      options,
      (next) => {
        observer.setOptions(next)
        take(observer.getCurrentResult())
      },
      { defer: true },
    ),
  )
  /** Instead of a refetch that is under way, which the cache would return in place of the next page. It is made up for. */
  const more = async () => {
    const { queryKey } = options()
    const { isFetching, isFetchingNextPage } = observer.getCurrentResult()
    await observer.fetchNextPage({ cancelRefetch: !isFetchingNextPage })
    if (isFetching && !isFetchingNextPage) void queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
  }
  const items = createMemo(() => state.data?.pages.flatMap((page) => pick(page)) ?? [])
  return {
    get items() {
      return items()
    },
    get error() {
      return state.error
    },
    get isPending() {
      return state.isPending
    },
    get hasMore() {
      return state.hasMore
    },
    get isLoadingMore() {
      return state.isLoadingMore
    },
    more: () => void more(),
    retry: () => void observer.refetch(),
  }
}
