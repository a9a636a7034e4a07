import { BrowserWindow, nativeTheme, screen } from 'electron'
import { COMMAND_CHANNEL, STATE_CHANNEL } from '../contract/channels.ts'
import type { DesktopCommand, DesktopState } from '../contract/desktop-api.ts'
import { messageOf, type Log } from '../log/log.ts'
import { decideRestart } from '../runner/restart-policy.ts'
import { isOwnPage, PAGE_URL } from '../security/own-page.ts'
import { MIN_SIZE, placeFor, readPlace, writePlace } from './window-place.ts'

/** The page's own canvas, so that nothing flashes before its styles are there. */
const CANVAS = { light: '#f3f5f5', dark: '#0f1416' }
const SHOW_LIMIT_MS = 3_000
const REMEMBER_AFTER_MS = 500

export type MainWindow = {
  /** Makes the window if need be, and brings it to the front. */
  show(): void
  /** Without a window there is nobody to tell. */
  tellState(state: DesktopState): void
  /** Brings the window to the front and lets the page carry out a wish. */
  command(command: DesktopCommand): void
  /** For dialogs that belong to the window. */
  current(): BrowserWindow | null
}

export type MainWindowDeps = {
  preload: string
  placeFile: string
  log: Log
  /** The person closes the window. true: it only goes out of sight. */
  staysHidden: () => boolean
  /** The page holds something that was not saved, and is about to go. true: it may. */
  mayLoseForm: () => boolean
}

export function createMainWindow({ preload, placeFile, log, staysHidden, mayLoseForm }: MainWindowDeps): MainWindow {
  let window: BrowserWindow | null = null
  let waiting: DesktopCommand[] = []

  function open(): BrowserWindow {
    const place = placeFor(
      readPlace(placeFile),
      screen.getAllDisplays().map((display) => display.workArea),
    )
    const made = new BrowserWindow({
      ...place.bounds,
      minWidth: MIN_SIZE.width,
      minHeight: MIN_SIZE.height,
      show: false,
      title: 'Deckhand',
      backgroundColor: nativeTheme.shouldUseDarkColors ? CANVAS.dark : CANVAS.light,
      webPreferences: {
        preload,
        contextIsolation: true,
        sandbox: true,
        nodeIntegration: false,
        webviewTag: false,
        spellcheck: false,
        navigateOnDragDrop: false,
      },
    })
    if (place.maximized) made.maximize()
    const show = () => made.isDestroyed() || made.isVisible() || made.show()
    made.once('ready-to-show', show)
    // A page that never paints must not mean a window that never comes.
    setTimeout(show, SHOW_LIMIT_MS)
    remember(made)
    recover(made)
    made.on('close', (event) => {
      if (!staysHidden()) return
      event.preventDefault()
      made.hide()
    })
    // Without an answer the page would stay without a word, and the app could not be left.
    made.webContents.on('will-prevent-unload', (event) => {
      if (mayLoseForm()) event.preventDefault()
    })
    made.on('closed', () => {
      if (window === made) window = null
    })
    made.webContents.on('did-finish-load', () => {
      for (const command of waiting.splice(0)) made.webContents.send(COMMAND_CHANNEL, command)
    })
    load(made, PAGE_URL)
    return made
  }

  function load(made: BrowserWindow, url: string): void {
    made.loadURL(url).catch((error: unknown) => log.error({ error: messageOf(error) }, 'the page could not be loaded'))
  }

  function remember(made: BrowserWindow): void {
    let timer: NodeJS.Timeout | undefined
    const save = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (made.isDestroyed() || made.isMinimized()) return
        const place = { bounds: made.getNormalBounds(), maximized: made.isMaximized() }
        writePlace(placeFile, place).catch((error: unknown) =>
          log.warn({ error: messageOf(error) }, 'the place of the window could not be kept'),
        )
      }, REMEMBER_AFTER_MS)
    }
    for (const name of ['resize', 'move', 'maximize', 'unmaximize'] as const) made.on(name as 'resize', save)
  }

  /** The page holds no truth: after a crash it is loaded again where it was. A page that crashes every time is given up. */
  function recover(made: BrowserWindow): void {
    let crashes: number[] = []
    let address = PAGE_URL
    made.webContents.on('did-navigate-in-page', (_event, url) => (address = url))
    made.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
      if (reason === 'clean-exit' || made.isDestroyed()) return
      const now = performance.now()
      crashes = [...crashes, now].slice(-10)
      const again = decideRestart(crashes, now).restart
      log.error({ reason, exitCode, again }, 'the page crashed')
      const next = !again ? `data:text/html;charset=utf-8,${encodeURIComponent(GIVEN_UP)}` : isOwnPage(address) ? address : PAGE_URL
      // Not in here: Chromium is still taking the old process down, and ends altogether when it is given a new page meanwhile.
      setImmediate(() => made.isDestroyed() || load(made, next))
    })
    made.webContents.on('unresponsive', () => log.warn({}, 'the page does not answer'))
  }

  return {
    show() {
      window ??= open()
      if (window.isMinimized()) window.restore()
      if (window.webContents.isLoading() && !window.isVisible()) return
      window.show()
      window.focus()
    },
    tellState(state) {
      if (window && !window.isDestroyed() && isOwnPage(window.webContents.getURL())) window.webContents.send(STATE_CHANNEL, state)
    },
    command(command) {
      this.show()
      if (window!.webContents.isLoading()) waiting = [...waiting, command]
      else window!.webContents.send(COMMAND_CHANNEL, command)
    },
    current: () => window,
  }
}

const GIVEN_UP = `<!doctype html><meta charset="utf-8"><title>Deckhand</title>
<body style="font: 15px/1.5 system-ui; max-width: 34em; margin: 18vh auto; padding: 0 2em; color-scheme: light dark">
<h1 style="font-size: 1.3em">The page crashed three times</h1>
<p>Your jobs are not affected: they go on in the background. Close this window and open it again from the tray or the
dock; if the page crashes again, the dashboard works in a browser too, and the logs folder tells more.</p>`
