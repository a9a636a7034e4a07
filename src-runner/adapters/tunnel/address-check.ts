import type { Services } from '../../platform/services.ts'
import type { Message } from '../../contract/messages.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Probe } from './probe.ts'

type Check = PublicAddress['check']
const UNKNOWN: Check = { state: 'unknown', checkedAt: null, problem: null }

export type AddressCheckDeps = Pick<Services, 'clock' | 'log'> & {
  probe: Pick<Probe, 'send' | 'findExposed'>
  /** Where the address should lead. */
  localUrl(): string
  /** Why webhooks have no port of their own; null: they have one or need none. */
  portProblem(): Message | null
  /** An address that was reachable is checked again after this time before it counts as unreachable. */
  secondCheckAfterMs: number
  onChange(): void
}

/** Checks whether the public address leads to our webhooks, and to nothing else. */
export function createAddressCheck({ probe, clock, log, localUrl, portProblem, secondCheckAfterMs, onChange }: AddressCheckDeps) {
  let check = UNKNOWN
  let checkedUrl: string | null = null
  /** Results for an earlier address are dropped. */
  let round = new AbortController()

  function conclude(state: Check['state'], problem: Message | null): void {
    check = { state, checkedAt: clock.now(), problem }
  }

  /** Checks after each delay until the address is reached, and keeps the last result. */
  async function run(url: string, delays: readonly number[]): Promise<void> {
    const { signal } = round
    let unreached: Message | null = null
    let exposed: string | null = null
    for (const delay of delays) {
      if (delay > 0) await clock.sleep(delay, signal).catch(() => {})
      if (signal.aborted) return
      ;[unreached, exposed] = await Promise.all([probe.send(url, localUrl()), probe.findExposed(url)])
      if (signal.aborted) return
      if (unreached === null) break
    }
    if (exposed !== null) conclude('exposed', createMessage('outside_exposed', { url: exposed, leadsTo: localUrl() }))
    else if (unreached === null) conclude('reachable', null)
    else conclude('unreachable', portProblem() ?? unreached)
    log[check.state === 'exposed' ? 'warn' : 'info']({ url, state: check.state, problem: check.problem }, 'checked the public address')
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
      if (url !== null) void run(url, delays)
    },
    /** There is no address to check. `problem`: why not, if there should be one. */
    setMissing(problem: Message | null): void {
      if (problem === null) check = UNKNOWN
      else conclude('unreachable', problem)
    },
    async again(url: string | null): Promise<void> {
      if (url === null || check.state === 'checking') return
      await run(url, check.state === 'reachable' ? [0, secondCheckAfterMs] : [0])
    },
    now: (url: string) => run(url, [0]),
    /** Aborts with the present address. */
    signal: () => round.signal,
    stop: () => round.abort(new Error('the runner stops')),
  }
}
