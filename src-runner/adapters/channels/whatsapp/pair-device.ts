import type { AuthenticationCreds, WASocket } from '@whiskeysockets/baileys'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { ChannelAccount } from '../../../domain/channels/channels.ts'
import { failureOf } from './connection-failures.ts'
import { numberIn, readCreds, type Library, type TestServer } from './library.ts'
import { DEVICE_NAME, openLinkSocket, QR_SHOWN_MS, type LinkSocket } from './link-socket.ts'
import type { LinkState } from './link-state.ts'

/** What the person sees. Codes are shown until `expiresAt`, in ms. */
export type PairingStep =
  | { status: 'qr_pending'; qr: string; expiresAt: number }
  | { status: 'qr_pending'; code: string; expiresAt: number }
  | { status: 'connecting'; scanned: true }

export type Paired = {
  account: ChannelAccount
  /** The name that the person chose at the service. */
  displayName: string
}
export type PairingResult = { state: 'paired'; paired: Paired } | { state: 'closed'; problem: Message }

type PairDeviceDeps = {
  library: Library
  /** Paired already, up to the first login, after a crash in between. Otherwise empty. */
  state: LinkState
  clock: Clock
  testServer: TestServer
  /** Digits only. null: by QR code. */
  phoneNumber: string | null
  onStep(step: PairingStep): void
  /** Decides whether this account is linked. It is unlinked again if this returns false. */
  accept(paired: Paired): boolean
}

/** How many QR codes the service gives out for one pairing. */
const QR_CODES = 6
/** The service shows a code for as long as it would show QR codes. */
const CODE_SHOWN_MS = QR_CODES * QR_SHOWN_MS
const MAX_LOGINS = 5
const LOGIN_PAUSE_MS = 2000
const LOGIN_DEADLINE_MS = 60_000

/** Pairs a device and logs in once. Rejects when `signal` aborts; then `state` tells how far it has come. */
export async function pairDevice(deps: PairDeviceDeps, signal: AbortSignal): Promise<PairingResult> {
  const { library, state, clock } = deps
  if (readCreds(library, state) === null) {
    const { code, isPaired, sawCode } = await runOnce(deps, library.initAuthCreds(), signal)
    if (!isPaired) {
      if (sawCode && code === 408) return { state: 'closed', problem: createMessage('chat_wa_expired') }
      return { state: 'closed', problem: problemOf(code) }
    }
  }
  deps.onStep({ status: 'connecting', scanned: true })
  for (let logins = 1; ; logins++) {
    const creds = readCreds(library, state)!
    const { code, paired, isAccepted } = await runOnce(deps, creds, signal)
    if (paired !== null && isAccepted) return { state: 'paired', paired }
    if (paired !== null) return { state: 'closed', problem: createMessage('chat_wa_other_account', { account: paired.account.name }) }
    if (logins === MAX_LOGINS || failureOf(code).isFinal) return { state: 'closed', problem: problemOf(code) }
    await clock.sleep(LOGIN_PAUSE_MS, signal)
  }
}

function problemOf(code: number): Message {
  return code === 408 || code === 428 || code === 405 || code === 403
    ? failureOf(code).problem
    : createMessage('chat_wa_pairing_failed', { status: String(code) })
}

type Run = { code: number; isPaired: boolean; sawCode: boolean; paired: Paired | null; isAccepted: boolean }

/** One connection, until it ends or has logged in. */
async function runOnce(deps: PairDeviceDeps, creds: AuthenticationCreds, signal: AbortSignal): Promise<Run> {
  const { clock, phoneNumber, onStep } = deps
  const run: Run = { code: 428, isPaired: false, sawCode: false, paired: null, isAccepted: false }
  const ended = Promise.withResolvers<void>()
  let hasAsked = false

  async function askForCode(socket: WASocket): Promise<void> {
    hasAsked = true
    const code = await socket.requestPairingCode(phoneNumber!)
    onStep({ status: 'qr_pending', code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresAt: clock.now() + CODE_SHOWN_MS })
  }

  async function finish(link: LinkSocket): Promise<void> {
    const me = link.me()
    const jid = deps.library.jidNormalizedUser(me.id)
    const number = numberIn(jid)
    run.paired = {
      account: { accountId: jid, name: `+${number}`, link: `https://wa.me/${number}` },
      displayName: me.name ?? `+${number}`,
    }
    run.isAccepted = deps.accept(run.paired)
    if (!run.isAccepted) await link.socket.logout().catch(() => {})
    ended.resolve()
  }

  const link = openLinkSocket({
    library: deps.library,
    state: deps.state,
    creds,
    clock,
    testServer: deps.testServer,
    // A phone accepts codes only from devices whose kind it knows.
    browser: phoneNumber === null ? DEVICE_NAME : deps.library.Browsers.macOS('Chrome'),
    events: {
      qr(qr) {
        run.sawCode = true
        if (phoneNumber === null) onStep({ status: 'qr_pending', qr, expiresAt: clock.now() + QR_SHOWN_MS })
        else if (!hasAsked) askForCode(link.socket).catch(() => void link.close())
      },
      paired() {
        run.isPaired = true
        onStep({ status: 'connecting', scanned: true })
      },
      open: () => void finish(link).catch(() => void link.close()),
      closed(code) {
        run.code = code
        ended.resolve()
      },
      frame() {},
      // What comes now is repeated to the connection of the channel.
      message: () => Promise.reject(new Error('the channel is not connected yet')),
    },
  })
  const isLogin = creds.account !== undefined
  const cancel = isLogin ? clock.after(LOGIN_DEADLINE_MS, () => void link.close()) : () => {}
  const onAbort = () => ended.resolve()
  signal.addEventListener('abort', onAbort)
  try {
    if (!signal.aborted) await ended.promise
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
    await link.close()
  }
  signal.throwIfAborted()
  return run
}
