import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Database from 'better-sqlite3'

/**
 * What a job costs at the least: the same call through the same model library, and its result in one synced
 * transaction. No queue, no steps, no events, no HTTP in front.
 *
 *   node build/bench/bare-loop.ts <model server url> <calls> <concurrency>
 */
const [url, calls, concurrency] = process.argv.slice(2)
const db = new Database(join(mkdtempSync(join(tmpdir(), 'deckhand-bench-')), 'bare.db'))
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE results (id INTEGER PRIMARY KEY, text TEXT NOT NULL, input INTEGER, output INTEGER) STRICT')
const insert = db.prepare('INSERT INTO results (text, input, output) VALUES (?, ?, ?)')
const store = db.transaction((text: string, input: number, output: number) => insert.run(text, input, output))
const model = createOpenAICompatible({ name: 'bare', baseURL: `${url}/v1`, includeUsage: true }).chatModel('small')

async function call(): Promise<void> {
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }] })
  let text = ''
  let input = 0
  let output = 0
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.delta
    else if (part.type === 'finish') {
      input = part.usage.inputTokens.total ?? 0
      output = part.usage.outputTokens.total ?? 0
    }
  }
  store(text, input, output)
}

async function run(count: number): Promise<number> {
  let left = count
  const before = performance.now()
  await Promise.all(
    Array.from({ length: Number(concurrency) }, async () => {
      while (left-- > 0) await call()
    }),
  )
  return count / ((performance.now() - before) / 1000)
}

await run(100)
process.stdout.write(`${JSON.stringify({ perSecond: await run(Number(calls)) })}\n`)
