import { findSandbox } from '../platform/sandbox/find-sandbox.ts'
import { runSandboxed } from '../platform/sandbox/run-sandboxed.ts'

/**
 * A process that starts sandboxes one after another in the folder it is given until it is killed. A third of
 * them have the network, whose way out lies in a folder of its own.
 */
const [folder] = process.argv.slice(2) as [string]
const sandbox = await findSandbox()
for (let round = 0; ; round++) {
  const started = [0, 1, 2].map((one) =>
    runSandboxed({ sandbox, command: ['/bin/sleep', '300'], folder, writable: [folder], network: one === 0, timeoutMs: 300 + round }),
  )
  await Promise.all(started.map(({ outcome }) => outcome))
}
