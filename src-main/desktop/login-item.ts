import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { app } from 'electron'
import { desktopEntry } from './desktop-entry.ts'
import { HIDDEN_FLAG } from './hidden-flag.ts'

const EXEC = /^Exec=.*$/m

/** Whether the system started Deckhand at login. */
export function startedAtLogin(): boolean {
  return process.argv.includes(HIDDEN_FLAG) || (process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin)
}

/** Whether Deckhand starts when the person signs in. */
export function setLoginItem(startsAtLogin: boolean): void {
  if (process.platform !== 'linux') return app.setLoginItemSettings({ openAtLogin: startsAtLogin, args: [HIDDEN_FLAG] })
  const file = autostartFile()
  if (!startsAtLogin) return rmSync(file, { force: true })
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, ownEntry())
}

/**
 * Lets the login start what runs now: an AppImage may have been moved, or replaced by one with another name. On Linux only.
 * What the person changed in the settings of the desktop stays: that the file is gone, or says that it is off.
 */
export function renewLoginItem(): void {
  const file = autostartFile()
  if (process.platform !== 'linux' || !existsSync(file)) return
  const [command] = EXEC.exec(ownEntry())!
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(EXEC, () => command),
  )
}

/** Electron does not support this on Linux. Desktops read this folder. */
const autostartFile = () => join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'autostart', 'deckhand.desktop')

function ownEntry(): string {
  // An AppImage runs from a temporary mount; this variable holds its file.
  const program = process.env['APPIMAGE'] ?? process.execPath
  const args = app.isPackaged ? [HIDDEN_FLAG] : [app.getAppPath(), HIDDEN_FLAG]
  return desktopEntry([program, ...args])
}
