import type { App, Session } from 'electron'
import { isOwnPage } from './own-page.ts'

/**
 * Applies to every page of this process: no navigation, no new windows, no embedding, no permissions, no network. Links go
 * to `openLink`, which asks the person.
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

/** `devServer`: the server with hot reload, in development only. */
export function guardSession(session: Session, devServer: string | null): void {
  session.setPermissionRequestHandler((_contents, _permission, decide) => decide(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  // Spell-check dictionaries would be downloaded.
  session.setSpellCheckerEnabled(false)
  const allowed = devServer === null ? null : new URL(devServer).host
  session.webRequest.onBeforeRequest(
    { urls: ['http://*/*', 'https://*/*', 'ws://*/*', 'wss://*/*', 'ftp://*/*', 'file://*/*'] },
    ({ url }, decide) => {
      decide({ cancel: allowed === null || new URL(url).host !== allowed })
    },
  )
  session.on('will-download', (event, item) => {
    // Exports that the page made may be saved. Nothing else is downloaded.
    if (!item.getURL().startsWith('blob:app://deckhand/')) event.preventDefault()
  })
}
