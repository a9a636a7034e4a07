import type { App, Session } from 'electron'
import { isOwnPage } from './own-page.ts'

/**
 * Holds for every page that this process will ever show, whoever makes it: it stays where it is, opens nothing,
 * embeds nothing, is granted nothing, and reaches no network. Links go to `openLink`, which asks the person.
 */
export function guardContents(app: App, openLink: (url: string) => void): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-attach-webview', (event) => event.preventDefault())
    contents.on('will-frame-navigate', (event) => {
      if (isOwnPage(event.url)) return
      event.preventDefault()
      if (event.isMainFrame) openLink(event.url)
    })
    contents.on('will-redirect', (event) => {
      if (!isOwnPage(event.url)) event.preventDefault()
    })
    contents.setWindowOpenHandler(({ url }) => {
      openLink(url)
      return { action: 'deny' }
    })
  })
}

/** `devServer`: the page's own server with hot reload, in development alone. */
export function guardSession(session: Session, devServer: string | null): void {
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  // Dictionaries would be fetched from elsewhere.
  session.setSpellCheckerEnabled(false)
  const allowed = devServer === null ? null : new URL(devServer).host
  session.webRequest.onBeforeRequest(
    { urls: ['http://*/*', 'https://*/*', 'ws://*/*', 'wss://*/*', 'ftp://*/*', 'file://*/*'] },
    ({ url }, answer) => {
      answer({ cancel: allowed === null || new URL(url).host !== allowed })
    },
  )
  session.on('will-download', (event, item) => {
    // What the page made itself (an export) may be saved; nothing else is downloaded.
    if (!item.getURL().startsWith('blob:app://deckhand/')) event.preventDefault()
  })
}
