import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { builtChild } from '../src-runner/testing/built-children.ts'
import { findFreePort } from '../src-runner/testing/free-port.ts'
import { startModelServer, type ModelServer } from '../src-runner/testing/model-servers/model-server.ts'
import { createRunnerClient, type RunnerClient } from '../src-runner/testing/runner-client.ts'
import { startWhatsAppServer, type WhatsAppServer } from '../src-runner/testing/whatsapp-server/whatsapp-server.ts'
import { endProcess, startRunnerProcess, untilHealthy } from './runner-process.ts'

/** build/test-long.mjs kills more often. */
const KILLS = process.env['WHATSAPP_KILLS'] === undefined ? 4 : Number(process.env['WHATSAPP_KILLS'])
const CHILD = builtChild('channel-child')
const HEALTHY_WITHIN_MS = 120_000

let folder: string
let server: WhatsAppServer
let models: ModelServer
let client: RunnerClient
let child: ChildProcess | null = null

beforeEach(async () => {
  // The encryption prints keys.
  for (const level of ['info', 'warn', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => {})
  folder = mkdtempSync(join(tmpdir(), 'deckhand-wa-kills-'))
  server = await startWhatsAppServer()
  // The answer names the question.
  models = await startModelServer({ fallback: (request) => ({ text: [`answer ${questionIn(request)}`] }) })
})
afterEach(async () => {
  if (child !== null) await endProcess(child, 'SIGKILL')
  await models.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function questionIn(request: unknown): string {
  return [...JSON.stringify(request).matchAll(/question (\d+)/g)].at(-1)?.[1] ?? 'none'
}

async function start(port: number, signal: AbortSignal): Promise<void> {
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { recursive: true })
  const messenger = `${server.url}#${Buffer.from(server.rootKey).toString('hex')}`
  child = startRunnerProcess(CHILD, { dataDir, port, signal, env: { VAULT_FILE: join(folder, 'vault.json'), MESSENGER: messenger } })
  await untilHealthy(client, child, HEALTHY_WITHIN_MS)
}

async function titles(): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.ok('listJobs', { query: { channel: 'messenger', limit: 100, ...(cursor === undefined ? {} : { cursor }) } })
    found.push(...page.jobs.map(({ title }) => title))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

/** A moment of receiving or sending: the n-th change of the keys, or something that the service has seen. */
async function untilMoment(kill: number, state: string, isOver: Promise<void>): Promise<void> {
  const kind = kill % 8
  const [receipts, attempts] = [server.receipts.length, server.attempts.length]
  server.sayOnPhone(`question ${kill}`)
  if (kind === 6) return server.until(() => server.attempts.length > attempts)
  if (kind === 7) return server.until(() => server.receipts.length > receipts)
  let changes = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const watcher = watch(state, () => ++changes > kind && resolve())
  // The system may report several changes as one, so the answer can come before the moment.
  await Promise.race([promise, isOver]).finally(() => watcher.close())
}

test(
  `${KILLS} kills while messages come and go lose none, double none, and leave the phone linked`,
  async ({ signal }) => {
    const port = await findFreePort()
    client = createRunnerClient(`http://127.0.0.1:${port}`)
    await start(port, signal)
    const { provider } = await client.ok('createProvider', { body: { kind: 'openai-compatible', name: 'Local', baseUrl: models.url } })
    const { agent } = await client.ok('createAgent', { body: { name: 'Ada', model: { providerId: provider.id, model: 'small' } } })
    await client.ok('startPairing', { body: { agentId: agent.id } })
    const pairing = () => client.ok('getPairing', { query: { agentId: agent.id } })
    await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
    server.scan((await pairing()).qr!)
    await expect.poll(async () => (await pairing()).status).toBe('open')
    const state = join(folder, 'data', 'whatsapp', (await pairing()).channelId!)

    const answers = () => server.sent.map(({ text }) => text).filter((text) => text.startsWith('answer'))
    for (let kill = 0; kill < KILLS; kill++) {
      await server.untilConnected()
      await untilMoment(
        kill,
        state,
        server.until(() => answers().length > kill),
      )
      await endProcess(child!, 'SIGKILL')
      server.cut()
      await start(port, signal)
      // A job during which Deckhand crashes twice is given up, so there is one kill for each.
      await server.until(() => answers().length > kill)
    }
    const all = Array.from({ length: KILLS }, (_, i) => String(i))
    await expect.poll(() => server.unconfirmed()).toBe(0)
    expect(answers().sort()).toEqual(all.map((i) => `answer ${i}`).sort())
    expect((await titles()).sort()).toEqual(all.map((i) => `question ${i}`).sort())
    expect(await pairing()).toMatchObject({ status: 'open' })
    expect(server.isLinked()).toBe(true)
  },
  KILLS * 60_000 + 240_000,
)
