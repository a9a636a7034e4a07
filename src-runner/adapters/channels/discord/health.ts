import type { Message } from '../../../contract/messages.ts'
import type { RunnerOfChannel } from '../channel.ts'

/** What must work for messages to arrive. */
type Part = 'connecting' | 'reading' | 'storing'

export type Health = ReturnType<typeof createHealth>

/** Reports a problem of any part, and that all is well when none is left. */
export function createHealth(runner: Pick<RunnerOfChannel, 'status'>) {
  const problems = new Map<Part, Message>()
  let warning: Message | null = null
  let isConnected = false

  function report(): void {
    const problem = [...problems.values()][0]
    if (problem !== undefined) runner.status('failing', problem)
    else if (isConnected) runner.status('open', warning)
  }

  return {
    set(part: Part, problem: Message | null): void {
      const before = problems.get(part) ?? null
      if (part === 'connecting' && problem === null) isConnected = true
      else if (before === null && problem === null) return
      if (problem === null) problems.delete(part)
      else problems.set(part, problem)
      report()
    },
    /** Something that the person should change, although messages arrive. */
    warn(problem: Message | null): void {
      warning = problem
    },
  }
}
