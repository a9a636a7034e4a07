import { createSignal, onCleanup, onMount } from 'solid-js'

const STORED_AS = 'deckhand.presence'
/** A person who has not used the window for this long was away. */
export const AWAY_MS = 6 * 3_600_000
/** How often presence is stored at most. */
const EVERY_MS = 30_000

type Presence = {
  /** When the person last pressed or typed something in the window. */
  at: number
  /** The start of their last absence, until they dismiss its summary. */
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

/** Notes that the person is here. After a long time without a note, this ends an absence. */
export function notePresence(now: number): void {
  const known = read()
  if (known !== null && now >= known.at && now - known.at < EVERY_MS) return
  const wasAway = known !== null && now - known.at >= AWAY_MS
  write({ at: now, awayFrom: known?.awayFrom ?? (wasAway ? known.at : null) })
}

/** The start of the current absence, or of the last one until its summary is dismissed. null: there is none. */
export function awaySince(now: number): number | null {
  const known = presence()
  if (known === null) return null
  return known.awayFrom ?? (now - known.at >= AWAY_MS ? known.at : null)
}

export function markBack(now: number): void {
  write({ at: now, awayFrom: null })
}

const SIGNS_OF_LIFE = ['pointerdown', 'keydown', 'wheel'] as const

/** Events that show that somebody uses the window. Pointer moves do not count: content moving under a still pointer looks the same. */
export function usePresence(): void {
  const note = () => notePresence(Date.now())
  onMount(() => {
    setPresence(read())
    if (presence() === null) note()
    for (const sign of SIGNS_OF_LIFE) addEventListener(sign, note, { capture: true, passive: true })
    onCleanup(() => SIGNS_OF_LIFE.forEach((sign) => removeEventListener(sign, note, { capture: true })))
  })
}

// The person is at another window of the same browser.
addEventListener('storage', (event) => event.key === STORED_AS && setPresence(read()))
