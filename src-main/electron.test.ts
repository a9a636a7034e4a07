import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished, vi } from 'vitest'
import { callChannel, COMMAND_CHANNEL } from './contract/channels.ts'
import type { DesktopBridge, DesktopCommand } from './contract/desktop-api.ts'
import { createAbilities, type Abilities } from './desktop/abilities.ts'
import { handleDesktopCalls } from './desktop/desktop-calls.ts'
import { speechOf } from './desktop/language.ts'
import { renewLoginItem, setLoginItem } from './desktop/login-item.ts'
import type { Host } from './host.ts'
import { silentLog } from './log/log.ts'
import type { Updates } from './updates/updates.ts'
import { createMainWindow } from './window/main-window.ts'
import { menuTemplate } from './window/menu.ts'

type Handler = (event: object, argument: unknown) => Promise<unknown>
const { sent, shown, notifications, handlers, ofPage } = vi.hoisted(() => ({
  sent: [] as unknown[][],
  shown: [] as object[],
  /** Weakly, as the system does. */
  notifications: [] as WeakRef<{ emit(event: string): unknown }>[],
  handlers: new Map<string, Handler>(),
  /** The page's side: what the preload gives it, and where messages to it arrive. */
  ofPage: {} as { api: DesktopBridge; receive: (channel: string, value: unknown) => void },
}))

/** As much of Electron as these tests need. One file has all of them, because the files of a worker share their modules. */
vi.mock('electron', async () => {
  const { EventEmitter } = await import('node:events')
  class WebContents extends EventEmitter {
    getURL = () => 'app://deckhand/'
    isLoading = () => false
    send = (...message: unknown[]) => void sent.push(message)
  }
  class BrowserWindow extends EventEmitter {
    webContents = new WebContents()
    loadURL = () => Promise.resolve()
    isMinimized = () => false
    isVisible = () => true
    isDestroyed = () => true
    show = () => undefined
    focus = () => undefined
  }
  class Notification extends EventEmitter {
    static isSupported = () => true
    show = () => undefined
    constructor(options: object) {
      super()
      shown.push(options)
      notifications.push(new WeakRef(this))
    }
  }
  const ipcRenderer = new EventEmitter()
  ofPage.receive = (channel, value) => void ipcRenderer.emit(channel, {}, value)
  const ipcMain = { handle: (channel: string, handler: Handler) => void handlers.set(channel, handler) }
  return {
    BrowserWindow,
    nativeTheme: {},
    screen: { getAllDisplays: () => [] },
    Notification,
    app: { isPackaged: true },
    dialog: {},
    shell: {},
    clipboard: {},
    ipcMain,
    ipcRenderer,
    contextBridge: { exposeInMainWorld: (_name: string, api: DesktopBridge) => (ofPage.api = api) },
  }
})

it('the menu sends its requests to the window', () => {
  const speech = speechOf('en')
  const { command } = createMainWindow({
    preload: '',
    placeFile: join(tmpdir(), 'deckhand-no-such-folder', 'window.json'),
    log: silentLog,
    abilities: () => expect.fail('nothing is asked'),
    speech: () => speech,
    staysHidden: () => false,
    mayLoseForm: () => true,
  })
  const nothing = () => undefined
  const deps = { platform: 'linux' as const, development: false, openInBrowser: nothing, showLogs: nothing, quit: nothing, t: speech.t }
  const items = menuTemplate({ ...deps, command }).flatMap(({ submenu }) => submenu as { label?: string; click?: () => void }[])
  for (const label of ['Settings…', 'New Chat']) items.find((item) => item.label === label)!.click!()
  expect(sent).toEqual([
    [COMMAND_CHANNEL, { command: 'go', path: '/settings' }],
    [COMMAND_CHANNEL, { command: 'go', path: '/chat?write=1' }],
  ])
})

it('a page that listens late gets the commands that came before, and each later one once', async () => {
  await import('./preload.ts')
  const commands = [1, 2, 3].map((count): DesktopCommand => ({ command: 'go', path: `/chat/${count}` }))
  const received: DesktopCommand[] = []
  for (const command of commands.slice(0, 2)) ofPage.receive(COMMAND_CHANNEL, command)
  const stop = ofPage.api.onCommand((command) => received.push(command))
  await expect.poll(() => received).toEqual(commands.slice(0, 2))
  ofPage.receive(COMMAND_CHANNEL, commands[2])
  stop()
  expect(received).toEqual(commands)
})

// https://specifications.freedesktop.org/notification-spec/latest/markup.html
it.runIf(process.platform === 'linux')('a notification shows the name of a stranger as text, not as markup', () => {
  const name = '<a href="https://evil.example">Sign in again</a> & <b>you'
  createAbilities(() => null).notify({ title: 'A & B', body: name, onClick: () => undefined })
  const body = '&lt;a href="https://evil.example"&gt;Sign in again&lt;/a&gt; &amp; &lt;b&gt;you'
  expect(shown).toEqual([{ title: 'A & B', body }])
})

it('a notification can be clicked long after it was shown', async () => {
  const onClick = vi.fn()
  createAbilities(() => null).notify({ title: 'Done', body: 'The job is done.', onClick })
  // Until the end of its turn, a weak reference holds what it refers to.
  await sleep(0)
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  notifications.at(-1)!.deref()?.emit('click')
  expect(onClick).toHaveBeenCalledOnce()
})

it.runIf(process.platform === 'linux')('the login starts the AppImage that ran last, unless the person turned that off', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-login-'))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  vi.stubEnv('XDG_CONFIG_HOME', folder)
  vi.stubEnv('APPIMAGE', '/home/ann/Downloads/Deckhand-1.2.0.AppImage')
  setLoginItem(true)
  const file = join(folder, 'autostart/deckhand.desktop')
  const off = readFileSync(file, 'utf8').replace('enabled=true', 'enabled=false')
  writeFileSync(file, off)
  vi.stubEnv('APPIMAGE', '/home/ann/Apps/$&/Deckhand-1.3.0.AppImage')
  renewLoginItem()
  const renewed = readFileSync(file, 'utf8')
  expect(renewed.split('\n')).toContain('Exec="/home/ann/Apps/\\\\$&/Deckhand-1.3.0.AppImage" "--hidden"')
  expect(renewed.replace(/Exec=.*/, '')).toBe(off.replace(/Exec=.*/, ''))
  rmSync(file)
  renewLoginItem()
  expect(existsSync(file)).toBe(false)
})

it('a reset that cannot be requested is reported to the person', async () => {
  handleDesktopCalls({
    host: { log: silentLog } as unknown as Host,
    abilities: { confirm: async () => true } as unknown as Abilities,
    state: () => expect.fail('nobody asks for it'),
    speech: () => speechOf('en'),
    openLink: async () => false,
    updates: {} as unknown as Updates,
    reset: () => Promise.reject(new Error('ENOSPC: no space left on device')),
  })
  const page = { senderFrame: { url: 'app://deckhand/', parent: null } }
  expect(await handlers.get(callChannel('resetData'))!(page, { keepsBackups: true })).toEqual({
    ok: false,
    message: { code: 'desktop_call_failed', params: { why: 'ENOSPC: no space left on device' } },
  })
})
