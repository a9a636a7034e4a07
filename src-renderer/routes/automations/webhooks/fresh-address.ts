import { createSignal } from 'solid-js'

/** A new address. The runner gives it out once. */
export type FreshAddress = {
  triggerId: string
  url: string
  /** A payload to try it with. */
  sample: string
  /** It replaces an address, which has stopped working. */
  isReplacement: boolean
}

// Only in memory: neither the browser's history nor its storage may hold a secret.
const [held, setHeld] = createSignal<FreshAddress | null>(null)

export function keepFreshAddress(address: FreshAddress): void {
  setHeld(address)
}

export function forgetFreshAddress(): void {
  setHeld(null)
}

export function freshAddressOf(triggerId: string): FreshAddress | null {
  const address = held()
  return address?.triggerId === triggerId ? address : null
}
