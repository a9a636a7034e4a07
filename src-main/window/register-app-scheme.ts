import { protocol } from 'electron'
import { PAGE_URL } from '../security/own-page.ts'

export const SCHEME = new URL(PAGE_URL).protocol.slice(0, -1)

/** Must run before Electron is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, stream: true, codeCache: true } },
  ])
}
