/**
 * Speaks the runner's end of the port, with a real server, and misbehaves as the test asks through FIXTURE (JSON). Only
 * tests start it.
 */
import { createServer } from 'node:http'
import { type FromRunner, ToRunner } from '../../src-runner/contract/port.ts'

type Refusal = Extract<FromRunner, { type: 'failed' }>
type Fixture = {
  exitAtStart?: number
  refuse?: Refusal['code']
  /** Never gets ready. */
  hangAtStart?: boolean
  ignoreStop?: boolean
  askVault?: boolean
  /** A path. */
  askTrash?: string
  babble?: boolean
  tellEnvironment?: boolean
  /** At a change of the access: says that the port is taken, and stays until it is killed. */
  loseListener?: boolean
}
const fixture = JSON.parse(process.env['FIXTURE'] ?? '{}') as Fixture
const say = (message: FromRunner) => process.send!(message)
const notification = (title: string) =>
  say({ type: 'notification', kind: 'job_failed', title: { code: 'quoted', params: { words: title } }, body: null, path: '/' })
const seen: string[] = []
const server = createServer((request, response) => {
  seen.push(request.headers.authorization ?? 'none')
  response.end(JSON.stringify({ seen }))
})

process.on('disconnect', () => process.exit(0))
process.on('message', (raw) => {
  const message = ToRunner.parse(raw)
  if (message.type === 'start') return start(message.config)
  if (message.type === 'ping') return say({ type: 'pong', nonce: message.nonce })
  if (message.type === 'set_access') {
    if (fixture.loseListener) return say(refusal('port_taken'))
    notification(JSON.stringify(message.access))
    return say({ type: 'access_set', problem: null })
  }
  if (message.type === 'vault.answer' || message.type === 'trash.answer') return notification(JSON.stringify(message))
  if (message.type === 'cancel_job') return notification(`cancel ${message.jobId}`)
  if (['answer_approval', 'set_pause_all', 'set_tunnel', 'set_language', 'set_origins', 'woke'].includes(message.type))
    return notification(JSON.stringify(message))
  if (message.type === 'stop' && !fixture.ignoreStop) {
    say({ type: 'stopped' })
    process.exit(0)
  }
})
if (fixture.exitAtStart !== undefined) process.exit(fixture.exitAtStart)
say({ type: 'hello' })

function start(config: Extract<ToRunner, { type: 'start' }>['config']): void {
  if (fixture.refuse) return refuse(fixture.refuse)
  if (fixture.hangAtStart) return
  server.on('error', (error: NodeJS.ErrnoException) => refuse(error.code === 'EADDRINUSE' ? 'port_taken' : 'internal'))
  server.listen({ host: config.host, port: config.port }, () => {
    const address = server.address() as { port: number }
    if (fixture.babble) process.send!({ type: 'ready', port: 'not a number' })
    say({ type: 'ready', host: config.host, port: address.port, bootId: 'boot' })
    say({
      type: 'running',
      jobs: [],
      pending: 2,
      approvals: 1,
      waiting: [],
      pauseAll: false,
      webhooks: { url: null, check: 'unknown', tunnel: null },
    })
    if (fixture.askVault) {
      say({ type: 'vault.ask', requestId: 1, operation: 'set', key: 'provider:a', value: 'kept' })
      say({ type: 'vault.ask', requestId: 2, operation: 'get', key: 'provider:a', value: null })
    }
    if (fixture.askTrash !== undefined) say({ type: 'trash.ask', requestId: 3, path: fixture.askTrash })
    if (fixture.tellEnvironment) notification(JSON.stringify({ env: process.env, argv: process.argv }))
  })
}

function refuse(code: Refusal['code']): void {
  say(refusal(code))
  process.disconnect()
}

function refusal(code: Refusal['code']): Refusal {
  return { type: 'failed', code, message: { code: 'quoted', params: { words: `refused: ${code}` } } }
}
