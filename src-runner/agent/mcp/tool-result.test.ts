import { expect, it } from 'vitest'
import { readResult } from './tool-result.ts'

const options = { boundary: () => 'edge', scrub: (text: string) => text, asked: [], keep: () => Promise.resolve(1) }

it('writes structured content once, however many texts stand beside it', async () => {
  let writes = 0
  const structuredContent = { toJSON: () => ++writes && { rows: [1, 2] } }
  const content = Array.from({ length: 1_000 }, () => ({ type: 'text', text: '7' }))
  const { output } = await readResult({ content, structuredContent }, options)
  expect(output).toContain('7\n{"rows":[1,2]}\n[end')
  expect(writes).toBe(1)
})

it('shows structured content once if a text beside it says the same', async () => {
  const content = [{ type: 'text', text: 'Two rows:' }, { type: 'text', text: '{ "rows": [1, 2] }' }] // prettier-ignore
  const { output } = await readResult({ content, structuredContent: { rows: [1, 2] } }, options)
  expect(output.match(/rows"/g)).toHaveLength(1)
})

it('leaves structured content out that only repeats a text or an image', async () => {
  const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }
  const { output } = await readResult({ content: [image], structuredContent: { content: [image] } }, options)
  expect(output).toContain('[image: image/png, 1 KB, kept for the person as result 1]\n[end')
  const content = [{ type: 'text', text: 'line "one"\nline two' }]
  const repeated = await readResult({ content, structuredContent: { content: content[0]!.text } }, options)
  expect(repeated.output).toContain('line two\n[end')
  const more = await readResult({ content, structuredContent: { content: 'line two', found: 17 } }, options)
  expect(more.output).toContain('{"content":"line two","found":17}')
  const empty = await readResult({ content, structuredContent: { found: [] } }, options)
  expect(empty.output).toContain('{"found":[]}')
})
