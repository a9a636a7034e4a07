import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CreateChannel } from '../src-runner/contract/channels.ts'
import { builtChild } from '../src-runner/testing/built-children.ts'
import { startBotApiServer } from '../src-runner/testing/bot-api-server/bot-api-server.ts'
import { startDiscordServer } from '../src-runner/testing/discord-server/discord-server.ts'
import { FAULT_POINTS } from '../src-runner/testing/fault-points.ts'
import { findFreePort } from '../src-runner/testing/free-port.ts'
import { startModelServer, type ModelServer } from '../src-runner/testing/model-servers/model-server.ts'
import { createRunnerClient, type RunnerClient } from '../src-runner/testing/runner-client.ts'
import { startSlackServer } from '../src-runner/testing/slack-server/slack-server.ts'
import { endProcess, startRunnerProcess, untilHealthy } from './runner-process.ts'

/** build/test-long.mjs kills more often. */
const KILLS = Number(process.env['CHANNEL_KILLS'] ?? 2)
const CHILD = builtChild('channel-child')
const HEALTHY_WITHIN_MS = 120_000

/** What the service has seen, and how often since the question; or a point inside the runner. */
type Step = readonly [step: string, times: number]

/** One person at a service. */
type Served = {
  access: Pick<CreateChannel, 'kind' | 'token' | 'baseUrl'> & { appToken?: string }
  say(text: string): void
  press(action: string): void
  /** To the person, in order. */
  sent(): { text: string; actions: string[] }[]
  until(isTrue: () => boolean): Promise<void>
  watchSteps(watcher: (step: string) => void): void
  close(): Promise<void>
}

type Service = {
  start(): Promise<Served>
  /** An answer of so many words has two parts. */
  words: number
  ofMessage: readonly Step[]
  ofPress: readonly Step[]
  /** The service knows no ids of ours: a part that it took is sent again if the kill comes before its response. */
  mayRepeat?: (step: string) => boolean
}

const stepsOfMessage = (arrival: readonly string[], send: string): Step[] => [
  ...arrival.map((step): Step => [step, 1]),
  ['a job is being kept', 1],
  ['a job is kept', 1],
  [`${send} done`, 1],
  [`${send} received`, 2],
  [`${send} answered`, 1],
  ['a job is claimed', 1],
  ['a reply is being recorded', 1],
  ['the end is being recorded', 1],
  ['the end is recorded', 1],
  [`${send} received`, 1],
  [`${send} done`, 2],
  [`${send} answered`, 2],
]
const stepsOfPress = (...steps: string[]): Step[] =>
  [...steps, 'an approval is answered', 'a call is started', 'a result is being recorded'].map((step) => [step, 1])

const SERVICES: Record<string, Service> = {
  Telegram: {
    words: 400,
    ofMessage: stepsOfMessage(['update sent'], 'sendMessage'),
    ofPress: stepsOfPress(
      'update sent',
      'answerCallbackQuery received',
      'answerCallbackQuery done',
      'answerCallbackQuery answered',
      'editMessageReplyMarkup received',
      'editMessageReplyMarkup done',
    ),
    mayRepeat: (step) => step.startsWith('sendMessage '),
    async start() {
      const bot = await startBotApiServer()
      const anna = { id: 4711, first_name: 'Anna' }
      return {
        ...bot,
        access: { kind: 'telegram', token: bot.token, baseUrl: bot.url },
        say: (text) => void bot.say(anna, text),
        press: (action) => void bot.press(anna, action),
        sent: () => bot.sent.map(({ text, buttons }) => ({ text, actions: buttons.map(({ callback_data }) => callback_data) })),
      }
    },
  },
  Discord: {
    words: 250,
    ofMessage: stepsOfMessage(['MESSAGE_CREATE dispatched'], 'POST messages'),
    ofPress: stepsOfPress(
      'POST callback received',
      'INTERACTION_CREATE dispatched',
      'POST callback answered',
      'PATCH messages received',
      'PATCH messages done',
    ),
    async start() {
      const discord = await startDiscordServer()
      const anna = { id: '4711000000000000001', username: 'anna_berg', global_name: 'Anna Berg' }
      return {
        ...discord,
        access: { kind: 'discord', token: discord.token, baseUrl: discord.url },
        say: (text) => void discord.say(anna, text),
        press: (action) => void discord.press(anna, action),
        sent: () => discord.sent.map(({ text, buttons }) => ({ text, actions: buttons.map(({ custom_id }) => custom_id) })),
      }
    },
  },
  Slack: {
    words: 400,
    ofMessage: stepsOfMessage(['events_api sent', 'acknowledging', 'acknowledged'], 'chat.postMessage'),
    ofPress: stepsOfPress('interactive sent', 'acknowledging', 'chat.postEphemeral received', 'chat.update received', 'chat.update done'),
    async start() {
      const slack = await startSlackServer()
      const anna = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }
      return {
        ...slack,
        access: { kind: 'slack', token: slack.botToken, appToken: slack.appToken, baseUrl: slack.url },
        say: (text) => void slack.say(anna, text),
        press: (action) => slack.press(anna, action),
        sent: () => slack.sent.map(({ text, buttons }) => ({ text, actions: buttons.map(({ value }) => value) })),
      }
    },
  },
}

describe.each(Object.entries(SERVICES))('%s', (_name, service) => {
  const { words, ofMessage, ofPress, mayRepeat = () => false } = service
  let folder: string
  let server: Served
  let models: ModelServer
  let client: RunnerClient
  let port: number
  let child: ChildProcess | null = null

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'deckhand-channel-kills-'))
    server = await service.start()
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
    return Array.from({ length: words }, (_, i) => `answer${number}word${i}`).join(' ')
  }

  async function start(signal: AbortSignal, killAt?: string): Promise<void> {
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir, { recursive: true })
    const isInside = killAt !== undefined && killAt in FAULT_POINTS
    const env = { VAULT_FILE: join(folder, 'vault.json'), POST_FILE: join(folder, 'posted'), ...(isInside ? { KILL_AT: killAt } : {}) }
    child = startRunnerProcess(CHILD, { dataDir, port, signal, env })
    await untilHealthy(client, child, HEALTHY_WITHIN_MS)
    await untilOpen()
  }

  async function untilOpen(): Promise<void> {
    const status = async () => (await client.ok('listChannels', { query: {} })).channels[0]?.status ?? 'open'
    await expect.poll(status).toBe('open')
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

  async function connect(signal: AbortSignal): Promise<void> {
    await start(signal)
    const { provider } = await client.ok('createProvider', { body: { kind: 'openai-compatible', name: 'Local', baseUrl: models.url } })
    const { agent } = await client.ok('createAgent', { body: { name: 'Ada', model: { providerId: provider.id, model: 'small' } } })
    await client.ok('createChannel', { body: { agentId: agent.id, ...server.access } })
    await untilOpen()
    server.say('Hello?')
    const people = async () => (await client.ok('listChannels', { query: {} })).channels[0]!.people
    await expect.poll(async () => (await people()).length).toBe(1)
    const { id: personId, channelId } = (await people())[0]!
    await client.ok('updateChannelPerson', { params: { channelId, personId }, body: { role: 'owner' } })
    await server.until(() => said().some((text) => text.includes('I am Ada')))
    await untilAllSent()
  }

  /** Also recorded as sent. A kill before that may repeat a message on a service without ids of ours. */
  async function untilAllSent(): Promise<void> {
    const waiting = async () => (await client.ok('listOutbox', { query: { state: 'pending', limit: 10 } })).messages
    await expect.poll(waiting).toEqual([])
  }

  const said = () => server.sent().map(({ text }) => text)
  const jobs = async () => (await client.ok('listJobs', { query: { channel: server.access.kind, limit: 200 } })).jobs

  test(
    `${KILLS} kills between the steps of receiving and sending lose no message and double none`,
    async ({ signal }) => {
      await connect(signal)
      const before = said().length
      const numbers = Array.from({ length: KILLS }, (_, i) => String(i))
      const repeatable = numbers.filter((number) => mayRepeat(ofMessage[Number(number) % ofMessage.length]![0]))
      for (const number of numbers) {
        const [step, times] = ofMessage[Number(number) % ofMessage.length]!
        await killAt(step, times, signal, () => server.say(`question number ${number}`))
        await server.until(() => said().some((text) => text.endsWith(`answer${number}word${words - 1}`)))
        await expect.poll(async () => (await jobs())[0]!.status).toBe('completed')
        await untilAllSent()
      }
      const arrived = said().slice(before)
      const kept = arrived.filter((text, i) => text !== arrived[i - 1])
      const repeated = arrived.filter((text, i) => text === arrived[i - 1]).map((text) => /^answer(\d+)word/.exec(text)![1]!)
      expect(repeated.filter((number, i) => !repeatable.includes(number) || number === repeated[i - 1])).toEqual([])
      const [got, wanted] = [kept, numbers.map(longAnswer)].map((texts) => texts.join(' ').split(' '))
      const wrong = got!.findIndex((word, i) => word !== wanted![i])
      expect([got!.length, wrong === -1 ? 'all' : got!.slice(wrong, wrong + 3)]).toEqual([wanted!.length, 'all'])
      expect((await jobs()).map(({ title }) => title).reverse()).toEqual(numbers.map((number) => `question number ${number}`))
    },
    KILLS * 60_000 + 240_000,
  )

  const PRESS_KILLS = Math.ceil(KILLS / 2)

  test(
    `${PRESS_KILLS} kills while an approval is pressed run the call once at most`,
    async ({ signal }) => {
      await connect(signal)
      const pending = async () => (await client.ok('listApprovals', { query: { status: 'pending', limit: 50 } })).approvals
      const posted = () => (existsSync(join(folder, 'posted')) ? readFileSync(join(folder, 'posted'), 'utf8').trim().split('\n') : [])
      for (let kill = 0; kill < PRESS_KILLS; kill++) {
        const [step, times] = ofPress[kill % ofPress.length]!
        const asked = () => server.sent().find(({ actions, text }) => actions.length === 2 && text.includes(`Post "${kill}"`))
        // The process that asks for the approval is not the one that is killed while it is answered.
        server.say(`Post number ${kill}`)
        await server.until(() => asked() !== undefined)
        const [action] = asked()!.actions
        await killAt(step, times, signal, () => server.press(action!))
        // Services do not repeat a press, so the person presses again.
        if ((await pending()).some(({ kind }) => kind === 'tool')) server.press(action!)
        // Until it is woken, a job whose approval was answered still waits.
        const isOver = async () => {
          const [{ status } = { status: 'queued' }] = await jobs()
          return status === 'completed' || (await pending()).some(({ kind }) => kind === 'unknown_outcome')
        }
        await expect.poll(isOver).toBe(true)
        const unknown = (await pending()).find(({ kind }) => kind === 'unknown_outcome')
        const times_ = posted().filter((text) => text === String(kill)).length
        expect(times_).toBeLessThanOrEqual(1)
        if (unknown === undefined) {
          expect(times_).toBe(1)
          await server.until(() => said().includes(`Posted ${kill}.`))
          expect(said().filter((text) => text === `Posted ${kill}.`)).toHaveLength(1)
        } else await client.ok('cancelJob', { params: { jobId: unknown.jobId } })
        await untilAllSent()
        server.press(action!)
      }
      expect(new Set(posted()).size).toBe(posted().length)
    },
    KILLS * 60_000 + 240_000,
  )
})
