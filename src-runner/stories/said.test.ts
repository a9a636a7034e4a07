import { describe, expect, it } from 'vitest'
import { OutboundError, type OutboundTrouble } from '../base/net/outbound.ts'
import type { SaidCode } from '../contract/said.ts'
import { createBotApi } from '../edges/channels/telegram/bot-api.ts'
import { systemClock } from '../kit/clock.ts'
import { readSaid } from '../kit/said.ts'
import { STUCK_AFTER_MS } from '../contract/schedules.ts'
import { parseCron } from '../records/schedules/due-times.ts'
import { failureFromOutbound, failureFromStatus } from '../thinking/models/failures.ts'
import { behindBrake, heldBy, lateBy, overBudget, REASONS, skippedFor, tooLongAgo } from '../records/schedules/reasons.ts'

const HOUR = 3_600_000

type ChannelProblem = Extract<SaidCode, `chat_${string}`>

const CODES = {
  400: 'chat_refused',
  401: 'chat_token_refused',
  403: 'chat_not_delivered',
  404: 'chat_token_unknown',
  409: 'chat_other_reader',
  429: 'chat_slow_down',
  500: 'chat_in_trouble',
} as const

const TROUBLES: Record<OutboundTrouble, ChannelProblem> = {
  bad_url: 'chat_bad_address',
  dns: 'chat_not_found',
  refused: 'chat_connection_refused',
  unreachable: 'chat_unreachable',
  tls: 'chat_not_secure',
  reset: 'chat_broken_off',
  protocol: 'chat_not_understood',
  redirect: 'chat_redirects',
}

/**
 * Sentences that are kept in rows are read again by their words. Whoever changes one where it is made has to change it in the
 * catalogue too, or pages in other languages show it in English.
 */
describe('sentences that are made elsewhere and read by their words', () => {
  const live = (['pending', 'awaiting_approval', 'running'] as const).flatMap((status) =>
    [1, STUCK_AFTER_MS + 1].map((working_ms) => ({ status, working_ms })),
  )
  const held = [false, true].flatMap((brake) => live.flatMap((job) => [heldBy(job, brake), skippedFor(job, brake)]))
  const reasons = [
    ...Object.values(REASONS),
    ...held,
    ...[HOUR, 24 * HOUR, 1.5 * HOUR].map(tooLongAgo),
    ...[lateBy(45_000), overBudget(5_250_000, 5_000_000), behindBrake(REASONS.askedFor)],
  ]

  it.each([...new Set(reasons)])('reads why a due time became what it is: %s', (reason) => {
    expect(readSaid(reason)?.code).toMatch(/^due_/)
  })

  it.each([
    ...['', '* *', '* * * *', '* * * * * *', '* * * * * * *', '@daily', '@often', '*', '1,,2 * * * *', '*/2/3 * * * *', '1-2-3 * * * *'],
    ...[
      '5/10 * * * *',
      '20-10 * * * *',
      '75 * * * *',
      '0 25 * * *',
      '? * * * *',
      '0 0 L * *',
      '0 0 * * MON#1',
      'now * * * *',
      '0 soon * * *',
    ],
    ...['*/0 * * * *', '*/70 * * * *', '0 0 30 2 *'],
  ])('reads what is wrong with the cron expression “%s”', (cron) => {
    const parsed = parseCron(cron, 'UTC')
    expect(parsed.ok || readSaid(parsed.problem)?.code).toMatch(/^cron_/)
  })

  it('reads what is wrong with a time zone', () => {
    const parsed = parseCron('0 9 * * *', 'Atlantis/Main')
    expect(parsed.ok || readSaid(parsed.problem)).toEqual({ code: 'cron_bad_zone', facts: { zone: 'Atlantis/Main' } })
  })
})

describe('what goes wrong between us and a chat service', () => {
  const TOKEN = '123456789:an-invented-token-of-nobody'
  const ways: [string, ChannelProblem, () => Promise<Response>][] = [
    ...([401, 404, 409, 429, 403, 400, 500] as const).map((status): [string, ChannelProblem, () => Promise<Response>] => [
      `status ${status}`,
      CODES[status],
      () => Promise.resolve(Response.json({ ok: false, error_code: status, description: 'Bad Request: chat not found' }, { status })),
    ]),
    ...(Object.keys(TROUBLES) as OutboundTrouble[]).map((kind): [string, ChannelProblem, () => Promise<Response>] => [
      kind,
      TROUBLES[kind],
      () => Promise.reject(new OutboundError(kind, 'the system says so')),
    ]),
  ]

  it.each(ways)('is read from its sentence: %s', async (_, code, answer) => {
    for (const [baseUrl, server] of [
      [null, 'Telegram'],
      ['http://bots.example:8081', 'bots.example:8081'],
    ] as const) {
      const api = createBotApi({ access: { token: TOKEN, baseUrl }, fetch: answer, clock: systemClock, onRoundTrip: () => {} })
      const said = await api.call((telegram, signal) => telegram.getMe(signal), { signal: new AbortController().signal })
      const read = readSaid(said.ok ? '' : said.sentence)
      expect(read?.code).toBe(code)
      if (read !== null && 'server' in read.facts) expect(read.facts.server).toBe(server)
    }
  })
})

describe('what goes wrong between us and a model', () => {
  const context = {
    providerName: 'Garage',
    model: 'm-1',
    local: true,
    apiKey: 'an invented key',
    messages: [],
    missingModelFix: null,
    now: 0,
  }
  const plain = (status: number) => failureFromStatus(context, status, new Headers(), '{}').message
  const says = (status: number) => failureFromStatus(context, status, new Headers(), '{"error":{"message":"Something odd."}}').message

  it.each([400, 401, 402, 403, 404, 408, 409, 413, 425, 429, 500, 503, 504, 529, 302])('is read from its sentence: status %i', (status) => {
    expect(readSaid(plain(status))?.code).toMatch(/^model_/)
    expect(readSaid(says(status))?.code).toMatch(/^model_/)
  })

  it.each([
    'a”. On time. X stopped with an error: “b',
    'a”. (2 tries) The emergency brake is on: it starts when that is released. x says: b',
    'a”: “b”. Near asks for a key. Add it in Models & keys',
  ])('keeps what a provider says to the provider: %s', (words) => {
    const message = failureFromStatus(context, 400, new Headers(), JSON.stringify({ error: { message: words } })).message
    const tried = `${message} (5 tries)`
    expect(readSaid(message)).toEqual({
      code: 'model_not_accepted_says',
      facts: { provider: 'Garage', status: 400, words: words.replace(/[“”]/g, '"') },
    })
    expect(readSaid(tried)).toEqual({ ...readSaid(message), more: [{ code: 'job_tries', facts: { tries: 5 } }] })
  })

  it.each(Object.keys(TROUBLES) as OutboundTrouble[])('is read from its sentence: %s', (kind) => {
    for (const local of [true, false]) {
      const { message } = failureFromOutbound({ ...context, local }, new OutboundError(kind, 'the system says so', 'CODE'))
      expect(readSaid(message)).toMatchObject({ code: expect.stringMatching(/^model_/), facts: { provider: 'Garage' } })
    }
  })
})
