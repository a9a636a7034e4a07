import type { Clock } from '../../../lib/clock.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage, joinSentences } from '../../../lib/messages.ts'
import type { Incoming, RunnerOfChannel } from '../channel.ts'
import { pauseAfter, trouble } from '../service-calls.ts'
import { catchUp } from './catch-up.ts'
import { createNames } from './names.ts'
import { advance, readPosition, startAt, writePosition } from './position.ts'
import { Account, readEnvelope, type ReadEnvelope, type Reading } from './read-incoming.ts'
import { openSocketMode, type Envelope, type SocketMode } from './socket-mode.ts'
import type { SlackApi, Trouble } from './web-api.ts'

/** After Slack has let us in, pauses are longer, so that an hour of disconnections costs no more connections than it allows. */
const PAUSE_FACTOR_AFTER_OPENING = 2
/** A connection that lived this long is replaced at once. */
const STABLE_MS = 60_000
/** Ids of messages that were handed over, since Slack repeats what it believes to be lost. The database knows the older ones. */
const MAX_REMEMBERED = 2000
/** How often a command is read, since Slack no longer says that it failed. */
const MAX_READS = 3

export type ReceiveDeps = {
  api: SlackApi
  appToken: string | null
  clock: Clock
  random: () => number
  runner: RunnerOfChannel
  closing: AbortSignal
}

/** Receives what is for us and hands it over, until `closing` aborts or Slack refuses a token. Rejects when `closing` aborts. */
export function receive(deps: ReceiveDeps, position: string | null): Promise<void> {
  const { api, appToken, clock, random, runner, closing } = deps
  const names = createNames(api, closing)
  const remembered = new Set<string>()
  let read = readPosition(position) ?? startAt(clock.now())
  let account: Account | null = null
  /** Whether the last message could not be stored at first. */
  let isFailing = false

  /** Asks whose token this is. Resolves with the trouble, or null. */
  async function identify(): Promise<Trouble | null> {
    const result = await api.call('auth.test', {}, { signal: closing })
    if (!result.ok) return result
    const { user_id: userId, team_id: teamId } = result.value
    const found = Account.safeParse({ userId, teamId })
    if (!found.success) return api.notUnderstood()
    account = found.data
    return null
  }

  async function open(): Promise<SocketMode | Trouble> {
    const result = await api.callAsApp('apps.connections.open', { signal: closing })
    if (!result.ok) return result
    const { url } = result.value
    if (typeof url !== 'string') return api.notUnderstood()
    if (!api.isOwnAddress(url)) return trouble('unreachable', createMessage('chat_slack_other_address', { server: api.server }))
    return openSocketMode({ api, clock, appToken, onRoundTrip: runner.roundTrip }, url)
  }

  /** Hands over what was read. Retries until it is on disk, and stops early when the connection ends. */
  async function handOver(content: ReadEnvelope, hasEnded: () => boolean): Promise<boolean> {
    if (content === null || content.type === 'removed' || content.type === 'failed') return true
    const id = content.type === 'message' ? content.message.externalId : null
    if (id !== null && remembered.has(id)) return true
    const after = content.type === 'message' && content.at !== null ? advance(read, content.at, clock.now()) : read
    const place = writePosition(after)
    const incoming: Incoming =
      content.type === 'press' ? { type: 'press', press: content.press, position: place } : { ...content, position: place }
    for (let failures = 0; ; failures++) {
      try {
        await runner.incoming(incoming)
        break
      } catch (error) {
        if (closing.aborted) throw error
        const why = error instanceof AppError ? problemOf(error) : createMessage('ours_broken')
        isFailing = true
        runner.status('failing', joinSentences(createMessage('chat_cannot_keep'), why))
        await clock.sleep(pauseAfter({ retryAfterMs: null }, failures, random), closing)
        if (hasEnded()) return false
      }
    }
    closing.throwIfAborted()
    if (isFailing) runner.status('open', null)
    isFailing = false
    read = after
    if (id !== null) remember(id)
    return true
  }

  function remember(id: string): void {
    remembered.add(id)
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.values().next().value!)
  }

  async function readPatiently(reading: Reading, { type, payload }: Envelope): Promise<ReadEnvelope> {
    for (let reads = 1; ; reads++) {
      const content = await readEnvelope(reading, type, payload)
      if (content?.type !== 'failed' || reads === MAX_READS) return content
      await clock.sleep(pauseAfter({ retryAfterMs: null }, reads - 1, random), closing)
    }
  }

  /** Uses one connection until it ends. */
  async function serve(connection: SocketMode, reading: Reading): Promise<Trouble> {
    const hasEnded = connection.isEnded
    let left = await catchUp(reading, { position: read, chats: reading.knownChats(), clock }, (content) => handOver(content, hasEnded))
    if (left !== null) connection.close()
    if (!hasEnded()) runner.status('open', null)
    for (;;) {
      const envelope = await connection.next()
      if (envelope === null || closing.aborted) return left ?? (await connection.ended).trouble
      const content = await readPatiently(reading, envelope)
      // Nobody repeats what was acknowledged, so it outlives the connection.
      const isHandedOver = await handOver(content, envelope.isAcknowledged ? () => false : hasEnded)
      if (isHandedOver && !envelope.isAcknowledged) connection.acknowledge(envelope.id)
      if (content?.type !== 'removed') continue
      left = await identify()
      if (left !== null) connection.close()
    }
  }

  async function run(): Promise<void> {
    let failures = 0
    for (;;) {
      const round = await useConnection()
      if (closing.aborted) return
      if (round.trouble.kind === 'token') return runner.status('logged_out', round.trouble.problem)
      if (round.livedMs >= STABLE_MS) failures = 0
      const isQuiet = round.livedMs >= STABLE_MS || (round.isPlanned && failures === 0)
      if (!isQuiet) runner.status('failing', round.trouble.problem)
      if (round.livedMs < STABLE_MS) {
        const ms = pauseAfter(round.trouble, failures, random)
        await clock.sleep(round.hasOpened && round.trouble.retryAfterMs === null ? ms * PAUSE_FACTOR_AFTER_OPENING : ms, closing)
        if (round.trouble.retryAfterMs === null) failures++
      }
    }
  }

  /** `livedMs`: how long Slack kept the connection after it had greeted us. */
  async function useConnection(): Promise<{ trouble: Trouble; livedMs: number; hasOpened: boolean; isPlanned: boolean }> {
    const failed = (trouble: Trouble, hasOpened: boolean) => ({ trouble, livedMs: 0, hasOpened, isPlanned: false })
    const unknown = account === null ? await identify() : null
    if (unknown !== null || account === null) return failed(unknown!, false)
    const connection = await open()
    if ('ok' in connection) return failed(connection, false)
    const close = () => connection.close()
    closing.addEventListener('abort', close, { once: true })
    try {
      if (closing.aborted) close()
      const early = await connection.greeted
      if (early !== null) return failed(early.trouble, true)
      const startedAt = clock.monotonic()
      const trouble = await serve(connection, { api, names, account, closing, knownChats: runner.knownChats })
      const { isPlanned } = connection.isEnded() ? await connection.ended : { isPlanned: false }
      return { trouble, livedMs: clock.monotonic() - startedAt, hasOpened: true, isPlanned }
    } finally {
      closing.removeEventListener('abort', close)
      close()
    }
  }

  return run()
}
