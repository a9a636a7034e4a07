import { expect, test } from 'vitest'
import { findOldTerms } from './old-terms.mjs'

test.each([
  ['a comment', '// Release the brake first.', 'brake'],
  ['a part of a name', 'const clockworkTick = 1', 'clockwork'],
  ['a constant', 'const BRAKE_ON = 1', 'BRAKE'],
  ['a snake_case name', 'SELECT ledger_row FROM runs', 'ledger'],
])('finds an old term in %s', (_where, line, term) => {
  expect(findOldTerms('src-runner/a.ts', `\n${line}`)).toEqual([expect.stringContaining(`src-runner/a.ts:2: "${term}"`)])
})

test.each(['const inbox = 1', 'Unledgered', 'display: inline-box', 'renewed'])('leaves "%s" alone', (line) => {
  expect(findOldTerms('src-renderer/a.ts', line)).toEqual([])
})
