import { englishText } from '../lib/messages.ts'
import { findSandbox } from '../platform/sandbox/find-sandbox.ts'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'

/** What the test report looks for, to count skipped tests with their reason. */
export const NO_SANDBOX_HERE = 'no sandbox here: '

/** The sandbox of this machine for tests, and whether it is missing: then the reason is printed and the tests are skipped. */
export async function findSandboxHere(kind?: 'bubblewrap'): Promise<{ sandbox: SandboxState; isMissing: boolean }> {
  const sandbox = await findSandbox()
  const isMissing = kind === undefined ? !sandbox.works : sandbox.kind !== kind
  if (isMissing) console.log(`${NO_SANDBOX_HERE}${sandbox.reason === null ? `only ${sandbox.kind}` : englishText(sandbox.reason)}`)
  return { sandbox, isMissing }
}
