import { englishText } from '../lib/messages.ts'
import { findSandbox } from '../platform/sandbox/find-sandbox.ts'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'

/** Begins the line that says why tests are skipped. */
export const NO_SANDBOX_HERE = 'no sandbox here: '

/**
 * The sandbox of this machine. If there is none, prints the reason, and its tests are skipped. In files that call this, the test report
 * counts skipped tests as those that need a sandbox.
 */
export async function findSandboxHere(kind?: 'bubblewrap'): Promise<{ sandbox: SandboxState; isMissing: boolean }> {
  const sandbox = await findSandbox()
  const isMissing = kind === undefined ? !sandbox.works : sandbox.kind !== kind
  if (isMissing) console.log(`${NO_SANDBOX_HERE}${sandbox.reason === null ? `only ${sandbox.kind}` : englishText(sandbox.reason)}`)
  return { sandbox, isMissing }
}
