import { expect, test } from 'vitest'
import { stepOf, type StepRow } from './job-rows.ts'

const resultOf = (ok: number, text: string) =>
  stepOf({ kind: 'tool_result', seq: 2, attempt: 1, created_at: 1, duration_ms: 1, call_id: 'c1', name: 'read_file', ok, text } as StepRow)

test('a call that failed says why by a code, where the sentence is ours', () => {
  const missing = { code: 'path_missing', facts: { name: 'b.md', folder: 'Docs' } }
  const output = "There is no 'b.md' in 'Docs'. Entries there: a.md, sub/."
  expect(resultOf(0, output)).toMatchObject({
    output,
    said: { ...missing, more: [{ code: 'path_entries', facts: { words: 'a.md, sub/' } }] },
  })
  expect(resultOf(0, "Not run: There is no 'b.md' in 'Docs'.")).toMatchObject({ said: missing })
  expect(resultOf(0, 'Not run: the arguments of read_file do not fit.\n- path: Invalid input')).toMatchObject({
    said: { code: 'call_arguments', facts: { tool: 'read_file' } },
  })
})

test.each([
  ['worked', 1, "There is no 'b.md' in 'Docs'."],
  ['said something of its own', 0, 'Segmentation fault'],
  ['said much', 0, `There is no 'b.md' in 'Docs'. Entries there: ${'x'.repeat(3000)}.`],
])('a call that %s has no code', (_, ok, text) => expect(resultOf(ok, text)).not.toHaveProperty('said'))
