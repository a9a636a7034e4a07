import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { app } from 'electron'
import { desktopEntry } from './desktop-entry.ts'

/** The system passes this when it starts Deckhand at login: start in the tray, without a window. */
const HIDDEN_FLAG = '--hidden'

/** Whether the system started Deckhand at login. */
export function startedAtLogin(): boolean {
  return process.argv.includes(HIDDEN_FLAG) || (process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin)
}

/** Whether Deckhand starts when the person signs in. */
export function setLoginItem(startsAtLogin: boolean): void {
  if (process.platform !== 'linux') return app.setLoginItemSettings({ openAtLogin: startsAtLogin, args: [HIDDEN_FLAG] })
  // Electron does not support this on Linux. Desktops read this folder.
  const folder = join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'autostart')
  const file = join(folder, 'deckhand.desktop')
  if (!startsAtLogin) return rmSync(file, { force: true })
  mkdirSync(folder, { recursive: true })
  // An AppImage runs from a temporary mount; this variable holds its file.
  const program = process.env['APPIMAGE'] ?? process.execPath
  const args = app.isPackaged ? [HIDDEN_FLAG] : [app.getAppPath(), HIDDEN_FLAG]
  writeFileSync(file, desktopEntry([program, ...args]))
}
