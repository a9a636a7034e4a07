import type { OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { createMessage, type Speech } from '../../../lib/messages.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import type { Connection, RunnerOfChannel } from '../channel.ts'
import { notKept, pauseAfter } from './connection-failures.ts'
import { stayLinked } from './stay-linked.ts'
import { loadLibrary, readCreds, type Library, type TestServer } from './library.ts'
import type { LinkSocket } from './link-socket.ts'
import { deleteLinkState, linkStateFile, openLinkState, type LinkState } from './link-state.ts'
import { createMedia } from './media.ts'
import { createReceiver } from './receive.ts'
import { sendMessage } from './send-message.ts'

export type WhatsAppDeps = {
  dataDir: string
  fetch: OutboundFetch
  clock: Clock
  log: Log
  speech: Speech
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
  testServer: TestServer
}

const NOT_PAIRED = createMessage('chat_wa_not_paired')

/** Keeps an account connected until it is closed or a person has to act. */
export function connect(deps: WhatsAppDeps, access: ChannelAccess, runner: RunnerOfChannel): Connection {
  const { clock } = deps
  const closing = new AbortController()
  const { signal } = closing
  const file = linkStateFile(deps.dataDir, access.channelId)
  const media = createMedia(deps)
  /** While the service has accepted the login. */
  let current: { library: Library; state: LinkState; link: LinkSocket; test(): Promise<void> } | null = null
  /** Silent once it is closed. */
  const reported: RunnerOfChannel = {
    ...runner,
    status: (...given) => signal.aborted || runner.status(...given),
    roundTrip: () => signal.aborted || runner.roundTrip(),
  }

  /** Opening writes the file again, which fails while the disk is full. */
  async function openState(): Promise<LinkState | null> {
    for (let failures = 0; ; failures++) {
      try {
        return openLinkState(file, access.token)
      } catch (error) {
        reported.status('failing', notKept(error))
        await clock.sleep(pauseAfter(failures, deps.random), signal)
      }
    }
  }

  /** The service accepts these keys no more, so a file that cannot be deleted stops nothing. */
  function deleteKeys(): void {
    try {
      deleteLinkState(file)
    } catch (error) {
      deps.log.warn({ error, channelId: access.channelId }, 'could not delete the keys of an unlinked account')
    }
  }

  async function run(): Promise<void> {
    const state = await openState()
    try {
      const library = await loadLibrary(deps.testServer)
      if (state === null || readCreds(library, state) === null) return reported.status('logged_out', NOT_PAIRED)
      const receiver = createReceiver({ ...deps, library, state, media, runner: reported, signal })
      const failure = await stayLinked(
        { ...deps, library, state },
        {
          opened(open) {
            current = { library, state, ...open }
            receiver.opened()
            reported.roundTrip()
          },
          closed: () => (current = null),
          failing: (problem) => reported.status('failing', problem),
          roundTrip() {
            reported.roundTrip()
            if (current !== null) void receiver.reportLost(current.link)
          },
          message: receiver.take,
          undecrypted: receiver.addUndecrypted,
        },
        signal,
      )
      reported.status('logged_out', failure.problem)
      if (failure.isUnlinked) deleteKeys()
    } finally {
      state?.close()
    }
  }

  const ended = run()

  return {
    ended,
    async deliver(message, aborting, onPart) {
      if (current === null || signal.aborted) {
        const problem = createMessage('sent_not_connected')
        return { state: 'failed', permanent: false, partsSent: message.partsSent, retryAfterMs: null, problem }
      }
      const sending = { ...current, media, clock, t: deps.speech(), readFile: runner.readFile, onPart, onRoundTrip: runner.roundTrip }
      return sendMessage({ ...sending, signal: AbortSignal.any([aborting, signal]) }, message)
    },
    async showTyping(chatId) {
      await current?.link.socket.sendPresenceUpdate('composing', chatId).catch(() => {})
    },
    // There are no buttons.
    answerPress: () => Promise.resolve(),
    removeButtons: () => Promise.resolve(),
    woke: () => void current?.test(),
    async close() {
      closing.abort(new Error('the channel is closed'))
      await ended.catch(() => {})
    },
  }
}
