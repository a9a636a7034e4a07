import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { CODING_PROGRAM_NAMES } from '../../contract/coding-programs.ts'
import { createMessage } from '../../lib/messages.ts'
import { openAcpSession } from './acp-session.ts'
import { openClaudeSession } from './claude-session.ts'
import { startCodingProcess } from './coding-process.ts'
import { openCodexSession, SESSION_ID } from './codex-session.ts'
import { CodingSessionFailed, type CodingLimits, type CodingSession, type CodingSessionOptions } from './coding-session.ts'
import { createCodingTurns } from './coding-turns.ts'
import { failureAtStart, unknownSession, wayOf, type CodingWay } from './coding-ways.ts'

const DEFAULT_LIMITS: CodingLimits = { startMs: 60_000, cancelMs: 700 }

/** Starts the program and opens a session in it. Throws CodingSessionFailed, or the signal's reason; every process has ended then. */
export async function openCodingSession(options: CodingSessionOptions): Promise<CodingSession> {
  const { cli, signal, clock, folder, loadSessionId } = options
  signal.throwIfAborted()
  const way = wayOf(cli, basename(options.program))
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const sessionId = loadSessionId ?? randomUUID()
  const program = await startCodingProcess(options, [...way.args, ...sessionArgs(options, way, sessionId)])
  const turns = createCodingTurns({ folder, onLimit: (detail) => void program.end('limit', detail) })
  const abort = () => void program.end('stopped', 'aborted')
  signal.addEventListener('abort', abort, { once: true })
  try {
    const opening = { cli, way, folder, loadSessionId, clock, program, turns, limits }
    switch (way.protocol) {
      case 'acp':
        return await openAcpSession(opening)
      case 'claude':
        return await openClaudeSession(opening, sessionId)
      case 'codex':
        return openCodexSession(opening)
    }
  } catch (thrown) {
    const end = await program.end('stopped', 'it did not start')
    signal.throwIfAborted()
    throw failureAtStart(cli, thrown, end, program.complaint())
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Programs that are told on their command line which session it is. What is no id could be read as another argument. */
function sessionArgs(
  { cli, loadSessionId, sandbox }: CodingSessionOptions,
  { protocol, neverAsks }: CodingWay,
  sessionId: string,
): string[] {
  if (neverAsks === true && sandbox.setup === null)
    throw new CodingSessionFailed('no_sandbox', createMessage('coding_needs_sandbox', { program: CODING_PROGRAM_NAMES[cli] }))
  if (protocol === 'acp') return []
  if (loadSessionId !== undefined && !SESSION_ID.test(loadSessionId)) throw unknownSession(cli)
  if (protocol === 'claude') return [loadSessionId === undefined ? '--session-id' : '--resume', sessionId]
  return loadSessionId === undefined ? ['-'] : ['resume', loadSessionId, '-']
}
