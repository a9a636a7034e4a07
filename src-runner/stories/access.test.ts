import { Agent, request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Access } from '../contract/port.ts'
import { MAX_FROM_ADDRESS } from '../contract/connection-limit.ts'
import { canActAsOtherAccount, OTHER_ACCOUNT } from '../testing/other-account.ts'
import { createTestRunner, TEST_SECRET, type TestRunner } from '../testing/create-test-runner.ts'

const NEW_SECRET = 'another-worker-secret-0123456789-abcdef'
const LOCAL: Access = { host: '127.0.0.1', authMode: 'local-trust', workerSecret: TEST_SECRET, hosts: [], origins: [] }
const SHARED: Access = { ...LOCAL, host: '0.0.0.0', authMode: 'local-auth' }
/** Leads to this machine, but not to a server that is bound to 127.0.0.1. */
const ANOTHER_ADDRESS = '127.0.0.2'
const IN_NETWORK = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address

describe('changing the access while the runner runs', () => {
  let test: TestRunner
  let agent: Agent
  beforeEach(async () => {
    test = await createTestRunner()
    agent = new Agent({ keepAlive: true, maxSockets: 1 })
  })
  afterEach(async () => {
    agent.destroy()
    await test.stop()
  })

  /** On one connection that stays open. */
  function ask(path: string, secret?: string, headers: Record<string, string> = {}): Promise<{ status: number; wasOpen: boolean }> {
    return new Promise((resolve, reject) => {
      const authorization = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
      const asked = request({ host: '127.0.0.1', port: test.port, path, agent, headers: { ...headers, ...authorization } }, (answer) =>
        answer.resume().on('end', () => resolve({ status: answer.statusCode!, wasOpen: asked.reusedSocket })),
      )
      asked.on('error', reject).end()
    })
  }

  it('is obeyed by the next request of an open connection', async () => {
    expect(await ask('/api/jobs')).toEqual({ status: 200, wasOpen: false })
    await test.runner.changeAccess({ ...LOCAL, authMode: 'local-auth' })
    expect(await ask('/api/jobs')).toEqual({ status: 401, wasOpen: true })
    expect(await ask('/api/jobs', TEST_SECRET)).toEqual({ status: 200, wasOpen: true })
    await test.runner.changeAccess({ ...LOCAL, authMode: 'local-auth', workerSecret: NEW_SECRET })
    expect(await ask('/api/jobs', TEST_SECRET)).toEqual({ status: 401, wasOpen: true })
    expect(await ask('/api/jobs', NEW_SECRET)).toEqual({ status: 200, wasOpen: true })
    expect(await ask('/api/jobs', NEW_SECRET, { host: 'deckhand.lan' })).toMatchObject({ status: 403 })
    await test.runner.changeAccess({ ...LOCAL, hosts: ['deckhand.lan'] })
    expect(await ask('/api/jobs', undefined, { host: 'deckhand.lan' })).toMatchObject({ status: 200 })
  })

  it('is not needed when the addresses of this machine change', async () => {
    await test.stop()
    let address = '192.168.77.5'
    test = await createTestRunner({ internet: { ownAddresses: () => [address] } })
    await test.runner.changeAccess({ ...SHARED, hosts: ['deckhand.local'] })
    const statuses = async () => {
      const found: number[] = []
      for (const host of ['127.0.0.1', 'deckhand.local', '192.168.77.5', '10.20.30.40'])
        found.push((await ask('/api/jobs', TEST_SECRET, { host, connection: 'close' })).status)
      return found
    }
    expect(await statuses()).toEqual([200, 200, 200, 403])
    address = '10.20.30.40'
    expect(await statuses()).toEqual([200, 200, 403, 200])
    // Not of this machine any more: on loopback it has no other name.
    await test.runner.changeAccess(LOCAL)
    expect(await statuses()).toEqual([200, 403, 403, 403])
  })

  it('opens the runner to no page, not even to one of the dashboard, which asks for its pages', async () => {
    const origins = ['http://127.0.0.1:3000', `http://127.0.0.1:${test.port}`, 'http://localhost:3000']
    await test.runner.changeAccess({ ...LOCAL, origins })
    for (const origin of origins) expect(await ask('/api/jobs', undefined, { origin })).toMatchObject({ status: 403 })
    const host = `127.0.0.1:${test.port}`
    expect(await ask('/api/jobs', undefined, { host, 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 403 })
    expect(await ask('/api/jobs')).toMatchObject({ status: 200 })
  })

  it('ends streams of the old rule, and jobs go on', async () => {
    const worker = await test.addAgent()
    test.modelServer.play({ text: ['Half of it'], fault: { kind: 'stall', afterFrames: 1 } })
    const { jobId } = await test.client.ok('submitTask', { body: { task: 'Take your time', agentId: worker.id } })
    await test.modelServer.untilReceived(1)
    const { events } = await test.client.stream('streamEvents')
    const ended = (async () => {
      for await (const _event of events);
    })()
    await test.runner.changeAccess({ ...LOCAL, authMode: 'local-auth' })
    await ended
    expect((await test.client.ask('getJob', { params: { jobId } })).status).toBe(401)
    await test.runner.changeAccess(LOCAL)
    expect((await test.client.ok('getJob', { params: { jobId } })).job).toMatchObject({ status: 'running', attempt: 1 })
  })

  it.runIf(process.platform === 'linux')('moves the same port to the network and back', async () => {
    expect(await reach()).toBe('refused')
    await test.runner.changeAccess(SHARED)
    expect(await reach()).toBe('reached')
    expect(await ask('/api/jobs')).toMatchObject({ status: 401 })
    await test.runner.changeAccess(LOCAL)
    expect(await reach()).toBe('refused')
    expect(await ask('/api/jobs')).toMatchObject({ status: 200 })
  })

  it.runIf(process.platform === 'linux')('keeps the old address and the stricter rule if the new one is taken', async () => {
    const squatter = createServer().listen(test.port, ANOTHER_ADDRESS)
    await once(squatter, 'listening')
    await expect(test.runner.changeAccess(SHARED)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(await ask('/api/jobs')).toMatchObject({ status: 401 })
    expect(await ask('/api/jobs', TEST_SECRET)).toMatchObject({ status: 200 })
    squatter.close()
  })

  it.runIf(IN_NETWORK !== undefined)('lets an address of the network hold some connections, and never all of them', async () => {
    await test.runner.changeAccess(SHARED)
    const sockets: Socket[] = []
    /** Whether it stays open. */
    const open = async () => {
      const socket = connect(test.port, IN_NETWORK).on('error', () => {})
      sockets.push(socket)
      socket.write('GET /api/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n')
      return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
    }
    const accepted = await Promise.all(Array.from({ length: MAX_FROM_ADDRESS }, open))
    expect([accepted.every(Boolean), await open()]).toEqual([true, false])
    expect(await ask('/api/jobs', TEST_SECRET)).toMatchObject({ status: 200 })
    sockets[0]!.destroy()
    await expect.poll(open).toBe(true)
    for (const socket of sockets) socket.destroy()
  })

  it('never opens the runner to the network without a secret', async () => {
    await expect(test.runner.changeAccess({ ...SHARED, authMode: 'local-trust' })).rejects.toThrow('open the runner to the network')
    expect(await reach()).toBe('refused')
  })

  it.runIf(canActAsOtherAccount())('another account of this machine gets in with the secret only', async () => {
    const script = `
      const send = (path, init) => fetch('${test.url}' + path, init).then(async (r) => r.status + ' ' + (await r.text()).slice(0, 32))
      const body = JSON.stringify({ name: 'Intruder' })
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      const answers = [await send('/api/health'), await send('/api/agents'), await send('/api/agents', post), await send('/nowhere')]
      // Closed at once, so that the kernel no longer knows whose it was.
      for (let i = 0; i < 20; i++) {
        const socket = require('node:net').connect(${test.port}, '127.0.0.1')
        await new Promise((resolve) => socket.once('connect', resolve))
        await new Promise((resolve) => socket.end('POST /api/agents HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\nContent-Length: ' + body.length + '\\r\\n\\r\\n' + body, resolve))
        socket.destroy()
      }
      console.log(JSON.stringify(answers))`
    const asNobody = () => promisify(execFile)(process.execPath, ['-e', `(async () => {${script}})()`], OTHER_ACCOUNT)
    const refused = '403 {"error":"forbidden_account"}'
    expect(JSON.parse((await asNobody()).stdout)).toEqual(['200 {"ok":true,"db":"ok","llm":"unch', ...Array(3).fill(refused.slice(0, 36))])
    expect((await test.client.ok('listAgents')).agents).toEqual([])
    await test.runner.changeAccess({ ...LOCAL, authMode: 'local-auth' })
    expect(JSON.parse((await asNobody()).stdout)[1]).toBe('401 {"error":"unauthorized"}')
  })

  function reach(): Promise<'reached' | 'refused'> {
    return new Promise((resolve) => {
      const socket = connect(test.port, ANOTHER_ADDRESS, () => resolve((socket.destroy(), 'reached')))
      socket.on('error', () => resolve('refused'))
    })
  }
})
