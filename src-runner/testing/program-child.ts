import { findSandbox } from '../platform/sandbox/find-sandbox.ts'
import { startSandboxed } from '../platform/sandbox/start-sandboxed.ts'

/** A process that starts a program with a child of its own in the folder it is given, says so, and waits until it is killed. */
const [folder] = process.argv.slice(2) as [string]
const program = await startSandboxed({
  sandbox: await findSandbox(),
  command: ['/bin/sh', '-c', `/bin/sleep 300.${process.pid} & echo started; wait`],
  folder,
  writable: [folder],
  timeoutMs: 60_000,
})
program.stdout.on('data', (chunk: Buffer) => process.stdout.write(chunk))
await program.ended
