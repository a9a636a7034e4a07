import { join } from 'node:path'
import { compareChats } from './chat-rates.ts'
import { ROOT, startProgram } from './processes.ts'
import { openDriver, openLibrary, silenceLibrary } from './whatsapp-clients.ts'
import type { MemoryOfAccounts } from './whatsapp-memory.ts'

/** A bare Baileys socket beside our driver. */
export async function benchWhatsApp(): Promise<void> {
  console.log = silenceLibrary()
  await compareChats({ service: 'WhatsApp', received: 50, sent: 50, library: openLibrary, driver: openDriver })
  console.log('\nMemory of linked WhatsApp accounts, each with its end at the local server, after collecting garbage')
  console.log('client | the first, resident MB | each further one, heap and buffers MB | each further one, resident MB')
  for (const client of ['library', 'driver']) {
    const { line, stop } = await startProgram<MemoryOfAccounts>(join(ROOT, 'build/bench/whatsapp-memory.ts'), [client])
    await stop()
    console.log([client, ...[line.first, line.heap, line.resident].map((mb) => mb.toFixed(2))].join(' | '))
  }
}
