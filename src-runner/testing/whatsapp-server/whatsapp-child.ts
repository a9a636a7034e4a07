// The runner as a process that a test kills, with a local WhatsApp. Its vault is a file, so that it outlives a kill.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readRunnerEnvironment } from '../../adapters/host/environment.ts'
import { silenceConsole } from '../../platform/log/create-log.ts'
import { silentLog } from '../../lib/log.ts'
import type { Vault } from '../../lib/vault.ts'
import { createRunner } from '../../runner.ts'

silenceConsole(silentLog)
const file = process.env['VAULT_FILE']!
const [url, rootKey] = process.env['MESSENGER']!.split('#')
const read = () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {})

function write(values: Record<string, string>): void {
  writeFileSync(`${file}.part`, JSON.stringify(values))
  renameSync(`${file}.part`, file)
}

const vault: Vault = {
  get: async (key) => read()[key] ?? null,
  set: async (key, value) => write({ ...read(), [key]: value }),
  async delete(key) {
    const { [key]: _gone, ...rest } = read()
    write(rest)
  },
}

const config = { ...readRunnerEnvironment(process.env), testMessenger: { url: url!, rootKey: rootKey! } }
await createRunner({ config, vault }).start()
