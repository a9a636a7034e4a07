import { createSignal, onCleanup, onMount } from 'solid-js'

const STORED_AS = 'deckhand.presence'
/** Whoever has not touched the window for so long was away. */
export const AWAY_MS = 6 * 3_600_000
/** More often it need not be written down. */
const EVERY_MS = 30_000

type Presence = {
  /** When the person last pressed or typed something in the window. */
  at: number
  /** Since when they were away, until they say that they have seen what happened. */
  awayFrom: number | null
}

function read(): Presence | null {
  try {
    const { at, awayFrom } = JSON.parse(localStorage.getItem(STORED_AS) ?? 'null') as Partial<Presence>
    return typeof at === 'number' ? { at, awayFrom: typeof awayFrom === 'number' ? awayFrom : null } : null
  } catch {
    return null
  }
}

const [presence, setPresence] = createSignal(read())

function write(next: Presence): void {
  localStorage.setItem(STORED_AS, JSON.stringify(next))
  setPresence(next)
}

/** The person is here. After a long while, that is the end of an absence. */
export function notePresence(now: number): void {
  const known = read()
  if (known !== null && now >= known.at && now - known.at < EVERY_MS) return
  const wasAway = known !== null && now - known.at >= AWAY_MS
  write({ at: now, awayFrom: known?.awayFrom ?? (wasAway ? known.at : null) })
}

/** Since when the person has been away, or was and has not said yet that they have seen what happened; null: never. */
export function awaySince(now: number): number | null {
  const known = presence()
  if (known === null) return null
  return known.awayFrom ?? (now - known.at >= AWAY_MS ? known.at : null)
}

export function markBack(now: number): void {
  write({ at: now, awayFrom: null })
}

const SIGNS_OF_LIFE = ['pointerdown', 'keydown', 'wheel'] as const

/** Notifications that somebody is at the window. A pointer that only lies over it says nothing: the page moving under it looks the same. */
export function usePresence(): void {
  const note = () => notePresence(Date.now())
  onMount(() => {
    setPresence(read())
    if (presence() === null) note()
    for (const sign of SIGNS_OF_LIFE) addEventListener(sign, note, { capture: true, passive: true })
    onCleanup(() => SIGNS_OF_LIFE.forEach((sign) => removeEventListener(sign, note, { capture: true })))
  })
}

// Another window of the same browser is where the person is.
addEventListener('storage', (event) => event.key === STORED_AS && setPresence(read()))
