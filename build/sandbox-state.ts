// Exits with 0 when the sandbox works on this machine; otherwise prints why it does not.
import { englishText } from '../src-runner/lib/messages.ts'
import { findSandbox } from '../src-runner/platform/sandbox/find-sandbox.ts'

const sandbox = await findSandbox()
if (sandbox.reason !== null) console.log(englishText(sandbox.reason))
process.exit(sandbox.works ? 0 : 1)
