import { createSignInLink } from '../api/sign-in-link.ts'
import type { DesktopApi, DesktopCommand, DesktopState, MachineSettings } from '../../src-main/contract/desktop-api.ts'

export type Theme = MachineSettings['theme']

/**
 * What the page can do through the app's window or a browser. In a browser `state` is null: the machine is not ours to
 * show, and such abilities are shown as available in the app.
 */
export type Desktop = {
  /** The full interface of the app's window; null in a browser. */
  readonly api: DesktopApi | null
  onState: (listener: (state: DesktopState) => void) => () => void
  onCommand: (listener: (command: DesktopCommand) => void) => () => void
  /** Returns null when the person closed the dialog, or in a browser, which has none. */
  pickFolder: () => Promise<string | null>
  copyText: (text: string) => Promise<void>
  /** Opens an address in the browser. In the app, the desktop asks first; in a browser, the page has asked before. */
  openExternal: (url: string) => Promise<boolean>
  /** Opens the sign-in page of a service in a browser: the system's in the app, else a new tab of this one. */
  openSignIn: (authorizationId: string) => Promise<void>
  readTheme: () => Theme
  writeTheme: (theme: Theme) => Promise<void>
}

const THEME_STORED_AS = 'deckhand.theme'

/** Also stored in the page, so that the first paint has the right colours before the desktop has sent its state. */
function readStoredTheme(): Theme {
  const stored = localStorage.getItem(THEME_STORED_AS)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function storeTheme(theme: Theme): void {
  localStorage.setItem(THEME_STORED_AS, theme)
}

export function createAppDesktop(api: DesktopApi): Desktop {
  return {
    api,
    onState: (listener) => api.onState(listener),
    onCommand: (listener) => api.onCommand(listener),
    pickFolder: () => api.pickFolder(undefined),
    copyText: (text) => api.copyText(text),
    openExternal: (url) => api.openExternal({ url }),
    async openSignIn(authorizationId) {
      await api.openSignIn({ authorizationId })
    },
    readTheme: readStoredTheme,
    async writeTheme(theme) {
      storeTheme(theme)
      await api.changeSettings({ theme })
    },
  }
}

export function createBrowserDesktop(): Desktop {
  return {
    api: null,
    onState: () => () => {},
    onCommand: () => () => {},
    pickFolder: () => Promise.resolve(null),
    copyText: (text) => writeClipboard(text),
    openExternal(url) {
      const { protocol } = new URL(url)
      if (protocol !== 'http:' && protocol !== 'https:') return Promise.resolve(false)
      window.open(url, '_blank', 'noopener,noreferrer')
      return Promise.resolve(true)
    },
    async openSignIn(authorizationId) {
      window.open(await createSignInLink(authorizationId), '_blank', 'noopener,noreferrer')
    },
    readTheme: readStoredTheme,
    writeTheme(theme) {
      storeTheme(theme)
      return Promise.resolve()
    },
  }
}

/** Over plain http from another machine there is no clipboard API, but the old command still works. Rejects if it does not. */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // A dialog or menu takes the focus back from whatever is outside of it, and then nothing is selected.
  const place = focused?.closest('[role="dialog"], [role="alertdialog"], [role="menu"]') ?? document.body
  place.append(area)
  // Not every browser moves the focus for `select`.
  area.focus()
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!isCopied) throw new Error('the browser did not copy')
}
