import { homedir } from 'node:os'
import { join } from 'node:path'
import { app, dialog, Menu, nativeTheme, powerMonitor, session, shell } from 'electron'
import { chooseLanguage, renderMessage } from '../resources/locales/translate.ts'
import type { Message } from '../src-runner/contract/messages.ts'
import { openAssets } from './dashboard/assets.ts'
import { createAbilities, type Abilities } from './desktop/abilities.ts'
import { LINK_SCHEME, linkAmong } from './desktop/deep-link.ts'
import { handleDesktopCalls, openLinkAsking } from './desktop/desktop-calls.ts'
import { setPauseAll } from './desktop/pause-all.ts'
import { createDesktopState } from './desktop/desktop-state.ts'
import { renewLoginItem, setLoginItem, startedAtLogin } from './desktop/login-item.ts'
import { notificationText } from './desktop/notification-text.ts'
import { createLinkFollower } from './desktop/open-deep-link.ts'
import { createQuit, type Quit } from './desktop/quit.ts'
import { startFailureText } from './desktop/start-failure.ts'
import { questionOf, type Speech, speechOf } from './desktop/language.ts'
import { createTray } from './desktop/tray.ts'
import type { TrayAction } from './desktop/tray-menu.ts'
import { hasTraySoon } from './desktop/tray-support.ts'
import { createHost, logsDirOf, type Host } from './host.ts'
import { englishText } from './log/english-text.ts'
import { messageOf } from './log/log.ts'
import { problemOf } from './message-error.ts'
import { isResetPending } from './reset/own-files.ts'
import { finishReset, requestReset } from './reset/reset.ts'
import type { SpawnRunner } from './runner/runner-process.ts'
import { isTestBuild } from './security/arguments.ts'
import type { Supervisor } from './runner/supervisor.ts'
import { guardContents, guardSession } from './security/guard.ts'
import { readEnvironment } from './settings/environment.ts'
import { holdsInstanceLock } from './settings/single-instance.ts'
import { StartError } from './settings/start-error.ts'
import { serveAppScheme } from './window/app-scheme.ts'
import { createAppUpdates } from './updates/app-updates.ts'
import { testFeed } from './updates/feed.ts'
import { createMainWindow, type MainWindow } from './window/main-window.ts'
import { menuTemplate } from './window/menu.ts'

/** This module is a chunk of its own, which lies deeper. */
const here = join(app.getAppPath(), 'out/main')
const resources = app.isPackaged ? process.resourcesPath : join(here, '../../resources')
// A packaged app has no test hooks, so nobody who starts it can replace its dialogs.
const isTest = !app.isPackaged && process.env['DECKHAND_TEST'] === '1'
const devServer = app.isPackaged ? null : (process.env['ELECTRON_RENDERER_URL'] ?? null)

type MainDeps = {
  spawn: SpawnRunner
  /** Links that came before this module was read. */
  links: readonly string[]
}

/** Resolves when everything was started. A start that fails ends the app. */
export async function main(deps: MainDeps): Promise<void> {
  try {
    await start(deps)
  } catch (error) {
    await fail(error)
  }
}

/** Ends the app, because no Deckhand of this computer holds the lock and yet it cannot be taken. */
export async function refuseLocked(lock: string): Promise<void> {
  // On Linux there are no dialogs before.
  await app.whenReady()
  await fail(new StartError(1, { code: 'start_locked_elsewhere', params: { file: lock } }))
}

async function fail(error: unknown): Promise<void> {
  process.stderr.write(`deckhand: ${await englishText(problemOf(error))}\n`)
  if (app.isPackaged) {
    // The settings may be what cannot be read.
    const { title, text } = startFailureText(error, speechOf(chooseLanguage('system', app.getPreferredSystemLanguages())))
    dialog.showErrorBox(title, text)
  }
  app.exit(error instanceof StartError ? error.exitCode : 1)
}

async function start({ spawn, links: early }: MainDeps): Promise<void> {
  const environment = readEnvironment({
    env: process.env,
    platform: process.platform,
    home: homedir(),
    cwd: process.cwd(),
    // A test build talks to a local WhatsApp. It has no other test hooks.
    isTest: isTest || (app.isPackaged && isTestBuild(join(app.getAppPath(), 'package.json'))),
  })
  const { dataDir } = environment
  if (lostLock()) return app.exit(0)
  const waiting = [...early]
  const links = { follow: (link: string): void => void waiting.push(link) }
  app.on('open-url', (_event, link) => links.follow(link))

  // On Linux the runner uses the trash itself, which leaves less time to swap the file.
  const trash = process.platform === 'linux' && !isTest ? undefined : (file: string) => abilities.moveToTrash(file)
  if (isResetPending(dataDir)) await finishReset(environment)
  const assets = openAssets(join(here, '../renderer'))
  const host = createHost({
    appVersion: app.getVersion(),
    environment,
    spawn,
    trash,
    preferredLanguages: () => app.getPreferredSystemLanguages(),
    assets,
  })
  const { settings, supervisor, log } = host
  const speech = () => speechOf(host.language())
  let trayIsSeen = false
  const window = createMainWindow({
    preload: join(here, '../preload/preload.cjs'),
    placeFile: join(dataDir, 'window.json'),
    log,
    abilities: () => abilities,
    speech,
    mayLoseForm: () => quit.isQuitting() || abilities.confirmAtOnce(questionOf(speech(), 'leave')),
    staysHidden: () => !quit.isQuitting() && (process.platform === 'darwin' || (trayIsSeen && settings.current().closeToTray)),
  })
  const abilities: Abilities = isTest ? (await import('./testing/e2e-hooks.ts')).stubAbilities(dataDir) : createAbilities(window.current)
  const openLink = (url: string) => openLinkAsking(abilities, url, speech())
  const updates = createAppUpdates({
    host,
    resources,
    isPackaged: app.isPackaged,
    appPath: app.getAppPath(),
    version: app.getVersion(),
    appImage: process.env['APPIMAGE'] ?? null,
    testFeed: isTest ? testFeed(process.env['DECKHAND_TEST_UPDATES']) : null,
    hasUnsavedChanges: window.hasUnsavedChanges,
    quit: () => app.quit(),
    quitWith: (install) => quit.with(install),
  })
  const didInstallFail = updates.record.begin(app.getVersion())
  const quit = createQuit(app, host, () => abilities, speech, updates.prepareQuit)
  async function reset(options: { keepsBackups: boolean }): Promise<void> {
    await requestReset(dataDir, options)
    void quit.with(() => {
      if (settings.current().startAtLogin) setLoginItem(false)
      abilities.relaunch()
      return false
    })
  }
  const info = infoOf(dataDir)
  const state = createDesktopState(host, updates, info)
  guardContents(app, (url) => void openLink(url))
  log.info({ ...info, packaged: app.isPackaged }, 'Deckhand starts')
  void host.startServer()

  await app.whenReady()
  // Checked again before the runner opens the database: on a busy computer the other start may be late.
  if (lostLock()) return app.exit(0)
  nativeTheme.themeSource = settings.current().theme
  settings.onChange(({ theme }) => (nativeTheme.themeSource = theme))
  guardSession(session.defaultSession, devServer)
  serveAppScheme(session.defaultSession, host.dashboard, devServer)
  handleDesktopCalls({ host, abilities, state: state.get, speech, openLink, updates, reset })
  state.onChange(window.sendState)
  if (app.isPackaged && settings.current().startAtLogin) renewLogin(log)
  void supervisor.start().then(async ({ state }) => {
    if (state !== 'failed') updates.record.markStarted()
    await assets?.readAll().catch((error: unknown) => log.error({ error: messageOf(error) }, 'the page cannot be read'))
  })
  if (!startedAtLogin()) window.show()
  updates.start(didInstallFail)

  const showLogs = () => void shell.openPath(logsDirOf(dataDir))
  const openInBrowser = () => {
    const link = host.browserLink()
    if (link !== null) void abilities.openInBrowser(new URL(link))
  }
  const { command } = window
  const menuDeps = { platform: process.platform, development: devServer !== null, command, openInBrowser, showLogs, quit: () => quit.ask() }
  const showMenu = () => Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate({ ...menuDeps, t: speech().t })))
  showMenu()
  settings.onChange(showMenu)
  const followLink = createLinkFollower({ abilities: () => abilities, speech, window, log })
  const follow = (link: string | null) => (link === null ? window.show() : void followLink(link))
  app.on('second-instance', (_event, args) => follow(linkAmong(args)))
  links.follow = follow
  for (const link of [...waiting, linkAmong(process.argv)]) if (link !== null) follow(link)
  // On Windows the installer does not register links. `--` keeps what is in a link from being read as an argument.
  if (app.isPackaged && process.platform === 'win32') app.setAsDefaultProtocolClient(LINK_SCHEME, process.execPath, ['--'])
  app.on('activate', () => window.show())
  followSystem(quit, supervisor, window)
  supervisor.onRunning(({ approvals }) => abilities.showCount(approvals))
  supervisor.onNotification((notification) =>
    abilities.notify({
      ...notificationText(notification, speech()),
      onClick: () => window.command({ command: 'go', path: notification.path }),
    }),
  )
  notifyProblems(host, abilities, window, speech())
  const act = actFromTray({ quit, supervisor, window, abilities, speech, openInBrowser })
  const showTray = (isSeen: boolean) => {
    if (quit.isQuitting()) return
    // A start at login has opened no window.
    if (!isSeen && window.current() === null) window.show()
    createTray({ resources, supervisor, speech, onSettings: settings.onChange, act })
    trayIsSeen = isSeen
  }
  hasTraySoon()
    .then(showTray)
    .catch((error: unknown) => log.error({ error: messageOf(error) }, 'there is no tray icon'))
}

function notifyProblems({ settings, dataDirProblem }: Host, abilities: Abilities, window: MainWindow, { t }: Speech): void {
  const notify = (name: 'settings' | 'dataDir', problem: Message | null, onClick: () => void) => {
    if (problem) abilities.notify({ title: t(`desktop.notifications.${name}`), body: renderMessage(t, problem), onClick })
  }
  notify('settings', settings.notice, window.show)
  notify('dataDir', dataDirProblem, () => window.command({ command: 'go', path: '/settings/computer' }))
}

function renewLogin(log: Host['log']): void {
  try {
    renewLoginItem()
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'what starts at login could not be renewed')
  }
}

type TrayTargets = {
  quit: Quit
  supervisor: Supervisor
  window: MainWindow
  abilities: Abilities
  speech: () => Speech
  openInBrowser: () => void
}

/** What the items of the tray's menu do. */
function actFromTray({ quit, supervisor, window, abilities, speech, openInBrowser }: TrayTargets) {
  return (action: TrayAction): void => {
    if (action.do === 'quit') quit.ask()
    else if (action.do === 'openInBrowser') openInBrowser()
    else if (action.do === 'stop') supervisor.cancelJob(action.jobId)
    else if (action.do === 'answer') supervisor.answerApproval(action)
    else if (action.do === 'pauseAll') void setPauseAll(abilities, supervisor, action.on, speech())
    else if (action.do === 'tunnel') supervisor.setTunnel(action.program, action.on)
    else if (action.path === undefined) window.show()
    else window.command({ command: 'go', path: action.path })
  }
}

function infoOf(dataDir: string) {
  return {
    appVersion: app.getVersion(),
    electronVersion: process.versions.electron,
    platform: process.platform,
    dataDir,
    logsDir: logsDirOf(dataDir),
  }
}

/** Another start took the lock over. That one shows its window. */
const lostLock = () => !holdsInstanceLock(app.getPath('userData'))

function followSystem(quit: Quit, supervisor: Supervisor, window: MainWindow): void {
  // Without a tray nothing else would be left on the screen.
  app.on('window-all-closed', () => quit.ask(window.show))
  powerMonitor.on('shutdown', () => quit.now())
  powerMonitor.on('resume', () => supervisor.reportWake())
  // Not every system reports a wake, but a person unlocks the screen after one. An extra call is harmless.
  powerMonitor.on('unlock-screen', () => supervisor.reportWake())
}
