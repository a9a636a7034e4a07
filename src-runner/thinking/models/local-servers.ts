import type { OutboundFetch } from '../../base/net/outbound.ts'
import type { Clock } from '../../kit/clock.ts'
import { runsOnThisMachine } from './base-url.ts'
import { isLlamaCppList, isLmStudioList, isOllamaVersion } from './discovery.ts'
import { getJson } from './get-json.ts'

/** What a local address is asked, and how its answer looks from the one server that gives it. */
const SIGNS: readonly { path: string; is(answer: unknown): boolean }[] = [
  { path: '/api/v0/models', is: isLmStudioList },
  { path: '/api/version', is: isOllamaVersion },
  { path: '/v1/models', is: isLlamaCppList },
]

/** Somebody may start another server at the same port. */
const BELIEVED_MS = 300_000

export type LocalServers = {
  /** Whether a server at this address runs its models itself. One on this machine may as well be the way to a paid service. */
  runsModels(baseUrl: string): Promise<boolean>
}

export function createLocalServers(deps: { fetch: OutboundFetch; clock: Clock }): LocalServers {
  const known = new Map<string, { until: number; found: Promise<boolean | null> }>()

  /** null: nothing answered. */
  const ask = async (origin: string): Promise<boolean | null> => {
    let hasAnswered = false
    for (const { path, is } of SIGNS) {
      const answer = await getJson(deps, origin + path)
      if (answer === null) continue
      if (is(answer)) return true
      hasAnswered = true
    }
    return hasAnswered ? false : null
  }

  return {
    async runsModels(baseUrl) {
      if (!runsOnThisMachine(baseUrl)) return false
      const { origin } = new URL(baseUrl)
      let entry = known.get(origin)
      if (entry === undefined || deps.clock.monotonic() >= entry.until) {
        entry = { until: deps.clock.monotonic() + BELIEVED_MS, found: ask(origin) }
        known.set(origin, entry)
      }
      const found = await entry.found
      if (found === null && known.get(origin) === entry) known.delete(origin)
      return found === true
    },
  }
}
