// Exits with 0 when the sandbox works on this machine; otherwise prints why it does not.
import { findBox } from '../src-runner/base/box/find-box.ts'

const box = await findBox()
if (!box.works) console.log(box.reason)
process.exit(box.works ? 0 : 1)
