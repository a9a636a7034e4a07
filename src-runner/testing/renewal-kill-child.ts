import { openDatabase } from '../platform/db/open-database.ts'
import { shiftClock, systemClock } from '../lib/clock.ts'
import { createIds } from '../lib/ids.ts'
import { createFileVault, openRenewalRig } from './renewal-rig.ts'

/** A process that renews a token, and is killed after the service has answered, before the tokens are stored. */
const [file, vaultFile, host, credentialId] = process.argv.slice(2) as [string, string, string, string]
const clock = shiftClock(systemClock, 3_600_000)
const vault = createFileVault(vaultFile)
const rig = openRenewalRig(
  {
    db: openDatabase({ file, clock }),
    vault: { ...vault, set: async () => void process.kill(process.pid, 'SIGKILL') },
    clock,
    ids: createIds(() => clock.now()),
  },
  host,
)
await rig.credentials.use(credentialId, null, 'read')
