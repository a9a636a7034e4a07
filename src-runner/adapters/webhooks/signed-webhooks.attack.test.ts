import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sign as signLikeGitHub } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SignatureScheme, type Trigger } from '../../contract/triggers.ts'
import { createTestRunner, type TestRunner } from '../../testing/create-test-runner.ts'
import { sendRaw, toBytes, type RawAnswer } from '../../testing/raw-http.ts'

const SECRETS: Record<SignatureScheme, string> = {
  standard_webhooks: `whsec_${Buffer.from('signing key of thirty-two bytes!').toString('base64')}`,
  github: 'signing-secret-of-github',
  stripe: 'whsec_signing_secret_of_stripe',
  slack: 'signing0secret0of0slack0',
}
/** Not the output of JSON.stringify: the signature covers the exact bytes. */
const BODY = '{ "a" : "Grüße \\u00e9 😀",\n  "n": 1.0 }\n'

type Headers = [string, string][]

/** Signed by the senders' own libraries, except for Slack, which has none. */
const SIGNERS: Record<SignatureScheme, (secret: string, body: string, at: Date) => Promise<Headers> | Headers> = {
  standard_webhooks: (secret, body, at) => [
    ['webhook-id', 'msg_1'],
    ['webhook-timestamp', secondsOf(at)],
    ['webhook-signature', new Webhook(secret).sign('msg_1', at, body)],
  ],
  github: async (secret, body) => [['X-Hub-Signature-256', await signLikeGitHub(secret, body)]],
  stripe: (secret, body, at) => [
    ['Stripe-Signature', Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: Number(secondsOf(at)) })],
  ],
  slack: (secret, body, at) => [
    ['X-Slack-Request-Timestamp', secondsOf(at)],
    [
      'X-Slack-Signature',
      `v0=${createHmac('sha256', secret)
        .update(`v0:${secondsOf(at)}:${body}`)
        .digest('hex')}`,
    ],
  ],
}
const secondsOf = (at: Date) => String(Math.floor(at.getTime() / 1000))

let test: TestRunner
let agentId: string
let same: string

beforeAll(async () => {
  test = await createTestRunner()
  agentId = (await test.addAgent()).id
  await test.client.ok('updateSettings', { body: { pauseAll: true } })
  same = withoutDate(await post('/webhooks/no-such-slug/secret', []))
})
afterAll(() => test.stop())

const withoutDate = ({ text }: RawAnswer) => text.replace(/^date: .*\r\n/im, '')

function post(target: string, headers: Headers, body = BODY): Promise<RawAnswer> {
  const common: Headers = [
    ['Host', '127.0.0.1'],
    ['Connection', 'close'],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(Buffer.byteLength(body))],
  ]
  return sendRaw(test.port, toBytes({ method: 'POST', target, headers: [...common, ...headers], body }))
}

describe.each(SignatureScheme.options)('a webhook signed like %s', (scheme) => {
  const secret = SECRETS[scheme]
  let trigger: Trigger
  let path: string

  beforeAll(async () => {
    const body = { name: `Signed ${scheme}`, agentId, taskTemplate: 'Look at {a}', signature: { scheme, secret } }
    const created = await test.client.ok('createTrigger', { body })
    trigger = created.trigger
    path = new URL(created.url).pathname
  })

  const sign = (body = BODY, secondsAgo = 0, key = secret) => SIGNERS[scheme](key, body, new Date(Date.now() - secondsAgo * 1000))
  const state = async () => (await test.client.ok('getTrigger', { params: { triggerId: trigger.id } })).trigger
  const inbox = async () => (await test.client.ok('listDeliveries', { params: { triggerId: trigger.id } })).deliveries

  it('accepts a signed delivery', async () => {
    expect((await post(path, await sign())).status).toBe(202)
    expect(await state()).toMatchObject({ triggerCount: 1, signature: scheme, lastOutcome: 'accepted' })
  })

  it('responds to a wrong signature like to a wrong address, and shows the person why', async () => {
    const before = (await state()).triggerCount
    const good = await sign()
    const otherKey = scheme === 'standard_webhooks' ? `whsec_${Buffer.from('another key').toString('base64')}` : 'another key'
    const forged: Record<string, [headers: Headers, body?: string]> = {
      unsigned: [[]],
      'another key': [await sign(BODY, 0, otherKey)],
      'another body': [good, BODY.replace('1.0', '2.0')],
      'the same value, written differently': [good, JSON.stringify(JSON.parse(BODY))],
      'no JSON either': [good, 'not json'],
      'signed for nothing': [await sign('x'), BODY],
      'all headers twice': [[...good, ...good]],
      'headers of 5,000 characters': [good.map(([name, value]) => [name, value.padEnd(5_000, '0')])],
      ...(scheme === 'github' ? {} : { old: [await sign(BODY, 301)], 'of the future': [await sign(BODY, -302)] }),
    }
    for (const [what, [headers, body]] of Object.entries(forged)) {
      expect(`${what}: ${withoutDate(await post(path, headers, body))}`).toBe(`${what}: ${same}`)
    }
    expect((await state()).triggerCount).toBe(before)
    const [newest] = await inbox()
    expect(newest).toMatchObject({ outcome: 'bad_signature', status: 404, times: Object.keys(forged).length })
    const { delivery } = await test.client.ok('getDelivery', { params: { deliveryId: newest!.id } })
    expect(delivery.payload).toBeNull()
  })

  it('still needs the secret of its address', async () => {
    expect(withoutDate(await post(`/webhooks/${trigger.slug}/${'A'.repeat(43)}`, await sign()))).toBe(same)
  })

  it('keeps its key over a restart', async () => {
    await test.restart()
    expect((await post(path, await sign())).status).toBe(202)
    expect(withoutDate(await post(path, []))).toBe(same)
  })
})

describe("Slack's url_verification", () => {
  const challenge = '{"token":"t","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}'

  async function addHook(signature: { scheme: SignatureScheme; secret: string } | null): Promise<{ trigger: Trigger; path: string }> {
    const body = { name: 'Slack', agentId, taskTemplate: 'Look at {event.text}', requirePlaceholders: true, signature }
    const { trigger, url } = await test.client.ok('createTrigger', { body })
    return { trigger, path: new URL(url).pathname }
  }

  it('gets its challenge back when signed, without a job', async () => {
    const { trigger, path } = await addHook({ scheme: 'slack', secret: SECRETS.slack })
    const answer = await post(path, await SIGNERS.slack(SECRETS.slack, challenge, new Date()), challenge)
    expect({ status: answer.status, body: JSON.parse(answer.body) as unknown }).toEqual({
      status: 200,
      body: { challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' },
    })
    const { deliveries } = await test.client.ok('listDeliveries', { params: { triggerId: trigger.id } })
    expect(deliveries).toMatchObject([{ outcome: 'ping', status: 200, eventName: 'url_verification', jobId: null }])
    expect((await test.client.ok('getTrigger', { params: { triggerId: trigger.id } })).trigger.triggerCount).toBe(0)
    await test.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
  })

  it('gets its challenge back when the limit is reached, and stays the only one that does', async () => {
    const { trigger, path } = await addHook({ scheme: 'slack', secret: SECRETS.slack })
    const send = async (body: string) => post(path, await SIGNERS.slack(SECRETS.slack, body, new Date()), body)
    const event = (text: string) => JSON.stringify({ type: 'event_callback', event: { type: 'message', text } })
    for (let n = 0; n < 30; n++) expect((await send(event(`text ${n}`))).status).toBe(202)
    expect((await send(event('too many'))).status).toBe(429)
    expect((await send(event('x'.repeat(10_000)))).status).toBe(429)
    const answer = await send(challenge)
    expect({ status: answer.status, body: JSON.parse(answer.body) as unknown }).toEqual({
      status: 200,
      body: { challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' },
    })
    expect(withoutDate(await post(path, [], challenge))).toBe(same)
    expect((await test.client.ok('getTrigger', { params: { triggerId: trigger.id } })).trigger.triggerCount).toBe(30)
    await test.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
  })

  it('gets the 404 of a wrong address when unsigned, and is an ordinary delivery for other schemes', async () => {
    const signed = await addHook({ scheme: 'slack', secret: SECRETS.slack })
    expect(withoutDate(await post(signed.path, [], challenge))).toBe(same)
    const github = await addHook({ scheme: 'github', secret: SECRETS.github })
    expect((await post(github.path, await SIGNERS.github(SECRETS.github, challenge, new Date()), challenge)).status).toBe(400)
    for (const { trigger } of [signed, github]) await test.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
  })
})

describe('a repeated delivery when the limit is reached', () => {
  it('gets its first job by the id in its headers, if the signature is valid', async () => {
    for (const scheme of [null, 'github'] as const) {
      const signature = scheme === null ? null : { scheme, secret: SECRETS[scheme] }
      const { trigger, url } = await test.client.ok('createTrigger', {
        body: { name: 'Full', agentId, taskTemplate: 'Look at {a}', dedupe: true, signature },
      })
      const path = new URL(url).pathname
      const signed: Headers = scheme === null ? [] : await SIGNERS[scheme](SECRETS[scheme], BODY, new Date())
      const send = (id: string, headers = signed) => post(path, [['X-GitHub-Delivery', id], ['X-GitHub-Event', 'push'], ...headers])
      const first = await send('d-0')
      for (let n = 1; n < 30; n++) expect((await send(`d-${n}`)).status).toBe(202)
      expect((await send('d-30')).status).toBe(429)
      expect((await send('d-31')).status).toBe(429)
      const again = await send('d-0')
      expect({ status: again.status, body: again.body }).toEqual({ status: 202, body: first.body })
      if (scheme !== null) expect(withoutDate(await send('d-0', []))).toBe(same)
      const { deliveries } = await test.client.ok('listDeliveries', { params: { triggerId: trigger.id } })
      const refused = deliveries.filter(({ outcome }) => outcome === 'rate_limited')
      expect(refused.map(({ senderId, eventName, status }) => ({ senderId, eventName, status }))).toEqual([
        { senderId: 'd-31', eventName: 'push', status: 429 },
        { senderId: 'd-30', eventName: 'push', status: 429 },
      ])
      expect(refused[0]!.bytes).toBe(Buffer.byteLength(BODY))
      const { delivery } = await test.client.ok('getDelivery', { params: { deliveryId: refused[0]!.id } })
      expect(delivery.headers).toMatchObject({ 'x-github-delivery': 'd-31', 'x-github-event': 'push' })
      expect(deliveries.some(({ outcome, senderId }) => outcome === 'duplicate' && senderId === 'd-0')).toBe(true)
      await test.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
    }
  })
})

describe('a captured delivery', () => {
  const svix = (headers: Headers): Headers => headers.map(([name, value]) => [name.replace('webhook-', 'svix-'), value])

  it.each<[SignatureScheme, as: string, body: string, change?: (headers: Headers) => Headers]>([
    ['stripe', 'Stripe', '{"id":"evt_1","object":"event","a":1}'],
    ['slack', 'Slack', '{"type":"event_callback","event_id":"Ev1","a":1}'],
    ['standard_webhooks', 'Standard Webhooks', BODY],
    ['standard_webhooks', 'Svix', BODY, svix],
  ])(
    'starts no second job with another id in a header that is not signed (%s, %s)',
    async (scheme, _, body, change = (signed) => signed) => {
      const { trigger, url } = await test.client.ok('createTrigger', {
        body: { name: 'Captured', agentId, taskTemplate: 'Look at {a}', dedupe: true, signature: { scheme, secret: SECRETS[scheme] } },
      })
      const captured = change(await SIGNERS[scheme](SECRETS[scheme], body, new Date()))
      const isSigned = (name: string) => captured.some(([taken]) => taken.toLowerCase() === name)
      const send = (added: Headers) => post(new URL(url).pathname, [...captured, ...added], body)
      const first = await send([])
      expect(first.status).toBe(202)
      for (const name of ['webhook-id', 'svix-id', 'x-github-delivery', 'idempotency-key'].filter((name) => !isSigned(name))) {
        const again = await send([[name, 'another']])
        expect([name, again.status, again.body]).toEqual([name, 202, first.body])
      }
      await test.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
    },
  )
})

it('stores signing keys only in the vault', async () => {
  const { triggers } = await test.client.ok('listTriggers')
  const places = readdirSync(test.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
    .concat(test.logLines.join('\n'), JSON.stringify(triggers), JSON.stringify(test.notifications))
  expect(triggers).toHaveLength(SignatureScheme.options.length)
  for (const secret of Object.values(SECRETS)) {
    const bytes = Buffer.from(secret)
    for (const spelling of [secret, bytes.toString('hex'), bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64')]) {
      expect(places.filter((text) => text.includes(spelling))).toEqual([])
    }
  }
})
