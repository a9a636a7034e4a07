import { type Accessor, createSignal, onCleanup } from 'solid-js'

/**
 * One clock for the whole page: however many times are shown, one timer runs, and none while nothing shows a time.
 * Two paces, because "3 minutes ago" need not change every second.
 */
function createPace(everyMs: number): () => Accessor<number> {
  const [now, setNow] = createSignal(Date.now())
  let users = 0
  let timer: ReturnType<typeof setInterval> | undefined
  return () => {
    if (users++ === 0) {
      setNow(Date.now())
      timer = setInterval(() => setNow(Date.now()), everyMs)
    }
    onCleanup(() => {
      if (--users === 0) clearInterval(timer)
    })
    return now
  }
}

/** The time, refreshed every second: for elapsed times of what is running. */
export const useSeconds = createPace(1000)
/** The time, refreshed every 20 seconds: for "how long ago". */
export const useMinutes = createPace(20_000)
