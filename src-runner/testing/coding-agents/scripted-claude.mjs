#!/usr/bin/env node
// Speaks the JSON stream of Claude Code 2.1.185 as its SDK declares it and the program itself was seen to, without a model. It does
// what the lines of its prompt say that begin with @.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const args = process.argv.slice(2)
const valueOf = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined)
if (args.includes('--version')) {
  console.log('2.1.185 (Claude Code)')
  process.exit(0)
}
if (args[0] === 'auth') {
  console.log(JSON.stringify({ loggedIn: true }))
  process.exit(0)
}
if (valueOf('--permission-prompt-tool') !== 'stdio' || valueOf('--setting-sources') !== '' || valueOf('--permission-mode') !== 'default') {
  console.error(`error: unknown option in ${args.join(' ')}`)
  process.exit(1)
}

const sessionId = valueOf('--session-id') ?? valueOf('--resume')
const folder = join(process.env.CLAUDE_CONFIG_DIR ?? process.env.HOME, 'sessions')
const file = join(folder, sessionId)
if (valueOf('--resume') !== undefined && !existsSync(file)) {
  console.error(`No conversation found with session ID: ${sessionId}`)
  process.exit(1)
}
mkdirSync(folder, { recursive: true })

const send = (message) => process.stdout.write(`${JSON.stringify({ session_id: sessionId, ...message })}\n`)
const usage = { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 5 }
const assistant = (part, more) =>
  send({
    type: 'assistant',
    message: { role: 'assistant', model: 'claude-test', content: [part], usage },
    parent_tool_use_id: null,
    ...more,
  })
const say = (text, more) => assistant({ type: 'text', text }, more)

let count = 0
let turns = 0
let interrupt = () => {}
const answers = new Map()

async function use(name, input, perform) {
  const id = `toolu_${process.pid}_${++count}`
  assistant({ type: 'tool_use', id, name, input })
  const request = { subtype: 'can_use_tool', tool_name: name, input, tool_use_id: id, permission_suggestions: [] }
  send({ type: 'control_request', request_id: `of-claude-${count}`, request })
  const { response } = await new Promise((resolve) => answers.set(`of-claude-${count}`, resolve))
  const [content, isError] = response.behavior === 'allow' ? perform(response.updatedInput) : [response.message, true]
  send({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] } })
  if (response.interrupt) throw new Error('interrupted')
}

const COMMANDS = {
  say,
  think: (thinking) => assistant({ type: 'thinking', thinking }),
  aside: (text) => say(text, { parent_tool_use_id: 'toolu_of_a_subagent' }),
  write: (rest) =>
    use('Write', { file_path: join(process.cwd(), rest.split(' ')[0]), content: rest.split(' ').slice(1).join(' ') }, (input) => {
      writeFileSync(input.file_path, input.content)
      return ['File created', false]
    }),
  run: (command) =>
    use('Bash', { command, description: 'Runs it' }, (input) => {
      const { status, stdout } = spawnSync('/bin/sh', ['-c', input.command], { encoding: 'utf8' })
      return [status === 0 ? stdout : `Exit code ${status}\n${stdout}`, status !== 0]
    }),
  turns: () => say(readFileSync(file, 'utf8')),
  hang: () => new Promise(() => {}),
  die: (code) => process.exit(Number(code)),
  'sign-out'() {
    say('Not logged in · Please run /login', { error: 'authentication_failed' })
    return { is_error: true, result: 'Not logged in · Please run /login', stop_reason: 'stop_sequence' }
  },
  overloaded: () => ({ is_error: true, result: 'API Error: 529 Overloaded' }),
  'max-turns': () => ({ is_error: true, subtype: 'error_max_turns' }),
  /** Asks for what nobody can give. */
  async hook() {
    send({ type: 'control_request', request_id: 'hook', request: { subtype: 'hook_callback', callback_id: 'x' } })
    const response = await new Promise((resolve) => answers.set('hook', resolve))
    say(response.subtype)
  },
  garbage: () =>
    void process.stdout.write(
      'not json\n[]\n{"type":"assistant","message":7}\n{"type":"user"}\n{"type":"control_request"}\n{"type":"control_response"}\n',
    ),
}

async function turn(text) {
  turns++
  appendFileSync(file, `${text.split('\n')[0]};`)
  send({ type: 'system', subtype: 'init', tools: [], model: 'claude-test', permissionMode: 'default' })
  let end = {}
  const stopped = new Promise((_, reject) => (interrupt = () => reject(new Error('interrupted'))))
  try {
    for (const line of text.split('\n').filter((one) => one.startsWith('@'))) {
      const at = line.indexOf(' ')
      const [name, rest] = at === -1 ? [line.slice(1), ''] : [line.slice(1, at), line.slice(at + 1)]
      end = (await Promise.race([COMMANDS[name](rest), stopped])) ?? end
    }
  } catch {
    end = { is_error: true, subtype: 'error_during_execution', errors: ['interrupted'] }
  }
  send({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: '',
    stop_reason: 'end_turn',
    usage,
    total_cost_usd: turns / 4,
    modelUsage: { 'claude-test': {} },
    ...end,
  })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  if (message.type === 'user') void turn(message.message.content[0].text)
  else if (message.type === 'control_response') answers.get(message.response.request_id)?.(message.response)
  else if (message.type === 'control_request') {
    if (message.request.subtype === 'interrupt') interrupt()
    send({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id, response: {} } })
  }
})
process.stdin.on('end', () => process.exit(0))
