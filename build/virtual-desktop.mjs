// Windows without a screen: measurements, drawings and window tests open theirs on a virtual desktop.
import { Stop } from './run.mjs'
import { missingPackages } from './system-packages.mjs'

/** False only where a window surely could not be shown. */
export function hasDisplay() {
  return process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY)
}

/** The command that runs `command` on a virtual desktop of its own, on Linux; elsewhere windows open where they always do. */
export function onVirtualDesktop(command) {
  if (process.platform !== 'linux') return command
  const missing = missingPackages(['window', 'tests'])
  if (missing) throw new Stop(`this opens windows on a virtual desktop, which needs: sudo ${missing}`)
  return ['build/with-desktop.sh', ...command]
}
