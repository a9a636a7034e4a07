import { expect, it } from 'vitest'
import { readTools } from './read-tools.ts'

it('bounds what all tools of a server describe together', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`field${i}`, { type: 'string', description: 'x'.repeat(40) }]),
  )
  const listed = Array.from({ length: 500 }, (_, i) => ({ name: `tool${i}`, description: 'word '.repeat(800), inputSchema: { type: 'object', properties } })) // prettier-ignore
  const tools = await readTools([listed])
  expect(tools).toHaveLength(500)
  expect(JSON.stringify(tools).length).toBeLessThan(1_300_000)
  expect(tools[0]).toMatchObject({ problem: null, inputSchema: { properties } })
  expect(tools.at(-1)).toMatchObject({ problem: { code: 'mcp_schema_too_large' }, inputSchema: { properties: {} } })
})
