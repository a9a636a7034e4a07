// The least that an app like Deckhand can be: one window with one line of text, and one empty utility process.
import { join } from 'node:path'
import { app, BrowserWindow, utilityProcess } from 'electron'

// Not awaited: Electron becomes ready only after this module has been evaluated.
void app.whenReady().then(() => {
  const window = new BrowserWindow({ width: 1200, height: 800, show: false, webPreferences: { sandbox: true, contextIsolation: true } })
  window.once('ready-to-show', () => window.show())
  void window.loadFile(join(import.meta.dirname, 'index.html'))
  utilityProcess.fork(join(import.meta.dirname, 'utility.js'))
})
