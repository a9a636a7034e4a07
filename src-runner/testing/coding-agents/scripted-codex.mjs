#!/usr/bin/env node
// Speaks what `codex exec --json` of 0.166.0 writes, as its SDK declares it and the program itself was seen to, without a model. It
// does what the lines of its prompt say that begin with @. As `codex-acp` is another program, so is scripted-agent.mjs.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const args = process.argv.slice(2)
if (args.includes('--version')) {
  console.log('codex-cli 0.166.0')
  process.exit(0)
}
if (args[0] === 'login') {
  console.log('Logged in using an API key')
  process.exit(0)
}
const [command, ...flags] = args
if (
  command !== 'exec' ||
  flags.at(-1) !== '-' ||
  !flags.includes('--json') ||
  !flags.includes('--dangerously-bypass-approvals-and-sandbox')
) {
  console.error(`error: unexpected argument in ${args.join(' ')}`)
  process.exit(2)
}

const folder = join(process.env.CODEX_HOME ?? process.env.HOME, 'sessions')
const resumed = flags.includes('resume') ? flags[flags.indexOf('resume') + 1] : null
if (resumed !== null && !existsSync(join(folder, resumed))) {
  console.error(`Error: thread/resume: thread/resume failed: no rollout found for thread id ${resumed} (code -32600)`)
  process.exit(1)
}
const prompt = await text(process.stdin)
const id = resumed ?? randomUUID()
mkdirSync(folder, { recursive: true })
appendFileSync(join(folder, id), `${prompt.split('\n')[0]};`)

const send = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
let count = 0
const item = (more) => ({ id: `item_${count}`, ...more })
const complete = (more) => send({ type: 'item.completed', item: item(more) })

const COMMANDS = {
  say: (words) => complete({ type: 'agent_message', text: words }),
  think: (words) => complete({ type: 'reasoning', text: words }),
  write(rest) {
    const [path, ...words] = rest.split(' ')
    writeFileSync(path, words.join(' '))
    complete({ type: 'file_change', changes: [{ path: join(process.cwd(), path), kind: 'add' }], status: 'completed' })
  },
  run(line) {
    send({ type: 'item.started', item: item({ type: 'command_execution', command: line, aggregated_output: '', status: 'in_progress' }) })
    const { status, stdout } = spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8' })
    const end = { exit_code: status, status: status === 0 ? 'completed' : 'failed' }
    complete({ type: 'command_execution', command: line, aggregated_output: stdout, ...end })
  },
  search: (query) => complete({ type: 'web_search', query }),
  turns: () => complete({ type: 'agent_message', text: readFileSync(join(folder, id), 'utf8') }),
  hang: () => new Promise(() => setInterval(() => {}, 1_000)),
  die: (code) => process.exit(Number(code)),
  reconnect: () => send({ type: 'error', message: 'Reconnecting... 2/5 (stream disconnected before completion)' }),
  fail(message) {
    send({ type: 'turn.failed', error: { message } })
    process.exit(1)
  },
  garbage: () =>
    process.stdout.write(
      'not json\n[]\n{"type":"item.completed","item":7}\n{"type":"item.started","item":{"id":4}}\n{"type":"turn.failed2"}\n',
    ),
}

send({ type: 'thread.started', thread_id: id })
send({ type: 'turn.started' })
for (const line of prompt.split('\n').filter((one) => one.startsWith('@'))) {
  count++
  const at = line.indexOf(' ')
  await (at === -1 ? COMMANDS[line.slice(1)]('') : COMMANDS[line.slice(1, at)](line.slice(at + 1)))
}
send({ type: 'turn.completed', usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 7 } })
