import type { WASocket } from '@whiskeysockets/baileys'
import { createKeyStore, loadLibrary, NO_LOG } from '../../src-runner/adapters/channels/whatsapp/library.ts'
import type { LinkState } from '../../src-runner/adapters/channels/whatsapp/link-state.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { silentLog } from '../../src-runner/lib/log.ts'
import { silenceConsole } from '../../src-runner/platform/log/create-log.ts'
import { startPairedDevice } from '../../src-runner/testing/whatsapp-server/paired-device.ts'
import { startWhatsAppServer } from '../../src-runner/testing/whatsapp-server/whatsapp-server.ts'
import { connectDriver, type OpenChatClient } from './chat-rates.ts'

/** The encryption prints keys. Returns what still prints. */
export function silenceLibrary(): (line: string) => void {
  const print = console.log
  silenceConsole(silentLog)
  return print
}

/** Our driver, which has each key on disk before it is used. */
export const openDriver: OpenChatClient = async (onMessage) => {
  const { server, driver, access, person, close } = await startPairedDevice(systemClock)
  const connected = await connectDriver(driver, access, () => person.jid, onMessage)
  return {
    say: (text) => void server.say(person, text),
    send: connected.send,
    close: () => connected.close().then(close),
  }
}

/** A bare Baileys socket, which keeps its keys in memory. */
export const openLibrary: OpenChatClient = async (onMessage) => {
  const server = await startWhatsAppServer()
  const library = await loadLibrary({ url: server.url, rootKey: Buffer.from(server.rootKey).toString('hex') })
  const creds = library.initAuthCreds()
  const keys = createKeyStore(library, inMemory())
  let isClosing = false

  /** After pairing, the service asks for a new connection. */
  function connect(): Promise<WASocket> {
    return new Promise((resolve) => {
      const socket = library.makeWASocket({
        waWebSocketUrl: server.url,
        auth: { creds, keys },
        logger: NO_LOG,
        markOnlineOnConnect: false,
        shouldSyncHistoryMessage: () => false,
      })
      socket.ev.on('creds.update', (changes) => void Object.assign(creds, changes))
      socket.ev.on('messages.upsert', ({ messages }) => messages.forEach(({ key }) => key.fromMe !== true && onMessage()))
      socket.ev.on('connection.update', ({ connection, qr }) => {
        if (qr !== undefined) server.scan(qr)
        if (connection === 'open') resolve(socket)
        if (connection === 'close' && !isClosing) resolve(connect())
      })
    })
  }

  const socket = await connect()
  const person = server.addPerson('4915112345678', 'Anna Berg')
  return {
    say: (text) => void server.say(person, text),
    send: (text) => socket.sendMessage(person.jid, { text }),
    async close() {
      isClosing = true
      void socket.end(undefined)
      await server.close()
    },
  }
}

function inMemory(): LinkState {
  const held = new Map<string, string>()
  return {
    get: (name) => held.get(name),
    names: () => held.keys(),
    write(changes) {
      for (const [name, value] of changes) {
        if (value === null) held.delete(name)
        else held.set(name, value)
      }
    },
    close() {},
  }
}
