import type { SetAside } from '../protected-places/set-aside.ts'
import type { Recheck } from './sandbox-folders.ts'

const EVERY_MS = 1_000

export type PlaceWatch = {
  /** Resolves after a recheck that began after the call. Calls that come while one runs share the next. */
  recheck(): Promise<void>
  /** The program has ended. Resolves after the last recheck. */
  stop(): Promise<void>
}

/**
 * While a program runs, renames again and again what it puts where files run by themselves: the person's own git, shell or editor
 * may come by at any time. `told` gets each of them once. `activity`: the same twice only if nothing of the program has run in
 * between. What has appeared then is somebody else's, and stays.
 */
export function watchPlaces(
  recheck: Recheck,
  told: (setAside: readonly SetAside[]) => void,
  activity: () => string | null = () => null,
): PlaceWatch {
  /** Places that could not be renamed. Each recheck finds them again. */
  const stuck = new Set<string>()
  let last: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  let isOver = false
  /** Before the last search. */
  let lastActivity: string | null = null
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    const since = lastActivity
    lastActivity = activity()
    const hasRun = () => since === null || activity() !== since
    const found = (await recheck(isOver, hasRun)).filter(({ path, to }) => to !== null || !stuck.has(path))
    for (const { path, to } of found) if (to === null) stuck.add(path)
    if (found.length > 0) told(found)
  }

  function lookNext(): Promise<void> {
    next ??= last.then(() => {
      next = null
      // A listener that throws must neither end the watch nor keep the end of the program from being noticed.
      last = look().catch(() => {})
      return last
    })
    return next
  }

  async function lookAgain(): Promise<void> {
    const began = performance.now()
    await lookNext()
    // Takes at most a twentieth of the time, however large the folders are.
    if (!isOver) timer = setTimeout(() => void lookAgain(), Math.max(EVERY_MS, (performance.now() - began) * 19))
  }
  timer = setTimeout(() => void lookAgain(), EVERY_MS)

  return {
    recheck: lookNext,
    stop() {
      isOver = true
      clearTimeout(timer)
      return lookNext()
    },
  }
}
