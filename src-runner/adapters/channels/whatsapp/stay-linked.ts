import type { WAMessage } from '@whiskeysockets/baileys'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { failureOf, notKept, pauseAfter, type ConnectionFailure } from './connection-failures.ts'
import { readCreds, type Library, type TestServer } from './library.ts'
import { DEVICE_NAME, openLinkSocket, type LinkSocket } from './link-socket.ts'
import type { LinkState } from './link-state.ts'

type StayLinkedDeps = {
  library: Library
  state: LinkState
  clock: Clock
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
  testServer: TestServer
}

/** A connection whose login the service has accepted. */
export type OpenLink = {
  link: LinkSocket
  /** Closes it if the service does not answer, so that another one is tried. */
  test(): Promise<void>
}

type StayLinkedEvents = {
  opened(open: OpenLink): void
  closed(): void
  /** Another connection is tried soon. */
  failing(problem: Message): void
  roundTrip(): void
  message(link: LinkSocket, messages: readonly [WAMessage, ...WAMessage[]]): Promise<void>
  undecrypted(message: WAMessage): void
}

type Run = { code: number; storeError: unknown; wasOpen: boolean }

/** A connection that lasts this long ends a series of failures. */
const STEADY_MS = 60_000
const OPEN_DEADLINE_MS = 45_000
const PING_EVERY_MS = 30_000
/** After pairing, the service asks for one restart. More without a steady connection are a failure. */
const MAX_RESTARTS = 3

/** Connects again and again. Resolves when a person has to act. Rejects when `signal` aborts. */
export async function stayLinked(deps: StayLinkedDeps, events: StayLinkedEvents, signal: AbortSignal): Promise<ConnectionFailure> {
  const { clock, random } = deps
  let failures = 0
  let restarts = 0
  for (;;) {
    const startedAt = clock.monotonic()
    const { code, storeError, wasOpen } = await runOnce(deps, events, signal)
    signal.throwIfAborted()
    if (wasOpen && clock.monotonic() - startedAt >= STEADY_MS) failures = restarts = 0
    if (code === 515 && restarts++ < MAX_RESTARTS) continue
    const failure = failureOf(code)
    if (failure.isFinal) return failure
    events.failing(storeError === null ? failure.problem : notKept(storeError))
    await clock.sleep(pauseAfter(failures++, random), signal)
  }
}

/** Resolves when the connection has ended. */
async function runOnce({ library, state, clock, testServer }: StayLinkedDeps, events: StayLinkedEvents, signal: AbortSignal): Promise<Run> {
  let wasOpen = false
  const stops: (() => void)[] = []
  const ended = Promise.withResolvers<Omit<Run, 'wasOpen'>>()
  const link = openLinkSocket({
    library,
    state,
    clock,
    testServer,
    browser: DEVICE_NAME,
    creds: readCreds(library, state)!,
    events: {
      qr() {},
      paired() {},
      open() {
        wasOpen = true
        events.opened({ link, test })
        stops.push(clock.every(PING_EVERY_MS, () => void test()))
      },
      closed: (code, storeError) => ended.resolve({ code, storeError }),
      frame() {},
      message: (messages) => events.message(link, messages),
      undecrypted: events.undecrypted,
    },
  })

  async function test(): Promise<void> {
    try {
      await link.ping()
      events.roundTrip()
    } catch {
      await link.close()
    }
  }

  stops.push(clock.after(OPEN_DEADLINE_MS, () => wasOpen || void link.close()))
  const onAbort = () => void link.close()
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    return { ...(await ended.promise), wasOpen }
  } finally {
    events.closed()
    for (const stop of stops) stop()
    signal.removeEventListener('abort', onAbort)
    await link.close()
  }
}
