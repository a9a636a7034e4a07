import type { LinkState } from './link-state.ts'
import type { AuthenticationCreds, SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys'

export type Library = typeof import('@whiskeysockets/baileys')

/**
 * A server of a test, the key that it proves to be WhatsApp with, and how long a code is shown. null: the real one, as always in
 * an app that people get.
 */
export type TestServer = { url: string; rootKey: string; qrShownMs?: number | undefined } | null

let loading: Promise<Library> | null = null

/** Loaded with the first pairing or paired agent, because it takes 60 MB. */
export function loadLibrary(testServer: TestServer): Promise<Library> {
  loading ??= import('@whiskeysockets/baileys')
  return loading.then((library) => {
    if (testServer !== null) library.WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(testServer.rootKey, 'hex')
    return library
  })
}

/** The phone number in the id of a user, or the permanent number in a permanent id. */
export function numberIn(jid: string): string {
  return jid.split(/[:@]/)[0]!
}

const CREDS = 'creds'
const nothing = () => {}

/** The library's log entries hold messages and keys, so it has none. */
export const NO_LOG = {
  level: 'silent',
  child: () => NO_LOG,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
} as { level: string; child(): typeof NO_LOG } & Record<'trace' | 'debug' | 'info' | 'warn' | 'error', () => void>

/** Who this device is. null: it was never paired, or not until the end. */
export function readCreds({ BufferJSON }: Library, state: LinkState): AuthenticationCreds | null {
  const text = state.get(CREDS)
  const creds = text === undefined ? null : (JSON.parse(text, BufferJSON.reviver) as AuthenticationCreds)
  return creds?.me !== undefined && creds.account !== undefined ? creds : null
}

export function writeCreds({ BufferJSON }: Library, state: LinkState, creds: AuthenticationCreds): void {
  state.write([[CREDS, JSON.stringify(creds, BufferJSON.replacer)]])
}

/** The keys of the library, stored when `set` returns. Values are copies, because the library changes what it gets. */
export function createKeyStore(
  { BufferJSON, proto }: Library,
  state: LinkState,
  write: (changes: [string, string | null][]) => void = state.write,
): SignalKeyStore {
  return {
    get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
      const found: Record<string, SignalDataTypeMap[Type]> = {}
      for (const id of ids) {
        const text = state.get(`${type} ${id}`)
        if (text === undefined) continue
        const value = JSON.parse(text, BufferJSON.reviver) as object
        found[id] = (type === 'app-state-sync-key' ? proto.Message.AppStateSyncKeyData.fromObject(value) : value) as SignalDataTypeMap[Type]
      }
      return found
    },
    set(data: SignalDataSet) {
      write(
        Object.entries(data).flatMap(([type, values]) =>
          Object.entries(values ?? {}).map(([id, value]): [string, string | null] => [
            `${type} ${id}`,
            value === null || value === undefined ? null : JSON.stringify(value, BufferJSON.replacer),
          ]),
        ),
      )
    },
  }
}
