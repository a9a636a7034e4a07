// electron-builder calls this with the unpacked app, before any installer is made of it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'

/** Electron's own demonstration app: electron-builder only removes it from an Electron that it has downloaded itself. */
export default function afterPack({ appOutDir, electronPlatformName, packager }) {
  const { productFilename } = packager.appInfo
  const resources = electronPlatformName === 'darwin' ? join(`${productFilename}.app`, 'Contents/Resources') : 'resources'
  rmSync(join(appOutDir, resources, 'default_app.asar'), { force: true })
}
