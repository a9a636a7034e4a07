import type { App } from 'electron'
import { startAppImage } from '../updates/app-image.ts'
import { HIDDEN_FLAG } from './hidden-flag.ts'

/**
 * Starts the app again when this process has ended, without what this start was asked for: to open a link, or to stay hidden. It
 * keeps the switches for Chromium, without which it may not start, such as `--no-sandbox` for root.
 */
export function relaunch(app: Pick<App, 'relaunch' | 'isPackaged' | 'getAppPath'>, argv: readonly string[] = process.argv): void {
  const appImage = process.env['APPIMAGE']
  // An AppImage runs from a mount that is gone when this process has ended, so it starts at once.
  if (appImage) return startAppImage(appImage)
  const switches = argv.slice(1).filter((arg) => /^--./.test(arg) && arg !== HIDDEN_FLAG)
  app.relaunch({ args: app.isPackaged ? switches : [...switches, app.getAppPath()] })
}
