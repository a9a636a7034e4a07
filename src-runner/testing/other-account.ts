import { spawnSync } from 'node:child_process'

/** The options of `execFile` for a program of another account of this machine. */
export const OTHER_ACCOUNT = { uid: 65_534, gid: 65_534, env: {}, cwd: '/' }

/** Only root may start a program as another account, and that account must be able to read Node: not below a private home. */
export function canActAsOtherAccount(): boolean {
  if (process.platform !== 'linux' || process.getuid!() !== 0) return false
  return spawnSync(process.execPath, ['-e', ''], OTHER_ACCOUNT).status === 0
}

/** Root may change files that their modes close. */
export async function asPlainAccount(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid!(OTHER_ACCOUNT.uid)
  try {
    await work()
  } finally {
    process.seteuid!(0)
  }
}
