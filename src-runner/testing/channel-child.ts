// The runner as a process that a test kills, with local chat services. Its vault is a file, so that it outlives a kill.
//   MESSENGER   address of a local WhatsApp and, after a #, the key that it proves itself with
//   POST_FILE   the tool `post` adds a line to this file
//   KILL_AT     a point at which it dies by itself
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readRunnerEnvironment } from '../adapters/host/environment.ts'
import { openDatabase } from '../platform/db/open-database.ts'
import { silenceConsole } from '../platform/log/create-log.ts'
import { silentLog } from '../lib/log.ts'
import type { Vault } from '../lib/vault.ts'
import { createRunner } from '../runner.ts'
import { prepareDeath, type FaultPoint } from './fault-points.ts'
import { createPostTool } from './post-tool.ts'

silenceConsole(silentLog)
const { VAULT_FILE: file = '', MESSENGER: messenger, POST_FILE: postFile, KILL_AT: point } = process.env
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

const [url, rootKey] = messenger?.split('#') ?? []
const testMessenger = url === undefined ? {} : { testMessenger: { url, rootKey: rootKey! } }
await createRunner({
  config: { ...readRunnerEnvironment(process.env), ...testMessenger },
  vault,
  openDatabase(given) {
    const db = openDatabase(given)
    if (point !== undefined) prepareDeath(db)(point as FaultPoint)
    return db
  },
  moreTools: postFile === undefined ? [] : [createPostTool((text) => appendFileSync(postFile, `${text}\n`))],
}).start()
