// `npm run dev:runner`: the runner alone from its sources, started again on every change, on data that is thrown away.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { begin, projectEnv, projectNode, root, say } from './run.mjs'
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
  keepRunning({ DECKHAND_DATA_DIR: folder, RUNNER_PORT: port, LOG_LEVEL: 'debug' })
})

/** Not `node --watch`: it opens a channel to what it starts, and the runner takes that for a host that will say how to run. */
function keepRunning(env) {
  let child = start()
  let change = null
  let leaving = false

  function start() {
    const started = spawn(projectNode, ['src-runner/main.ts'], { cwd: root, env: { ...projectEnv, ...env }, stdio: 'inherit' })
    started.on('exit', () => {
      if (leaving) process.exit(0)
      if (change === null) return say('the runner has ended; it starts again with the next change')
      change = null
      child = start()
    })
    return started
  }

  watch(join(root, 'src-runner'), { recursive: true }, (_event, file) => {
    if (change !== null || file?.endsWith('.test.ts')) return
    change = file
    say(`${file} has changed`)
    if (child.exitCode === null && child.signalCode === null) child.kill()
    else child.emit('exit')
  })
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      leaving = true
      if (!child.kill()) process.exit(0)
    })
  }
}
