import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'
import { openOAuthRig, type OAuthRig } from '../testing/oauth-rig.ts'

let clock: HandClock
let rig: OAuthRig
beforeEach(async () => {
  clock = createHandClock()
  rig = await openOAuthRig({ runner: { clock } })
})
afterEach(() => rig.stop())

async function startDevice() {
  const { clientId, clientSecret } = rig.notes
  const body = { connector: 'notes', method: 'device' as const, clientId, clientSecret, scopes: ['notes:read'] }
  return (await rig.runner.client.ok('createAuthorization', { body })).authorization
}

const read = async (authorizationId: string) =>
  (await rig.runner.client.ok('getAuthorization', { params: { authorizationId } })).authorization
const polls = () => rig.notes.of('/token').length
/** Moves time to the next poll, and waits for its answer. */
async function pollAfter(ms: number): Promise<void> {
  const before = polls()
  clock.advance(ms - 1)
  expect(polls()).toBe(before)
  clock.advance(1)
  await expect.poll(polls).toBe(before + 1)
}
const planned = (ms: number) => clock.untilSleeping((remaining) => remaining === ms)

it('a code typed on another device connects the account, also over a crash', async () => {
  const authorization = await startDevice()
  expect(authorization).toMatchObject({ status: 'waiting', method: 'device', device: { userCode: expect.stringMatching(/^[A-Z-]+$/) } })
  await planned(5000)
  await pollAfter(5000)
  await planned(5000)
  await rig.runner.restart({ crash: true })
  await planned(5000)
  await rig.notes.enterCode(authorization.device!.userCode)
  await pollAfter(5000)
  await expect.poll(async () => (await read(authorization.id)).status).toBe('connected')
  expect((await rig.runner.client.ok('listCredentials')).credentials).toMatchObject([{ accountName: 'ada', status: 'connected' }])
  expect(await rig.runner.vault.get(`authorization:${authorization.id}`)).toBeNull()
})

it('a service that wants to be asked less often is, and one that is down is asked again', async () => {
  const authorization = await startDevice()
  rig.notes.fail('/token', { kind: 'answer', status: 400, body: '{"error":"slow_down"}' })
  await planned(5000)
  await pollAfter(5000)
  await planned(10_000)
  rig.notes.fail('/token', { kind: 'reset' })
  await pollAfter(10_000)
  await planned(20_000)
  await pollAfter(20_000)
  await planned(10_000)
  expect((await read(authorization.id)).status).toBe('waiting')
})

it('a service may say its times in fractions of seconds', async () => {
  rig.notes.fail('/device/auth', { kind: 'fields', fields: { expires_in: 899.9995, interval: 5.0005 } })
  const { expiresAt, createdAt } = await startDevice()
  expect(expiresAt - createdAt).toBe(900_000)
  await planned(5001)
})

it('a person who refuses, a code that has expired and a cancellation end it', async () => {
  const [refused, expired, cancelled] = [await startDevice(), await startDevice(), await startDevice()]
  await rig.runner.client.ok('cancelAuthorization', { params: { authorizationId: cancelled.id } })
  rig.notes.fail('/token', { kind: 'answer', status: 400, body: '{"error":"access_denied"}' })
  rig.notes.fail('/token', { kind: 'answer', status: 400, body: '{"error":"expired_token"}' })
  await planned(5000)
  clock.advance(5000)
  await expect.poll(polls).toBe(2)
  for (const { id } of [refused, expired]) await expect.poll(async () => (await read(id)).status).toBe('failed')
  const codes = [(await read(refused.id)).problem?.code, (await read(expired.id)).problem?.code]
  expect(new Set(codes)).toEqual(new Set(['oauth_code_expired', 'oauth_denied']))
  expect((await read(cancelled.id)).status).toBe('cancelled')
  clock.advance(60_000)
  expect(polls()).toBe(2)
})

it('what the service calls its page is an address of the web', async () => {
  const page = { kind: 'fields', fields: { verification_uri: 'javascript:alert(1)', verification_uri_complete: null } } as const
  rig.notes.fail('/device/auth', page)
  const { clientId, clientSecret } = rig.notes
  const body = { connector: 'notes', method: 'device' as const, clientId, clientSecret }
  expect(await rig.runner.client.ask('createAuthorization', { body })).toMatchObject({
    status: 422,
    body: { error: 'authorization_refused' },
  })
})
