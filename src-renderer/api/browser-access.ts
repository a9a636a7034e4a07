import { BROWSER_PATH, PAGE_KEY_HEADER, PAGE_KEY_META } from '../../src-main/contract/browser-api.ts'

const STORED_AS = 'deckhand.page-key'
const LINK = /^#open=([\w.-]+)$/

/**
 * What a page in a browser sends with every request. Empty in the app's window. The key of a browser that was opened with a link
 * is in the storage of its tab, so that no other page can read it. That of a person who signed in serves all tabs.
 */
export function pageKeyHeaders(): Record<string, string> {
  const key = sessionStorage.getItem(STORED_AS) ?? localStorage.getItem(STORED_AS)
  return key === null ? {} : { [PAGE_KEY_HEADER]: key }
}

/** Keeps the key of a session that has just begun, and returns the answer that brought it. */
export function keepPageKey<A extends { pageKey: string }>(answer: A): A {
  sessionStorage.removeItem(STORED_AS)
  localStorage.setItem(STORED_AS, answer.pageKey)
  return answer
}

/**
 * `open`: this page may call the API. `sign_in`: people sign in here. `closed`: a person has to open it from Deckhand. `used`: it
 * was opened with a link that no longer works. Takes the token of a link out of the address, so that neither the history nor a
 * bookmark keeps it.
 */
export async function openBrowser(): Promise<'open' | 'sign_in' | 'closed' | 'used'> {
  const token = LINK.exec(location.hash)?.[1]
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search)
  const isUsed = token !== undefined && !(await redeem(token))
  const given = document.querySelector<HTMLMetaElement>(`meta[name="${PAGE_KEY_META}"]`)?.content
  if (given !== undefined) sessionStorage.setItem(STORED_AS, given)
  const answer = await fetch(BROWSER_PATH, { headers: pageKeyHeaders() }).catch(() => null)
  // Not this kind of access, or no server: the screens say what is wrong.
  if (answer === null || !answer.ok) return 'open'
  const { isOpened, needsSignIn } = (await answer.json()) as { isOpened: boolean; needsSignIn: boolean }
  if (needsSignIn) {
    // It is from before people had to sign in here, and would come first.
    sessionStorage.removeItem(STORED_AS)
    return 'sign_in'
  }
  return isOpened ? 'open' : isUsed ? 'used' : 'closed'
}

async function redeem(token: string): Promise<boolean> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) }
  const answer = await fetch(BROWSER_PATH, init).catch(() => null)
  if (answer === null || !answer.ok) return false
  const { key } = (await answer.json()) as { key: string }
  sessionStorage.setItem(STORED_AS, key)
  return true
}
