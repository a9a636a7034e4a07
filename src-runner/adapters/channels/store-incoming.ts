import { commitSoon } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { MAX_TASK_CHARS } from '../../contract/primitives.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Speech } from '../../lib/messages.ts'
import { cutText } from '../../lib/text.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import { moveChannelPosition, type ConnectableChannel } from '../../domain/channels/channels.ts'
import { isHeard, isLate, receiveMessage, receivePress, receiveUndecrypted, wasReceived } from '../../domain/channels/receive-message.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { putReceivedFile, type AgentFolders } from './agent-files.ts'
import type { ButtonPress, Incoming, IncomingFile, IncomingMessage } from './channel.ts'
import { joinMessages } from './join-messages.ts'

export type StoreIncomingDeps = Pick<Services, 'db' | 'clock' | 'ids' | 'log'> & {
  jobs: JobStore
  approvals: ApprovalStore
  /** The clock by which requests and received messages are forgotten. */
  age?: Pick<Clock, 'now'>
  /** The clock by which received messages are late. */
  money?: Pick<Clock, 'now'>
  speech: Speech
}

/** For all files of a message. What comes after it, `/stop` too, waits until then. */
const FILES_DEADLINE_MS = 60_000
const TOO_LONG = { problem: 'it took too long' }

type Around = {
  signal: AbortSignal
  /** As the agent has them now. */
  folders(): AgentFolders
  answerPress(press: ButtonPress, note: string): void
}

/**
 * Stores what comes in at a channel. What it returns resolves when it is on disk, and rejects if the database cannot store it now, so
 * that the driver repeats it.
 */
export function storeIncoming(deps: StoreIncomingDeps, channel: ConnectableChannel, { signal, folders, answerPress }: Around) {
  const { db, clock, log } = deps
  const channelId = channel.id

  async function take(incoming: Incoming): Promise<void> {
    const { position } = incoming
    const skip = () => commitSoon(db, (tx) => moveChannelPosition(tx, channelId, position))
    try {
      if (incoming.type === 'message') return await takeMessages([incoming.message, ...(incoming.rest ?? [])], position)
      if (incoming.type === 'undecrypted') return await commitSoon(db, (tx) => receiveUndecrypted(tx, deps, channel, incoming))
      if (incoming.type === 'nothing') return await skip()
      const note = await commitSoon(db, (tx) => receivePress(tx, deps, channel, incoming.press, position))
      answerPress(incoming.press, note)
    } catch (error) {
      if (signal.aborted || isDatabaseTrouble(error)) throw error
      // Repeated, it would fail again and block everything behind it.
      log.error({ error, channelId, type: incoming.type }, 'skipped an incoming update that failed')
      await skip()
    }
  }

  /** As one message. After a kill, some of them may come again. */
  async function takeMessages(given: readonly [IncomingMessage, ...IncomingMessage[]], position: string): Promise<void> {
    const isWanted = (message: IncomingMessage) =>
      isHeard(db, channelId, message) && !isLate(deps, message) && !wasReceived(db, channelId, message.externalId)
    const [first, ...others] = given.filter(isWanted)
    const message = first === undefined ? given[0] : joinMessages([first, ...others])
    const { files, missingFiles } = await storeFiles(first === undefined ? [] : message.files)
    signal.throwIfAborted()
    // No person can write so much at once.
    const text = cutText(message.text, MAX_TASK_CHARS)
    const otherIds = others.map(({ externalId }) => externalId)
    await commitSoon(db, (tx) => receiveMessage(tx, deps, channel, { ...message, text, files, missingFiles, otherIds }, position))
  }

  async function storeFiles(given: readonly IncomingFile[]) {
    const files: string[] = []
    const missingFiles: { name: string; why: string }[] = []
    const late = new AbortController()
    const cancel = clock.after(FILES_DEADLINE_MS, () => late.abort())
    try {
      for (const file of given) {
        const stored = await storeFile(file, late.signal)
        if ('path' in stored) files.push(stored.path)
        else missingFiles.push({ name: file.name, why: stored.problem.replace(/\.$/, '') })
      }
    } finally {
      cancel()
    }
    return { files, missingFiles }
  }

  async function storeFile({ name, download }: IncomingFile, late: AbortSignal): Promise<{ path: string } | { problem: string }> {
    const given = folders()
    // Without a folder, the file is not downloaded.
    const file = given.folders.length === 0 ? { bytes: new Uint8Array() } : await downloadInTime(download, late)
    return 'bytes' in file ? putReceivedFile(given, name, file.bytes) : file
  }

  async function downloadInTime(download: IncomingFile['download'], late: AbortSignal): ReturnType<IncomingFile['download']> {
    if (late.aborted) return TOO_LONG
    try {
      const file = await download(AbortSignal.any([signal, late]))
      return 'problem' in file && late.aborted ? TOO_LONG : file
    } catch (error) {
      if (signal.aborted || !late.aborted) throw error
      return TOO_LONG
    }
  }

  return take
}

function isDatabaseTrouble(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'disk_full' || error.code === 'database_unavailable')
}
