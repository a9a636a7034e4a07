import { type Accessor, createSignal, onCleanup } from 'solid-js'

/**
 * One timer for all times that the page shows, and none while it shows no time. There are two paces, because
 * "3 minutes ago" need not change every second.
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

/** The current time, refreshed every second, for elapsed times. */
export const useSeconds = createPace(1000)
/** The current time, refreshed every 20 seconds, for relative times. */
export const useMinutes = createPace(20_000)
