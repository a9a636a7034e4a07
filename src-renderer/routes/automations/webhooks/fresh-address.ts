import { createSignal } from 'solid-js'

/** An address as the runner gave it, which it does once. */
export type FreshAddress = {
  triggerId: string
  url: string
  /** A payload to try it with. */
  sample: string
  /** There was another address before, which has stopped working. */
  isReplacement: boolean
}

// In this page's memory and nowhere else: neither the history of the browser nor its storage may keep a secret.
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
