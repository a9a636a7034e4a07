import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { openAcpSession } from './acp-session.ts'
import { openClaudeSession } from './claude-session.ts'
import { startCodingProcess } from './coding-process.ts'
import type { CodingLimits, CodingSession, CodingSessionOptions } from './coding-session.ts'
import { createCodingTurns } from './coding-turns.ts'
import { failureAtStart, unknownSession, wayOf } from './coding-ways.ts'

const DEFAULT_LIMITS: CodingLimits = { startMs: 60_000, cancelMs: 700 }

const SESSION_OF_CLAUDE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Starts the program and opens a session in it. Throws CodingSessionFailed, or the signal's reason; every process has ended then. */
export async function openCodingSession(options: CodingSessionOptions): Promise<CodingSession> {
  const { cli, signal, clock, folder, loadSessionId } = options
  signal.throwIfAborted()
  const way = wayOf(cli, basename(options.program))
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  // Claude Code is told the session when it starts. An id that is none of its own would be read as another argument.
  if (way.protocol === 'claude' && loadSessionId !== undefined && !SESSION_OF_CLAUDE.test(loadSessionId)) throw unknownSession(cli)
  const sessionId = loadSessionId ?? randomUUID()
  const more = way.protocol === 'claude' ? [loadSessionId === undefined ? '--session-id' : '--resume', sessionId] : []
  const program = await startCodingProcess(options, [...way.args, ...more])
  const turns = createCodingTurns({ folder, onLimit: (detail) => void program.end('limit', detail) })
  const abort = () => void program.end('stopped', 'aborted')
  signal.addEventListener('abort', abort, { once: true })
  try {
    const opening = { cli, way, folder, loadSessionId, clock, program, turns, limits }
    return await (way.protocol === 'claude' ? openClaudeSession(opening, sessionId) : openAcpSession(opening))
  } catch (thrown) {
    const end = await program.end('stopped', 'it did not start')
    signal.throwIfAborted()
    throw failureAtStart(cli, thrown, end, program.complaint())
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
