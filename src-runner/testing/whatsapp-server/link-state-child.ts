// Changes a link state until it is killed, and reports each change that is stored: its number, and the one that it found.
import { writeSync } from 'node:fs'
import { openLinkState } from '../../adapters/channels/whatsapp/link-state.ts'

const [, , file, key] = process.argv
const state = openLinkState(file!, key!)!
for (;;) {
  const found = Number(state.get('number') ?? 0)
  state.write([
    ['number', String(found + 1)],
    [`key ${found + 1}`, String(found + 1)],
    [`key ${found - 50}`, null],
    ['padding', 'x'.repeat((found * 977) % 30_000)],
  ])
  writeSync(1, `${found + 1} ${found}\n`)
}
