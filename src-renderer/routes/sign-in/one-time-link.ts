import { createSignal } from 'solid-js'

/** `/sign-in#setup=…` and `/sign-in#invite=…`. */
const LINK = /^#(?:setup|invite)=([\w-]+)$/
const SIGN_IN_PATH = '/sign-in'

/** The token of a one-time link, until it is used. It leaves the address at once, so that no history and no bookmark keeps it. */
const [linkToken, setLinkToken] = createSignal<string | null>(null)
export { linkToken }

export function takeLink(): void {
  if (location.pathname !== SIGN_IN_PATH) return
  setLinkToken(LINK.exec(location.hash)?.[1] ?? null)
  history.replaceState(null, '', '/')
}

export function dropLink(): void {
  setLinkToken(null)
}
