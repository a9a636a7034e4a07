import { basename } from 'node:path'
import { openAcpSession } from './acp-session.ts'
import { startCodingProcess } from './coding-process.ts'
import type { CodingLimits, CodingSession, CodingSessionOptions } from './coding-session.ts'
import { createCodingTurns } from './coding-turns.ts'
import { failureAtStart, wayOf } from './coding-ways.ts'

const DEFAULT_LIMITS: CodingLimits = { startMs: 60_000, cancelMs: 1_000 }

/** Starts the program and opens a session in it. Throws CodingSessionFailed, or the signal's reason; every process has ended then. */
export async function openCodingSession(options: CodingSessionOptions): Promise<CodingSession> {
  const { cli, signal, clock, folder, loadSessionId } = options
  signal.throwIfAborted()
  const way = wayOf(cli, basename(options.program))
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const program = await startCodingProcess(options, way)
  const turns = createCodingTurns({ folder, onLimit: (detail) => void program.end('limit', detail) })
  const abort = () => void program.end('stopped', 'aborted')
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await openAcpSession({ cli, way, folder, loadSessionId, clock, program, turns, limits })
  } catch (thrown) {
    const end = await program.end('stopped', 'it did not start')
    signal.throwIfAborted()
    throw failureAtStart(cli, thrown, end, program.complaint())
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
