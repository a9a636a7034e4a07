import { join } from 'node:path'
import { app, dialog, Notification, shell, type BrowserWindow } from 'electron'
import { relaunch } from './relaunch.ts'

export type Question = { message: string; detail: string; yes: string; no: string }

/** Everything that reaches the person or the system from here. Window tests replace it. */
export type Abilities = {
  /** null: the person closed the dialog. */
  pickFolder(): Promise<string | null>
  /** Where to save a new file, with a proposed name. null: the person closed the dialog. */
  pickNewFile(name: string): Promise<string | null>
  /** Whether the person agrees. The question goes away when `withdrawn` is aborted. */
  confirm(question: Question, withdrawn?: AbortSignal): Promise<boolean>
  /** Synchronous, for events that need an answer before they return. Blocks the process. */
  confirmAtOnce(question: Question): boolean
  openInBrowser(url: URL): Promise<void>
  /** In the file manager. false: the system refused. */
  openFolder(folder: string): Promise<boolean>
  /** Starts the app again when this process has ended. */
  relaunch(): void
  /** Rejects with the system's reason. */
  moveToTrash(file: string): Promise<void>
  notify(notification: { title: string; body: string; onClick: () => void }): void
  /**
   * Shows a count on the icon in the dock or launcher; 0 removes it. Windows has no such counts, and its overlays need a
   * window button, which is gone while Deckhand is in the tray. There only the tray icon shows that something waits.
   */
  showCount(count: number): void
}

/**
 * The newest notifications. Once one is collected, a click on it does nothing: https://github.com/electron/electron/issues/12690.
 * A closed one is kept too: Windows still lists it when its time on the screen is over.
 */
const held: Notification[] = []
const MOST_HELD = 100

export function createAbilities(window: () => BrowserWindow | null): Abilities {
  return {
    async pickFolder() {
      const options = { properties: ['openDirectory', 'createDirectory'] as ('openDirectory' | 'createDirectory')[] }
      const owner = window()
      const { canceled, filePaths } = owner ? await dialog.showOpenDialog(owner, options) : await dialog.showOpenDialog(options)
      return canceled ? null : (filePaths[0] ?? null)
    },
    async pickNewFile(name) {
      const options = { defaultPath: join(app.getPath('documents'), name) }
      const owner = window()
      const { canceled, filePath } = owner ? await dialog.showSaveDialog(owner, options) : await dialog.showSaveDialog(options)
      return canceled || filePath === '' ? null : filePath
    },
    async confirm(question, signal) {
      const options = { ...dialogOptionsFor(question), ...(signal && { signal }) }
      const owner = window()
      const { response } = owner?.isVisible() ? await dialog.showMessageBox(owner, options) : await dialog.showMessageBox(options)
      return response === 0
    },
    confirmAtOnce(question) {
      const options = dialogOptionsFor(question)
      const owner = window()
      return (owner ? dialog.showMessageBoxSync(owner, options) : dialog.showMessageBoxSync(options)) === 0
    },
    relaunch: () => relaunch(app),
    openInBrowser: (url) => shell.openExternal(url.href),
    openFolder: async (folder) => (await shell.openPath(folder)) === '',
    moveToTrash: (file) => shell.trashItem(file),
    notify({ title, body, onClick }) {
      if (!Notification.isSupported()) return
      const notification = new Notification({ title, body: withoutMarkup(body) })
      notification.on('click', onClick)
      held.push(notification)
      if (held.length > MOST_HELD) held.shift()
      notification.show()
    },
    showCount: (count) => void app.setBadgeCount(count),
  }
}

/** Desktops of Linux read markup in the body of a notification, links included, and names and tasks of strangers are shown there. */
function withoutMarkup(text: string): string {
  if (process.platform !== 'linux') return text
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function dialogOptionsFor({ message, detail, yes, no }: Question) {
  return { type: 'question' as const, title: app.name, message, detail, buttons: [yes, no], defaultId: 1, cancelId: 1, noLink: true }
}
