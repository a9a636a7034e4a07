import { createEffect, createSignal, onCleanup } from 'solid-js'
import { useApi } from './ApiProvider.tsx'
import type { CallAnswer, CallRequest, JsonRoute } from './client.ts'

/** The data for the last input. It stays until the next data arrives, so that nothing flickers while typing. */
export type Written<T> = { readonly data: T | undefined; readonly error: unknown }

/** Long enough to type a word, short enough to feel live. */
const PAUSE_MS = 200

/**
 * Fetches data for input that the person is typing: after a pause, and only for the last input. It is not cached, because
 * half-typed input does not come again. A `null` request fetches nothing.
 */
export function useWhileWriting<N extends JsonRoute>(name: N, request: () => CallRequest<N> | null): Written<CallAnswer<N>> {
  const call = useApi().client.call as (name: N, request: CallRequest<N>, options: { signal: AbortSignal }) => Promise<CallAnswer<N>>
  const [held, setHeld] = createSignal<Written<CallAnswer<N>>>({ data: undefined, error: null })
  createEffect<boolean>((hadRequest) => {
    const current = request()
    if (current === null) {
      setHeld({ data: undefined, error: null })
      return hadRequest
    }
    const aborter = new AbortController()
    const fetchNow = async () => {
      try {
        const data = await call(name, current, { signal: aborter.signal })
        setHeld({ data, error: null })
      } catch (error) {
        if (!aborter.signal.aborted) setHeld((before) => ({ data: before.data, error }))
      }
    }
    const timer = setTimeout(() => void fetchNow(), hadRequest ? PAUSE_MS : 0)
    onCleanup(() => {
      clearTimeout(timer)
      aborter.abort()
    })
    return true
  }, false)
  return {
    get data() {
      return held().data
    },
    get error() {
      return held().error
    },
  }
}
