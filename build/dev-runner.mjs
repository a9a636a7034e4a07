// `npm run dev:runner`: the runner alone from its sources, started again on every change, on data that is thrown away.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { begin, handOver, projectNode, say } from './run.mjs'
import { setUp } from './setup.mjs'

await begin(async () => {
  await setUp()
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-dev-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const port = process.env.RUNNER_PORT ?? '3001'
  say(`data folder of this run: ${folder}`)
  say(`try: curl -s http://127.0.0.1:${port}/api/health`)
  say(`     curl -s http://127.0.0.1:${port}/api/agents -H 'content-type: application/json' -d '{"name":"Ada"}'`)
  say(`     curl -s http://127.0.0.1:${port}/api/agent -H 'content-type: application/json' -d '{"task":"Say hello"}'`)
  handOver(projectNode, ['--watch', 'src-runner/main.ts'], { env: { DECKHAND_DATA_DIR: folder, RUNNER_PORT: port, LOG_LEVEL: 'debug' } })
})
