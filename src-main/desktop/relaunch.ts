import type { App } from 'electron'
import { startAppImage } from '../updates/app-image.ts'

/** Starts the app again when this process has ended, without what this start was asked for, such as to open a link. */
export function relaunch(app: Pick<App, 'relaunch' | 'isPackaged' | 'getAppPath'>): void {
  const appImage = process.env['APPIMAGE']
  // An AppImage runs from a mount that is gone when this process has ended, so it starts at once.
  if (appImage) startAppImage(appImage)
  else app.relaunch({ args: app.isPackaged ? [] : [app.getAppPath()] })
}
