import { BrowserWindow, nativeTheme, screen } from 'electron'
import { COMMAND_CHANNEL, STATE_CHANNEL } from '../contract/channels.ts'
import type { DesktopCommand, DesktopState } from '../contract/desktop-api.ts'
import type { Abilities } from '../desktop/abilities.ts'
import { questionOf, type Speech } from '../desktop/language.ts'
import { messageOf, type Log } from '../log/log.ts'
import { decideRestart } from '../runner/restart-policy.ts'
import { isOwnPage, PAGE_URL } from '../security/own-page.ts'
import { MIN_SIZE, placeFor, readPlace, writePlace } from './window-place.ts'

/** The page's background colour, so that nothing flashes before its styles load. */
const CANVAS = { light: '#f3f5f5', dark: '#0f1416' }
const SHOW_LIMIT_MS = 3_000
const REMEMBER_AFTER_MS = 500
/** A page that hangs by then counts as one with unsaved changes. */
const UNSAVED_LIMIT_MS = 2_000
/** What the browser does before it closes a page. */
const WOULD_STAY = `!dispatchEvent(new Event('beforeunload', { cancelable: true }))`

export type MainWindow = {
  /** Creates the window if needed, and brings it to the front. */
  show(): void
  /** Does nothing without a window. */
  sendState(state: DesktopState): void
  /** Brings the window to the front and sends the page a request. */
  command(command: DesktopCommand): void
  /** Whether closing the page would lose changes. Asks the person nothing. */
  hasUnsavedChanges(): Promise<boolean>
  /** The parent of dialogs. */
  current(): BrowserWindow | null
}

export type MainWindowDeps = {
  preload: string
  placeFile: string
  log: Log
  abilities: () => Abilities
  speech: () => Speech
  /** Called when the person closes the window. true: hide it instead. */
  staysHidden: () => boolean
  /** Called when the page has unsaved changes and is about to close. true: close it. */
  mayLoseForm: () => boolean
}

export function createMainWindow(deps: MainWindowDeps): MainWindow {
  const { preload, placeFile, log, staysHidden, mayLoseForm } = deps
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
    // Show the window even if the page never paints.
    const late = setTimeout(show, SHOW_LIMIT_MS)
    remember(made)
    recover(made)
    made.on('close', (event) => {
      clearTimeout(late)
      if (!staysHidden()) return
      event.preventDefault()
      made.hide()
    })
    // Without a handler the page would stay open silently, and the app could not quit.
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
          log.warn({ error: messageOf(error) }, 'the place of the window could not be saved'),
        )
      }, REMEMBER_AFTER_MS)
    }
    for (const name of ['resize', 'move', 'maximize', 'unmaximize'] as const) made.on(name as 'resize', save)
  }

  /**
   * Reloads a crashed page at the same path: the page keeps no state. Gives up if it keeps crashing. A page that hangs is
   * reloaded if the person wants that, and then does not count as crashed.
   */
  function recover(made: BrowserWindow): void {
    let crashes: number[] = []
    let question: AbortController | null = null
    let isReload = false
    const contents = made.webContents
    contents.on('render-process-gone', (_event, { reason, exitCode }) => {
      question?.abort()
      if (reason === 'clean-exit' || made.isDestroyed()) return
      const now = performance.now()
      if (!isReload) crashes = [...crashes, now].slice(-10)
      const again = isReload || decideRestart(crashes, now).restart
      isReload = false
      log.error({ reason, exitCode, again }, 'the page crashed')
      const address = contents.getURL()
      const next = !again ? givenUpPage(deps.speech()) : isOwnPage(address) ? address : PAGE_URL
      // Not synchronously: Chromium is still shutting down the old process, and would crash when it loads a page now.
      setImmediate(() => made.isDestroyed() || load(made, next))
    })
    const ask = async () => {
      log.warn({}, 'the page does not respond')
      question?.abort()
      const asked = (question = new AbortController())
      const agreed = await deps.abilities().confirm(questionOf(deps.speech(), 'hang'), asked.signal)
      if (!agreed || asked.signal.aborted || made.isDestroyed()) return
      isReload = true
      contents.forcefullyCrashRenderer()
    }
    made.on('unresponsive', () => void ask())
    made.on('responsive', () => question?.abort())
  }

  function show(): void {
    window ??= open()
    if (window.isMinimized()) window.restore()
    if (isGivenUpPage(window.webContents.getURL())) load(window, PAGE_URL)
    if (window.webContents.isLoading() && !window.isVisible()) return
    window.show()
    window.focus()
  }

  return {
    show,
    sendState(state) {
      if (window && !window.isDestroyed() && isOwnPage(window.webContents.getURL())) window.webContents.send(STATE_CHANNEL, state)
    },
    command(command) {
      show()
      if (window!.webContents.isLoading()) waiting = [...waiting, command]
      else window!.webContents.send(COMMAND_CHANNEL, command)
    },
    hasUnsavedChanges: async () => window !== null && wouldStay(window),
    current: () => window,
  }
}

async function wouldStay({ webContents }: BrowserWindow): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(true), UNSAVED_LIMIT_MS)
  // Rejects if the page crashes or its window closes meanwhile.
  const said = (webContents.executeJavaScript(WOULD_STAY) as Promise<boolean>).catch(() => false)
  return Promise.race([said, late.promise]).finally(() => clearTimeout(timer))
}

function givenUpPage({ t, locale }: Speech): string {
  const page = `<!doctype html><html lang="${locale}"><meta charset="utf-8"><title>Deckhand</title>
<body style="font: 15px/1.5 system-ui; max-width: 34em; margin: 18vh auto; padding: 0 2em; color-scheme: light dark">
<h1 style="font-size: 1.3em">${t('desktop.pageCrashed.title')}</h1><p>${t('desktop.pageCrashed.text')}</p>`
  return `data:text/html;charset=utf-8,${encodeURIComponent(page)}`
}

const isGivenUpPage = (url: string) => url.startsWith('data:')
