#!/usr/bin/env node
// A coding program for tests, written by hand over the Agent Client Protocol, so that it is one file that can be copied anywhere and
// can break every rule. It does what the lines of its prompt say that begin with @, or if there is none, those of the file "script"
// beside it, or writes the task into NOTES.md. Lines that begin with "@start" in that file, or SCRIPTED_START, say how it starts.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

/** `Promise.withResolvers` of a newer Node: this runs with the one that is installed. */
function withResolvers() {
  const made = {}
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}

const scriptFile = join(import.meta.dirname, 'script')
const script = existsSync(scriptFile) ? readFileSync(scriptFile, 'utf8').split('\n') : []
const start = new Set([
  ...(process.env.SCRIPTED_START ?? '').split(' '),
  ...script.filter((line) => line.startsWith('@start ')).map((line) => line.slice('@start '.length).trim()),
])
const args = process.argv.slice(2)

if (args.includes('--version')) {
  console.log('1.18.33')
  process.exit(0)
}
if (args[0] === 'auth' || args[0] === 'login') {
  const isIn = !start.has('signed-out')
  if (args[0] === 'login') console.log(isIn ? 'Logged in using an API key' : 'Not logged in')
  else if (args[1] === 'list') console.log(`${isIn ? 1 : 0} credentials`)
  else console.log(JSON.stringify({ loggedIn: isIn }))
  process.exit(0)
}
if (start.has('unknown-argument')) {
  console.error(`error: unknown option '${args[0] ?? '--acp'}'`)
  process.exit(1)
}
if (start.has('die')) {
  console.error('cannot find my left foot')
  process.exit(3)
}
if (start.has('greet')) console.log('Welcome to the scripted agent!')
if (start.has('ignore-term')) process.on('SIGTERM', () => {})

const home = join(process.env.HOME ?? '/', '.scripted-agent')
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const raw = (text) => new Promise((written) => void process.stdout.write(text, () => written()))
const forever = new Promise(() => {})

let requests = 0
let calls = 0
const answers = new Map()
/** The open session. */
let session = null
let cancelled = withResolvers()

function request(method, params) {
  const id = `of-agent-${++requests}`
  const answer = withResolvers()
  answers.set(id, answer.resolve)
  send({ id, method, params })
  return answer.promise
}

const update = (update, sessionId = session.id) => send({ method: 'session/update', params: { sessionId, update } })
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const save = () => {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, `${session.id}.json`), JSON.stringify(session))
}

const OPTIONS = [
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]

function begin(call) {
  const toolCallId = `call-${process.pid}-${++calls}`
  update({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...call })
  return toolCallId
}
const finish = (toolCallId, more) => update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', ...more })
const textOf = (text) => [{ type: 'content', content: { type: 'text', text } }]

/** Whether it may. */
async function ask(toolCallId, call, options = OPTIONS) {
  const { outcome } =
    (await request('session/request_permission', { sessionId: session.id, toolCall: { toolCallId, ...call }, options })) ?? {}
  if (outcome?.outcome === 'selected') return outcome.optionId === 'yes' || outcome.optionId === 'always'
  return false
}

function diffOf(path, after) {
  const full = resolve(session.cwd, path)
  const before = existsSync(full) ? readFileSync(full, 'utf8') : null
  return { type: 'diff', path: full, oldText: before, newText: after }
}

function put(path, text) {
  const full = resolve(session.cwd, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
}

async function write(path, text, { asks }) {
  const call = {
    title: `Write ${path}`,
    kind: 'edit',
    locations: [{ path: resolve(session.cwd, path) }],
    rawInput: { file_path: path, content: text },
    content: [diffOf(path, text)],
  }
  const id = begin(call)
  if (asks && !(await ask(id, call))) return finish(id, { status: 'failed', content: textOf('Rejected by the person.') })
  try {
    put(path, text)
    finish(id)
  } catch (error) {
    finish(id, { status: 'failed', content: textOf(error.message) })
  }
}

async function run(command, { asks }) {
  const call = { title: command, kind: 'execute', rawInput: { command, description: 'Runs it.' } }
  const id = begin(call)
  if (asks && !(await ask(id, call))) return finish(id, { status: 'failed', content: textOf('Rejected by the person.') })
  update({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress' })
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], { cwd: session.cwd, encoding: 'utf8' })
  finish(id, { status: status === 0 ? 'completed' : 'failed', content: textOf(stdout + stderr), rawOutput: { exit_code: status } })
}

const COMMANDS = {
  say: (text) => say(text.replaceAll('\\n', '\n')),
  think: (text) => update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } }),
  /** path text */
  write: (rest) => write(...split(rest), { asks: true }),
  /** The same without a request. */
  put: (rest) => write(...split(rest), { asks: false }),
  delete(path) {
    const id = begin({ title: `Delete ${path}`, kind: 'delete', locations: [{ path: resolve(session.cwd, path) }] })
    rmSync(resolve(session.cwd, path), { recursive: true, force: true })
    finish(id)
  },
  read(path) {
    const id = begin({ title: `Read ${path}`, kind: 'read', locations: [{ path: resolve(session.cwd, path) }] })
    try {
      finish(id, { content: textOf(readFileSync(resolve(session.cwd, path), 'utf8')) })
    } catch (error) {
      finish(id, { status: 'failed', content: textOf(error.message) })
    }
  },
  run: (command) => run(command, { asks: true }),
  'run-unasked': (command) => run(command, { asks: false }),
  async fetch(url) {
    const call = { title: `Fetch ${url}`, kind: 'fetch', rawInput: { url } }
    const id = begin(call)
    const may = await ask(id, call)
    finish(id, { status: may ? 'completed' : 'failed' })
  },
  /** input output dollars cached */
  usage(rest) {
    const [inputTokens, outputTokens, amount, cachedReadTokens = 0] = rest.split(' ').map(Number)
    session.usage = { inputTokens, outputTokens, cachedReadTokens, totalTokens: inputTokens + outputTokens + cachedReadTokens }
    update({ sessionUpdate: 'usage_update', used: inputTokens, size: 200_000, cost: { amount, currency: 'USD' } })
  },
  /** Asks as Gemini CLI does: without input, and with nothing said before. */
  async 'ask-by-title'(title) {
    await ask(`call-${process.pid}-${++calls}`, { title, kind: 'execute', status: 'pending', content: [], locations: [] })
    session.meta = { quota: { token_count: { input_tokens: 70, output_tokens: 8 }, model_usage: [{ model: 'gemini-test' }] } }
  },
  async 'always-only'() {
    const call = { title: 'Everything', kind: 'other' }
    say((await ask(begin(call), call, OPTIONS.slice(0, 1))) ? 'got always' : 'got nothing')
  },
  turns: () => say(`turn ${session.turns.length}: ${session.turns.join(' | ')}`),
  variable: (name) => say(`${name}=${process.env[name] ?? ''}`),
  // Faults.
  hang: () => forever,
  die: (code) => process.exit(Number(code || 1)),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  complain: (text) => void process.stderr.write(`${text}\n`),
  'ignore-cancel': () => void start.add('ignore-cancel'),
  'ignore-term': () => void process.on('SIGTERM', () => {}),
  lie(path) {
    const id = begin({
      title: `Write ${path}`,
      kind: 'edit',
      locations: [{ path: resolve(session.cwd, path) }],
      content: [diffOf(path, 'a lie')],
    })
    finish(id)
  },
  outside() {
    const id = begin({
      title: 'Look around',
      kind: 'edit',
      locations: [{ path: '/etc/passwd' }, { path: '../../secret' }, { path: 'C:\\x' }],
    })
    finish(id, { content: [{ type: 'diff', path: '/etc/shadow', oldText: null, newText: 'root::0:0' }] })
  },
  async 'ask-forever'() {
    for (;;) await COMMANDS.run('true')
  },
  'ask-at-once'(count) {
    for (let i = 0; i < Number(count); i++) {
      const call = { title: `Question ${i}`, kind: 'other' }
      void ask(begin(call), call)
    }
    return forever
  },
  async 'flood-text'() {
    for (;;)
      await raw(
        `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: session.id, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x'.repeat(50_000) } } } })}\n`,
      )
  },
  async 'flood-calls'() {
    for (;;) {
      const id = begin({ title: 'again', kind: 'read' })
      finish(id)
      if (calls % 200 === 0) await raw('')
    }
  },
  /** Asks once, and goes on with large edits. */
  async 'ask-and-flood'() {
    void ask(begin({ title: 'May I?' }), { title: 'May I?' })
    for (;;) {
      finish(begin({ title: 'Large', kind: 'edit', content: [{ type: 'diff', path: '/a', newText: 'x'.repeat(300_000) }] }))
      await raw('')
    }
  },
  /** Sends requests that nobody knows, and reads no answer. */
  async deaf() {
    process.stdin.pause()
    for (;;) await raw(`${JSON.stringify({ jsonrpc: '2.0', id: `${'i'.repeat(200_000)}${++requests}`, method: 'no/such' })}\n`)
  },
  /** Reads nothing more, asks until its answers cannot be sent, and lives on for a while. */
  'hang-up'() {
    process.stdin.destroy()
    closeSync(0)
    setInterval(() => void ask(begin({ title: 'Hello?' }), { title: 'Hello?' }), 20)
    setTimeout(() => process.exit(0), 1000)
    return forever
  },
  'open-calls'(count) {
    for (let i = 0; i < Number(count); i++) begin({ title: 'open', kind: 'read' })
    return forever
  },
  async 'flood-errors'() {
    for (;;) await new Promise((written) => void process.stderr.write('x'.repeat(1_000_000), () => written()))
  },
  garbage: () => raw('{"jsonrpc":"2.0","id":\n\u0000\u0001 not json \n[1,2,3]\n"text"\n{"jsonrpc":"2.0"}\n{"id":7}\n'),
  /** Megabytes in one line. */
  huge: async (count) => {
    for (let i = 0; i < Number(count); i++) await raw('x'.repeat(1024 * 1024))
    await raw('\n')
    await forever
  },
  strange() {
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'é'.repeat(5_000),
      title: 'a\u202eb\u0007\nc',
      kind: 'switch_mode',
      status: 'sleeping',
      content: 7,
      locations: [{}, 3, { path: 9 }],
    })
    update({ sessionUpdate: 'tool_call', toolCallId: 12 })
    update({ sessionUpdate: 'from_the_future', content: { type: 'hologram' } })
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'not mine' } }, 'other-session')
    update({ sessionUpdate: 'usage_update', cost: { amount: -1, currency: 'USD' } })
    update({ sessionUpdate: 'usage_update', cost: { amount: 5, currency: 'EUR' } })
    send({ id: 'not-asked', result: {} })
    send({ id: 999, method: 'fs/read_text_file', params: { sessionId: session.id, path: '/etc/passwd' } })
    send({ id: 998, method: 'terminal/create', params: { sessionId: session.id, command: 'id' } })
    return Promise.all(['999', '998'].map((id) => new Promise((resolve) => answers.set(id, resolve)))).then((results) =>
      say(`refused: ${results.map((result) => result === undefined).join()}`),
    )
  },
  /** A child that outlives its parent if nobody ends it. */
  child() {
    const child = spawn('/bin/sh', ['-c', `trap '' TERM HUP; while :; do sleep 1; done # ${session.cwd}`], {
      detached: true,
      stdio: 'ignore',
    })
    child.unref()
    say(`child ${child.pid}`)
  },
  /** Ends its turn as if it had not been cancelled, and goes on writing. */
  async late() {
    await cancelled.promise
    say('still here')
    put('late.txt', 'late')
  },
  fail: (text) => Promise.reject(Object.assign(new Error(text), { code: -32_603 })),
  'sign-out': () => Promise.reject(Object.assign(new Error('Authentication required'), { code: -32_000 })),
}

function split(rest) {
  const at = rest.indexOf(' ')
  return at === -1 ? [rest, ''] : [rest.slice(0, at), rest.slice(at + 1).replaceAll('\\n', '\n')]
}

async function perform(text) {
  const own = text.split('\n').filter((line) => line.startsWith('@'))
  const lines = own.length > 0 ? own : script.filter((line) => line.startsWith('@') && !line.startsWith('@start '))
  if (lines.length === 0) {
    say('I wrote the task down. ')
    return write('NOTES.md', `${text}\n`, { asks: true })
  }
  for (const line of lines) {
    const [name, rest] = split(line.slice(1))
    const step = COMMANDS[name] ?? (() => say(`What is ${name}? `))
    await Promise.race([
      step(name === 'write' || name === 'put' ? line.slice(name.length + 2) : rest),
      name === 'late' ? forever : stopped(),
    ])
  }
}

/** Rejects when the turn is cancelled. */
async function stopped() {
  await cancelled.promise
  if (start.has('ignore-cancel')) return forever
  throw new Error('cancelled')
}

const METHODS = {
  initialize: () => ({
    protocolVersion: start.has('old') ? 0 : 1,
    agentCapabilities: { loadSession: !start.has('no-load') },
    agentInfo: { name: 'scripted-agent', version: '1.18.33' },
  }),
  'session/new'({ cwd }) {
    if (start.has('signed-out')) throw Object.assign(new Error('Authentication required'), { code: -32_000 })
    session = { id: `session-${process.pid}-${Date.now()}`, cwd, turns: [] }
    save()
    return { sessionId: session.id }
  },
  'session/load'({ sessionId }) {
    const file = join(home, `${sessionId}.json`)
    if (!existsSync(file)) throw Object.assign(new Error('Session not found'), { code: -32_002 })
    session = JSON.parse(readFileSync(file, 'utf8'))
    for (const text of session.turns) {
      update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } })
      say(`(earlier) ${text}`)
    }
    return {}
  },
  async 'session/prompt'({ prompt }) {
    const text = prompt.map((part) => part.text ?? '').join('')
    session.turns.push(text.split('\n')[0])
    save()
    cancelled = withResolvers()
    let wasCancelled = false
    void cancelled.promise.then(() => (wasCancelled = true))
    try {
      await perform(text)
    } catch (error) {
      if (!wasCancelled) throw error
      return { stopReason: 'cancelled' }
    }
    return { stopReason: 'end_turn', ...(session.usage === undefined ? {} : { usage: session.usage }), _meta: session.meta }
  },
}

async function take(message) {
  if (message.method === undefined) {
    answers.get(String(message.id))?.(message.result)
    return
  }
  if (message.method === 'session/cancel') return cancelled.resolve()
  if (message.id === undefined) return
  if (start.has('silent')) return
  if (start.has('silent-session') && message.method === 'session/new') return
  const method = METHODS[message.method]
  if (method === undefined) return send({ id: message.id, error: { code: -32_601, message: 'Method not found' } })
  try {
    send({ id: message.id, result: await method(message.params) })
  } catch (error) {
    send({ id: message.id, error: { code: error.code ?? -32_603, message: error.message } })
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void take(JSON.parse(line)))
process.stdin.on('end', () => process.exit(0))
