import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { importFrom } from './export-file.ts'

/** A runner that takes every line of history. */
async function startRunner() {
  const lines: unknown[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      lines.push(...(JSON.parse(body) as { lines: unknown[] }).lines)
      response.end(JSON.stringify({ result: { jobs: 0, conversations: 0, known: 0 } }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { endpoint: { url: `http://127.0.0.1:${port}`, host: '127.0.0.1', port, secret: 'secret' }, lines }
}

it('ends a line of an export file at a line feed alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-export-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'mine.ndjson')
  const text = 'One\u2028two\u2029three\u0085four'
  const head = { deckhand: 'export', version: 1, at: 0, setup: { text } }
  const history = [{ text }, { text: 'x'.repeat(200_000) }, { text: 'last' }]
  writeFileSync(file, [head, ...history].map((line) => JSON.stringify(line)).join('\n'))
  const { endpoint, lines } = await startRunner()
  await importFrom(endpoint, file, { historyOnly: true })
  expect(lines).toEqual(history)
})
