import { contextBridge, ipcRenderer } from 'electron'
import { callChannel, COMMAND_CHANNEL, STATE_CHANNEL } from './contract/channels.ts'
import type { DesktopBridge, DesktopCallName, DesktopCommand, DesktopOutcome, DesktopState } from './contract/desktop-api.ts'

/** Complete over the contract. Names only, so that no schema library loads before the page. */
const CALLS = {
  getState: true,
  changeSettings: true,
  usePort: true,
  replaceDatabase: true,
  measureData: true,
  resetData: true,
  restartRunner: true,
  recheckVault: true,
  revealSecret: true,
  share: true,
  encryptSharing: true,
  replaceCertificate: true,
  rotateSecret: true,
  pickFolder: true,
  openExternal: true,
  openSignIn: true,
  showFolder: true,
  showCodeFolder: true,
  saveDiagnostics: true,
  copyDiagnostics: true,
  readLogs: true,
  copyText: true,
  update: true,
} satisfies Record<DesktopCallName, true>

const call = (name: DesktopCallName, argument?: unknown) => ipcRenderer.invoke(callChannel(name), argument) as Promise<DesktopOutcome>

/** The IPC event stays here, because it would give the page `ipcRenderer`. */
function listen<T>(channel: string, listener: (value: T) => void): () => void {
  const forward = (_event: unknown, value: T) => listener(value)
  ipcRenderer.on(channel, forward)
  return () => void ipcRenderer.removeListener(channel, forward)
}

const calls = Object.fromEntries(
  (Object.keys(CALLS) as DesktopCallName[]).map((name) => [name, (argument?: unknown) => call(name, argument)]),
)

/** Commands reach a window that is being opened before its page listens, because the page loads its texts first. */
const MAX_WAITING = 20
let waiting: DesktopCommand[] = []
const commandListeners = new Set<(command: DesktopCommand) => void>()
listen<DesktopCommand>(COMMAND_CHANNEL, (command) => {
  if (commandListeners.size === 0) waiting = [...waiting, command].slice(-MAX_WAITING)
  for (const listener of commandListeners) listener(command)
})

const api = {
  ...calls,
  onState(listener) {
    let changed = false
    const stop = listen<DesktopState>(STATE_CHANNEL, (state) => {
      changed = true
      listener(state)
    })
    // A state pushed meanwhile is newer than this one.
    void call('getState').then((outcome) => !changed && outcome.ok && listener(outcome.value as DesktopState))
    return stop
  },
  onCommand(listener) {
    commandListeners.add(listener)
    for (const command of waiting.splice(0)) queueMicrotask(() => listener(command))
    return () => void commandListeners.delete(listener)
  },
} as DesktopBridge

contextBridge.exposeInMainWorld('deckhand', api)
