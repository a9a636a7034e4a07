import { createSignal } from 'solid-js'

const STORED_AS = 'deckhand.seen-jobs'
/** About 400 kB. The oldest jobs are dropped first. */
const MOST = 10_000

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? '[]')
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}

const [seen, setSeen] = createSignal<ReadonlySet<string>>(new Set(read()))

/** Whether the person has seen a failed job, so that it needs no more attention. */
export function isSeen(jobId: string): boolean {
  return seen().has(jobId)
}

export function markSeen(jobIds: readonly string[]): void {
  // The ids of jobs sort by time.
  const all = [...new Set([...read(), ...jobIds])].toSorted().slice(-MOST)
  localStorage.setItem(STORED_AS, JSON.stringify(all))
  setSeen(new Set(all))
}

// Marked in another window of the same browser.
addEventListener('storage', (event) => event.key === STORED_AS && setSeen(new Set(read())))
