import type { Message } from '../../contract/messages.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Probe, ProbeResult } from './probe.ts'

type Check = PublicAddress['check']
/** `exposed`: an address that leads to more than webhooks. */
type Found = { reached: ProbeResult; exposed: string | null }
const UNKNOWN: Check = { state: 'unknown', checkedAt: null, problem: null }

export type AddressCheckDeps = {
  probe: Probe
  clock: Clock
  log: Log
  /** Where the address should lead. */
  localUrl(): string
  /** Why webhooks have no port of their own; null: they have one or need none. */
  portProblem(): Message | null
  /** One that came in before is asked again after this time before it counts as unreachable. */
  secondLookAfterMs: number
  onChange(): void
}

/** Checks whether the public address leads to our webhooks, and to nothing else. */
export function createAddressCheck({ probe, clock, log, localUrl, portProblem, secondLookAfterMs, onChange }: AddressCheckDeps) {
  let check = UNKNOWN
  let checkedUrl: string | null = null
  /** Results for an earlier address are dropped. */
  let round = new AbortController()

  async function ask(url: string): Promise<Found> {
    const [reached, exposed] = await Promise.all([probe.send(url, localUrl()), probe.findExposed(url)])
    return { reached, exposed }
  }

  /** Asks after each delay until the address is reached. */
  async function askInRounds(url: string, delays: readonly number[], signal: AbortSignal): Promise<void> {
    let last: Found | null = null
    for (const delay of delays) {
      await clock.sleep(delay, signal).catch(() => {})
      if (signal.aborted) return
      last = await ask(url)
      if (signal.aborted) return
      if (last.reached.ok) break
    }
    if (last !== null) conclude(url, last)
  }

  function conclude(url: string, { reached, exposed }: Found): void {
    const checkedAt = clock.now()
    if (exposed !== null)
      check = { state: 'exposed', checkedAt, problem: createMessage('outside_exposed', { url: exposed, leadsTo: localUrl() }) }
    else if (reached.ok) check = { state: 'reachable', checkedAt, problem: null }
    else check = { state: 'unreachable', checkedAt, problem: portProblem() ?? reached.problem }
    const { state, problem } = check
    log.info({ url, state, problem }, 'checked the public address')
    onChange()
  }

  return {
    state: () => check,
    /** Starts checking an address that is new; null: there is none. */
    watch(url: string | null, delays: readonly number[]): void {
      if (url === checkedUrl) return
      checkedUrl = url
      round.abort(new Error('there is another address'))
      round = new AbortController()
      check = url === null ? UNKNOWN : { ...UNKNOWN, state: 'checking' }
      if (url !== null) void askInRounds(url, delays, round.signal)
    },
    /** There is no address to check, and this is why. */
    conclude(problem: Message | null): void {
      check = problem === null ? UNKNOWN : { state: 'unreachable', checkedAt: clock.now(), problem }
    },
    async again(url: string | null): Promise<void> {
      if (url === null || check.state === 'checking') return
      await askInRounds(url, check.state === 'reachable' ? [0, secondLookAfterMs] : [0], round.signal)
    },
    async now(url: string): Promise<void> {
      const { signal } = round
      const found = await ask(url)
      if (!signal.aborted) conclude(url, found)
    },
    /** Aborts with the present address. */
    signal: () => round.signal,
    stop: () => round.abort(new Error('the runner stops')),
  }
}
