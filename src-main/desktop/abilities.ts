import { app, dialog, Notification, shell, type BrowserWindow } from 'electron'

export type Question = { message: string; detail: string; yes: string; no: string }

/** What reaches out of this program to the person or the system. Tests of the whole app put their own in its place. */
export type Abilities = {
  /** null: the person closed the dialog. */
  pickFolder(): Promise<string | null>
  /** Whether the person agrees. */
  confirm(question: Question): Promise<boolean>
  /** The same where the system wants to know at once; everything stands still until the answer. */
  confirmAtOnce(question: Question): boolean
  openInBrowser(url: URL): Promise<void>
  /** Rejects with the system's reason. */
  moveToTrash(file: string): Promise<void>
  notify(notice: { title: string; body: string; onClick: () => void }): void
  /**
   * How many things wait for the person, on the icon in the dock or launcher; 0 takes the number away. Windows has no
   * numbers, and an overlay sits on the button of a window that is mostly closed into the tray: there the tray's icon
   * alone shows that something waits.
   */
  showCount(count: number): void
}

export function createAbilities(window: () => BrowserWindow | null): Abilities {
  return {
    async pickFolder() {
      const options = { properties: ['openDirectory', 'createDirectory'] as ('openDirectory' | 'createDirectory')[] }
      const owner = window()
      const { canceled, filePaths } = owner ? await dialog.showOpenDialog(owner, options) : await dialog.showOpenDialog(options)
      return canceled ? null : (filePaths[0] ?? null)
    },
    async confirm(question) {
      const options = boxOf(question)
      const owner = window()
      const { response } = owner?.isVisible() ? await dialog.showMessageBox(owner, options) : await dialog.showMessageBox(options)
      return response === 0
    },
    confirmAtOnce(question) {
      const options = boxOf(question)
      const owner = window()
      return (owner ? dialog.showMessageBoxSync(owner, options) : dialog.showMessageBoxSync(options)) === 0
    },
    openInBrowser: (url) => shell.openExternal(url.href),
    moveToTrash: (file) => shell.trashItem(file),
    notify({ title, body, onClick }) {
      if (!Notification.isSupported()) return
      const notification = new Notification({ title, body })
      notification.on('click', onClick)
      notification.show()
    },
    showCount: (count) => void app.setBadgeCount(count),
  }
}

function boxOf({ message, detail, yes, no }: Question) {
  return { type: 'question' as const, title: app.name, message, detail, buttons: [yes, no], defaultId: 1, cancelId: 1, noLink: true }
}
