import { createHmac } from 'node:crypto'
import { sign as signLikeGitHub } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { SignatureScheme } from '../../../contract/triggers.ts'
import type { ReceivedHeaders } from '../sender.ts'
import { verifySignature } from './verify-signature.ts'

const NOW = 1_790_000_000_500
const SECONDS = Math.floor(NOW / 1000)
const MINUTES_5 = 300
const STANDARD_SECRET = `whsec_${Buffer.from('a key of thirty-two bytes, no more').toString('base64')}`
const SECRETS: Record<SignatureScheme, string> = {
  standard_webhooks: STANDARD_SECRET,
  github: "It's a Secret to Everybody",
  stripe: 'whsec_5f3c9b1d8e7a6f4c2b0d',
  slack: '8f742231b10e8888abcd99yyyzzz85a5',
}
const BODY = '{"id":"evt_1","text":"Grüße 😀"}'

/** Signed with the libraries of the senders. Slack publishes only a description. */
async function signed(scheme: SignatureScheme, body = BODY, seconds = SECONDS, secret = SECRETS[scheme]): Promise<ReceivedHeaders> {
  if (scheme === 'github') return { 'x-hub-signature-256': await signLikeGitHub(secret, body) }
  if (scheme === 'stripe')
    return { 'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds }) }
  if (scheme === 'standard_webhooks') {
    const signature = new Webhook(secret).sign('msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', new Date(seconds * 1000), body)
    return { 'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', 'webhook-timestamp': `${seconds}`, 'webhook-signature': signature }
  }
  const signature = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex')
  return { 'x-slack-request-timestamp': `${seconds}`, 'x-slack-signature': `v0=${signature}` }
}

const verify = (scheme: SignatureScheme, headers: ReceivedHeaders, body: string | Buffer = BODY, secret = SECRETS[scheme], nowMs = NOW) =>
  verifySignature(scheme, { secret, headers, rawBody: Buffer.from(body), nowMs })

const SIGNATURE_HEADER: Record<SignatureScheme, string> = {
  standard_webhooks: 'webhook-signature',
  github: 'x-hub-signature-256',
  stripe: 'stripe-signature',
  slack: 'x-slack-signature',
}

describe.each(SignatureScheme.options)('%s', (scheme) => {
  const header = SIGNATURE_HEADER[scheme]

  it('accepts a request signed with the secret', async () => {
    expect(verify(scheme, await signed(scheme))).toBe(true)
  })

  it('rejects a request signed with another secret or none', async () => {
    const other = scheme === 'standard_webhooks' ? `whsec_${Buffer.from('another key').toString('base64')}` : 'another secret'
    expect(verify(scheme, await signed(scheme, BODY, SECONDS, other))).toBe(false)
    expect(verify(scheme, await signed(scheme), BODY, '')).toBe(false)
    expect(verify(scheme, {})).toBe(false)
  })

  it('rejects a body with one changed bit', async () => {
    const headers = await signed(scheme)
    const body = Buffer.from(BODY)
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.nat(7), (at, bit) => {
        const turned = Buffer.from(body)
        turned[at]! ^= 1 << bit
        expect(verify(scheme, headers, turned)).toBe(false)
      }),
    )
    expect(verify(scheme, headers, body.subarray(1))).toBe(false)
    expect(verify(scheme, headers, Buffer.concat([body, Buffer.from('\n')]))).toBe(false)
  })

  it('rejects a header with one changed bit', async () => {
    const headers = await signed(scheme)
    const names = Object.keys(headers)
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), fc.nat(6), (name, at, bit) => {
        const bytes = Buffer.from(String(headers[name]))
        bytes[at % bytes.length]! ^= 1 << bit
        expect(verify(scheme, { ...headers, [name]: bytes.toString('latin1') })).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it('accepts any body, text or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (text) => {
        const body = text.toWellFormed()
        expect(verify(scheme, await signed(scheme, body), body)).toBe(true)
      }),
    )
  })

  it('returns false for any headers, and never throws', async () => {
    const good = await signed(scheme)
    const junk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.string()),
      fc.constantFrom('v1=,v1=', 't=', `t=${SECONDS}`, 'sha256=', 'v0=', 'v1,', ',', ' ', '\0', 'x'.repeat(2_000_000), undefined),
    )
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(good)), junk, (name, value) => {
        expect(verify(scheme, { ...good, [name]: value })).toBe(false)
      }),
    )
    expect(verify(scheme, { ...good, [header]: [String(good[header])] })).toBe(false)
    expect(verify(scheme, Object.create(good) as ReceivedHeaders)).toBe(false)
  })

  it('rejects a repeated header', async () => {
    const good = await signed(scheme)
    // Node joins them like this.
    const twice = Object.fromEntries(Object.entries(good).map(([name, value]) => [name, `${String(value)}, ${String(value)}`]))
    expect(verify(scheme, twice)).toBe(false)
  })
})

describe.each(['standard_webhooks', 'stripe', 'slack'] as const)('%s and the clock', (scheme) => {
  it.each([
    [0, true],
    [MINUTES_5, true],
    [-MINUTES_5, true],
    [MINUTES_5 + 1, false],
    [-MINUTES_5 - 1, false],
    [86_400, false],
  ])('with clocks %d seconds apart returns %s', async (seconds, trusted) => {
    expect(verify(scheme, await signed(scheme, BODY, SECONDS + seconds))).toBe(trusted)
  })
})

describe('several signatures', () => {
  it('accept one valid signature, as while a secret is rotated', async () => {
    const standard = await signed('standard_webhooks')
    const others = `v1,${Buffer.alloc(32).toString('base64')} v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==`
    expect(verify('standard_webhooks', { ...standard, 'webhook-signature': `${others} ${String(standard['webhook-signature'])}` })).toBe(
      true,
    )
    expect(verify('standard_webhooks', { ...standard, 'webhook-signature': others })).toBe(false)

    const stripe = String((await signed('stripe'))['stripe-signature'])
    const wrong = '0'.repeat(64)
    expect(verify('stripe', { 'stripe-signature': stripe.replace(',v1=', `,v1=${wrong},v1=`) })).toBe(true)
    expect(verify('stripe', { 'stripe-signature': `${stripe},v0=${wrong}` })).toBe(true)
    expect(verify('stripe', { 'stripe-signature': stripe.replace('v1=', 'v0=') })).toBe(false)
  })

  it('rejects a second timestamp', async () => {
    const old = String((await signed('stripe', BODY, SECONDS - 9999))['stripe-signature'])
    expect(verify('stripe', { 'stripe-signature': `t=${SECONDS},${old}` })).toBe(false)
    expect(verify('stripe', { 'stripe-signature': `${old},t=${SECONDS}` })).toBe(false)
  })
})

it('accepts the header names of Svix, and never mixes them with the standard ones', async () => {
  const headers = await signed('standard_webhooks')
  const svix = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]))
  expect(verify('standard_webhooks', svix)).toBe(true)
  expect(verify('standard_webhooks', svix, `${BODY} `)).toBe(false)
  expect(verify('standard_webhooks', { ...svix, 'webhook-signature': 'v1,' })).toBe(false)
  expect(verify('standard_webhooks', { ...svix, 'svix-id': undefined, 'webhook-id': headers['webhook-id'] })).toBe(false)
})

describe('secrets of Standard Webhooks', () => {
  it('are base64 with or without whsec_, and plain text otherwise', async () => {
    const headers = await signed('standard_webhooks')
    expect(verify('standard_webhooks', headers, BODY, STANDARD_SECRET.slice('whsec_'.length))).toBe(true)
    expect(verify('standard_webhooks', headers, BODY, 'whsec_')).toBe(false)
    const plain = 'not base64!'
    const signature = new Webhook(plain, { format: 'raw' }).sign('msg_1', new Date(SECONDS * 1000), BODY)
    const signedPlain = { 'webhook-id': 'msg_1', 'webhook-timestamp': `${SECONDS}`, 'webhook-signature': signature }
    expect(verify('standard_webhooks', signedPlain, BODY, plain)).toBe(true)
  })
})

it('agrees with the example that GitHub documents', () => {
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
  const headers = { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' }
  expect(verify('github', headers, 'Hello, World!')).toBe(true)
})

it('agrees with the example that Slack documents', () => {
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA' +
    '&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554' +
    '%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  const headers = {
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  }
  expect(verify('slack', headers, body, SECRETS.slack, 1_531_420_618_000)).toBe(true)
})
