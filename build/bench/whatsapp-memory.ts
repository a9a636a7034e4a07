// Measures the memory of linked accounts in a process of its own: whatsapp-memory.ts library|driver
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openDriver, openLibrary, silenceLibrary } from './whatsapp-clients.ts'

const ACCOUNTS = 16

/** MB. `first` includes the library. */
export type MemoryOfAccounts = { first: number; heap: number; resident: number }

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function measure(): Promise<{ heap: number; resident: number }> {
  // What was closed is released in several steps.
  for (let i = 0; i < 5; i++) {
    collect()
    await setTimeout(50)
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: (heapUsed + external) / 1e6, resident: rss / 1e6 }
}

const print = silenceLibrary()
const open = process.argv[2] === 'driver' ? openDriver : openLibrary
const empty = await measure()
await open(() => {})
const one = await measure()
for (let n = 0; n < ACCOUNTS; n++) await open(() => {})
const all = await measure()
const each = (of: 'heap' | 'resident') => (all[of] - one[of]) / ACCOUNTS
const result: MemoryOfAccounts = { first: one.resident - empty.resident, heap: each('heap'), resident: each('resident') }
print(JSON.stringify(result))
