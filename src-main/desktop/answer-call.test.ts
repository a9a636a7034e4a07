import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DESKTOP_CALLS, type DesktopCallName } from '../contract/desktop-api.ts'
import { silentLog } from '../log/log.ts'
import { VaultError } from '../vault/vault.ts'
import { answerCall } from './answer-call.ts'

const OWN = { url: 'app://deckhand/chat', parent: null }
const NAMES = Object.keys(DESKTOP_CALLS) as DesktopCallName[]
const call = (run: () => Promise<unknown>) => answerCall('getState', { frame: () => OWN, argument: undefined }, run, silentLog)
const refused = (code: string) => ({ ok: false, message: { code, params: {} } })

it('returns the result of a call', async () => {
  expect(await call(async () => 3)).toEqual({ ok: true, value: 3 })
})

it('returns the message of a call that failed, not a sentence', async () => {
  const detail = { code: 'keychain_locked', params: {} } as const
  expect(await call(() => Promise.reject(new VaultError('locked', detail)))).toEqual({ ok: false, message: detail })
})

it('quotes the system', async () => {
  const message = { code: 'desktop_call_failed', params: { why: 'EACCES: permission denied' } }
  expect(await call(() => Promise.reject(new Error('EACCES: permission denied')))).toEqual({ ok: false, message })
})

it('runs no call of a frame, another page or a page that is gone', async () => {
  const senders = [
    () => null,
    () => ({ ...OWN, parent: OWN }),
    () => ({ url: 'https://elsewhere.example/', parent: null }),
    () => ({ url: 'data:text/html,x', parent: null }),
  ]
  for (const name of NAMES)
    for (const frame of senders) {
      const ran = answerCall(name, { frame, argument: undefined }, () => Promise.reject(new Error('ran')), silentLog)
      expect(await ran).toEqual(refused('error_unauthorized'))
    }
})

it('answers when Electron no longer has the frame of the sender', async () => {
  const frame = () => {
    throw new Error('Render frame was disposed')
  }
  const answer = await answerCall('getState', { frame, argument: undefined }, () => Promise.reject(new Error('ran')), silentLog)
  expect(answer).toEqual({ ok: false, message: { code: 'desktop_call_failed', params: { why: 'Render frame was disposed' } } })
})

/** What each call takes, beside the calls that take nothing: one sound argument, and the names of its fields. */
const SOUND = {
  changeSettings: { runnerPort: 3001, theme: 'dark' },
  usePort: { server: 'runner', port: 3002 },
  replaceDatabase: { backup: null },
  resetData: { keepsBackups: true },
  restartRunner: { safeMode: true },
  share: { on: true },
  encryptSharing: { on: true },
  openExternal: { url: 'https://example.org/' },
  openSignIn: { authorizationId: '6f2b2f0e-96c4-4d0c-8f3c-0d0c6a4b8a11' },
  showFolder: 'logs',
  showCodeFolder: { jobId: '6f2b2f0e-96c4-4d0c-8f3c-0d0c6a4b8a11' },
  readLogs: { level: 'info', text: '' },
  copyText: 'text',
  update: 'check',
} satisfies Partial<Record<DesktopCallName, unknown>>

const SETTINGS = ['dashboardPort', 'startAtLogin', 'closeToTray', 'language', 'logLevel', 'updateChannel', 'updateMode', 'updateOnQuit']

/** Whatever structured clone lets through. */
const anything = fc.anything({
  key: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'on', 'url', 'port')),
  maxDepth: 4,
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withNullPrototype: true,
  withObjectString: true,
})
const huge = fc.integer({ min: 4_097, max: 6_000_000 }).map((length) => 'x'.repeat(length))
const prototypeKeys = fc.constantFrom(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"on":true}',
  '{"__proto__":{"on":true,"safeMode":true,"keepsBackups":true,"url":"https://example.org/","theme":"dark"}}',
)
/** A sound argument in which one value is another. */
const spoiled = fc
  .tuple(fc.constantFrom(...Object.values(SOUND)), fc.nat(4), anything)
  .map(([sound, at, value]) =>
    typeof sound === 'string' ? value : Object.fromEntries(Object.entries(sound).map(([key, was], i) => [key, i === at % 2 ? value : was])),
  )
const argument = fc.oneof(
  { weight: 12, arbitrary: anything },
  { weight: 6, arbitrary: spoiled },
  { weight: 2, arbitrary: prototypeKeys.map((text) => JSON.parse(text) as unknown) },
  { weight: 1, arbitrary: huge },
  { weight: 1, arbitrary: huge.map((text) => ({ url: text, text, level: 'info' })) },
)

it('runs each call with its sound argument', async () => {
  for (const name of NAMES) {
    const sound = (SOUND as Record<string, unknown>)[name]
    const answer = await answerCall(name, { frame: () => OWN, argument: sound }, async (given) => given, silentLog)
    expect(answer, name).toEqual({ ok: true, value: sound })
  }
})

it('answers 10,000 messages of any kind, and passes on nothing but what the call takes', async () => {
  const ran = new Set<string>()
  let refusals = 0
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...NAMES), argument, async (name, sent) => {
      const answer = await answerCall(
        name,
        { frame: () => OWN, argument: sent },
        async (given) => (ran.add(name), expectSound(name, given)),
        silentLog,
      )
      if (answer.ok) return
      refusals++
      expect(answer).toEqual(refused('error_invalid_request'))
    }),
    { numRuns: 10_000 },
  )
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  // Most are refused, but the test would prove little if none got through.
  expect(refusals).toBeGreaterThan(8_000)
  expect(ran.size).toBeGreaterThan(10)
}, 600_000)

/** Not the schema: it is what is tested. */
function expectSound(name: DesktopCallName, given: unknown): void {
  const sound: unknown = (SOUND as Record<string, unknown>)[name]
  if (sound === undefined) return expect(given).toBeUndefined()
  if (typeof given === 'string') return expect(given.length).toBeLessThanOrEqual(5_000_000)
  expect(Object.getPrototypeOf(given)).toBe(Object.prototype)
  for (const [key, value] of Object.entries(given as object)) {
    expect([...Object.keys(sound as object), ...(name === 'changeSettings' ? SETTINGS : [])]).toContain(key)
    expect(['string', 'number', 'boolean', 'undefined']).toContain(value === null ? 'string' : typeof value)
    if (typeof value === 'string') expect(value.length).toBeLessThanOrEqual(4_096)
    if (typeof value === 'number') expect(value >= 1 && value <= 65_535).toBe(true)
  }
}
