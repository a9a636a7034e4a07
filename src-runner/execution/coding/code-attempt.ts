import type { CodeTask } from '../../contract/code-tasks.ts'
import type { Agent } from '../../contract/agents.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import type { Message } from '../../contract/messages.ts'
import type { CodeTaskChange } from '../../domain/code-tasks/code-tasks.ts'
import type { AttemptOutcome } from '../../domain/jobs/settle-job.ts'
import type { Attempt } from '../../domain/jobs/attempts.ts'
import type { ToolPolicy } from '../tool-policy.ts'

/** One attempt at the task of a coding program. */
export type CodeAttempt = { attempt: Attempt; agent: Agent; policy: ToolPolicy; task: CodeTask }

/** How an attempt ends. `change`: recorded in the same commit. */
export type CodeEnd = { outcome: AttemptOutcome | { kind: 'aborted' }; change?: CodeTaskChange }

export function failedWith(error: JobErrorCode, message: Message): CodeEnd {
  return { outcome: { kind: 'failed', error, message } }
}
