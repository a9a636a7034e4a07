import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startDiscordServer, type DiscordServer, type DiscordUser } from '../src-runner/testing/discord-server/discord-server.ts'
import { FAULT_POINTS } from '../src-runner/testing/fault-points.ts'
import { findFreePort } from '../src-runner/testing/free-port.ts'
import { startModelServer, type ModelServer } from '../src-runner/testing/model-servers/model-server.ts'
import { createRunnerClient, type RunnerClient } from '../src-runner/testing/runner-client.ts'
import { endProcess, startRunnerProcess, untilHealthy } from './runner-process.ts'

/** build/test-long.mjs kills more often. */
const KILLS = Number(process.env['DISCORD_KILLS'] ?? 3)
const CHILD = fileURLToPath(new URL('../src-runner/testing/channel-child.ts', import.meta.url))
const SLOW_MS = 30_000
const ANNA: DiscordUser = { id: '4711000000000000001', username: 'anna_berg', global_name: 'Anna Berg' }

/** What the service has seen, and how often since the question; or a point inside the runner. An answer has two parts. */
const OF_MESSAGE: [step: string, times: number][] = [
  ['MESSAGE_CREATE dispatched', 1],
  ['a job is being kept', 1],
  ['a job is kept', 1],
  ['POST messages done', 1],
  ['POST messages received', 2],
  ['POST messages answered', 1],
  ['a job is claimed', 1],
  ['a reply is being recorded', 1],
  ['the end is being recorded', 1],
  ['the end is recorded', 1],
  ['POST messages received', 1],
  ['POST messages done', 2],
  ['POST messages answered', 2],
]
const OF_PRESS: [step: string, times: number][] = [
  ['POST callback received', 1],
  ['an approval is answered', 1],
  ['INTERACTION_CREATE dispatched', 1],
  ['POST callback answered', 1],
  ['a call is started', 1],
  ['PATCH messages received', 1],
  ['PATCH messages done', 1],
  ['a result is being recorded', 1],
]

let folder: string
let server: DiscordServer
let models: ModelServer
let client: RunnerClient
let port: number
let child: ChildProcess | null = null

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-discord-kills-'))
  server = await startDiscordServer()
  models = await startModelServer({ fallback: answerTo })
  port = await findFreePort()
  client = createRunnerClient(`http://127.0.0.1:${port}`)
})
afterEach(async () => {
  server.watchSteps(() => {})
  if (child !== null) await endProcess(child, 'SIGKILL')
  await models.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** An answer of two parts that names its question. “Post …” calls the tool first. */
function answerTo(request: unknown) {
  const text = JSON.stringify(request)
  const [, kind = '', number = ''] = [...text.matchAll(/(question|Post) number (\d+)/g)].at(-1) ?? []
  if (kind === 'Post')
    return text.lastIndexOf('"posted"') > text.lastIndexOf('Post number')
      ? { text: [`Posted ${number}.`] }
      : { toolCalls: [{ id: `call_${number}`, name: 'post', args: { text: number } }] }
  return { text: [longAnswer(number)] }
}

function longAnswer(number: string): string {
  return Array.from({ length: 250 }, (_, i) => `answer${number}word${i}`).join(' ')
}

async function start(signal: AbortSignal, killAt?: string): Promise<void> {
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { recursive: true })
  const isInside = killAt !== undefined && killAt in FAULT_POINTS
  const env = { VAULT_FILE: join(folder, 'vault.json'), POST_FILE: join(folder, 'posted'), ...(isInside ? { KILL_AT: killAt } : {}) }
  child = startRunnerProcess(CHILD, { dataDir, port, signal, env })
  await untilHealthy(client, child, SLOW_MS)
  await untilOpen()
}

async function untilOpen(): Promise<void> {
  const status = async () => (await client.ok('listChannels', { query: {} })).channels[0]?.status ?? 'open'
  await expect.poll(status, { timeout: SLOW_MS }).toBe('open')
}

/** Does `act` in a runner that is killed at this point, and starts another one. */
async function killAt(step: string, times: number, signal: AbortSignal, act: () => void): Promise<void> {
  if (step in FAULT_POINTS) {
    await endProcess(child!, 'SIGKILL')
    await start(signal, step)
  }
  const dead = once(child!, 'exit')
  let left = times
  server.watchSteps((now) => {
    if (now === step && --left === 0) child!.kill('SIGKILL')
  })
  act()
  await dead
  server.watchSteps(() => {})
  await start(signal)
}

async function connect(signal: AbortSignal): Promise<string> {
  await start(signal)
  const { provider } = await client.ok('createProvider', { body: { kind: 'openai-compatible', name: 'Local', baseUrl: models.url } })
  const { agent } = await client.ok('createAgent', { body: { name: 'Ada', model: { providerId: provider.id, model: 'small' } } })
  await client.ok('createChannel', { body: { agentId: agent.id, kind: 'discord', token: server.token, baseUrl: server.url } })
  await untilOpen()
  server.say(ANNA, 'Hello?')
  const people = async () => (await client.ok('listChannels', { query: {} })).channels[0]!.people
  await expect.poll(async () => (await people()).length, { timeout: SLOW_MS }).toBe(1)
  const { id: personId, channelId } = (await people())[0]!
  await client.ok('updateChannelPerson', { params: { channelId, personId }, body: { role: 'owner' } })
  const chatId = server.chatOf(ANNA)
  await server.until(() => said(chatId).some((text) => text.includes('I am Ada')))
  return chatId
}

const said = (chatId: string) => server.sent.filter((message) => message.channelId === chatId).map(({ text }) => text)
const jobs = async () => (await client.ok('listJobs', { query: { channel: 'discord', limit: 200 } })).jobs

test(
  `${KILLS} kills between the steps of receiving and sending lose no message and double none`,
  async ({ signal }) => {
    const chatId = await connect(signal)
    const before = said(chatId).length
    const numbers = Array.from({ length: KILLS }, (_, i) => String(i))
    for (const number of numbers) {
      const [step, times] = OF_MESSAGE[Number(number) % OF_MESSAGE.length]!
      await killAt(step, times, signal, () => server.say(ANNA, `question number ${number}`))
      await server.until(() => said(chatId).some((text) => text.endsWith(`answer${number}word249`)))
      await expect.poll(async () => (await jobs())[0]!.status, { timeout: SLOW_MS }).toBe('completed')
    }
    expect(said(chatId).slice(before).join(' ')).toBe(numbers.map(longAnswer).join(' '))
    expect((await jobs()).map(({ title }) => title).reverse()).toEqual(numbers.map((number) => `question number ${number}`))
  },
  KILLS * 20_000 + 60_000,
)

const PRESS_KILLS = Math.ceil(KILLS / 2)

test(
  `${PRESS_KILLS} kills while an approval is pressed run the call once at most`,
  async ({ signal }) => {
    const chatId = await connect(signal)
    const pending = async () => (await client.ok('listApprovals', { query: { status: 'pending', limit: 50 } })).approvals
    const posted = () => (existsSync(join(folder, 'posted')) ? readFileSync(join(folder, 'posted'), 'utf8').trim().split('\n') : [])
    for (let kill = 0; kill < PRESS_KILLS; kill++) {
      const [step, times] = OF_PRESS[kill % OF_PRESS.length]!
      const asked = () => server.sent.find(({ buttons, text }) => buttons.length === 2 && text.includes(`Post "${kill}"`))
      // The process that asks for the approval is not the one that is killed while it is answered.
      server.say(ANNA, `Post number ${kill}`)
      await server.until(() => asked() !== undefined)
      const { custom_id: action } = asked()!.buttons[0]!
      await killAt(step, times, signal, () => server.press(ANNA, action))
      // Discord does not repeat a press, so the person presses again.
      if ((await pending()).some(({ kind }) => kind === 'tool')) server.press(ANNA, action)
      const isOver = async () =>
        /^(completed|awaiting_approval)$/.test((await jobs())[0]!.status) && !(await pending()).some(({ kind }) => kind === 'tool')
      await expect.poll(isOver, { timeout: SLOW_MS }).toBe(true)
      const unknown = (await pending()).find(({ kind }) => kind === 'unknown_outcome')
      const times_ = posted().filter((text) => text === String(kill)).length
      expect(times_).toBeLessThanOrEqual(1)
      if (unknown === undefined) {
        expect(times_).toBe(1)
        await server.until(() => said(chatId).includes(`Posted ${kill}.`))
        expect(said(chatId).filter((text) => text === `Posted ${kill}.`)).toHaveLength(1)
      } else await client.ok('cancelJob', { params: { jobId: unknown.jobId } })
      server.press(ANNA, action)
    }
    expect(new Set(posted()).size).toBe(posted().length)
  },
  KILLS * 20_000 + 60_000,
)
