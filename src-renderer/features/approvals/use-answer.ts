import { createSignal } from 'solid-js'
import type { Approval, ResolveApproval } from '../../../src-runner/contract/approvals.ts'
import { ApiError } from '../../api/client.ts'
import { useResolveApproval } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'

/** How the person's answer ended. `elsewhere` and `too_late`: it was not the one that counted. */
export type Outcome = { kind: 'mine' } | { kind: 'elsewhere' } | { kind: 'too_late' } | { kind: 'failed'; why: string }

export type Answer = Pick<ResolveApproval, 'decision'> & Partial<Pick<ResolveApproval, 'note' | 'remember' | 'answer'>>

export type Answering = {
  send: (answer: Answer) => Promise<void>
  isRunning: () => boolean
  outcome: () => Outcome | null
}

/** Answers one decision and knows what came of it. A second answer while the first is on its way is not sent. */
export function useAnswer(approval: () => Approval): Answering {
  const resolve = useResolveApproval()
  const [outcome, setOutcome] = createSignal<Outcome | null>(null)
  return {
    isRunning: () => resolve.isRunning,
    outcome,
    async send(answer) {
      if (resolve.isRunning || approval().status !== 'pending') return
      setOutcome(null)
      const note = answer.note?.trim()
      try {
        await resolve.run({ body: { ...answer, note: note === '' ? undefined : note, approvalId: approval().id } })
        setOutcome({ kind: 'mine' })
      } catch (thrown) {
        setOutcome(outcomeOf(thrown))
      }
    },
  }
}

function outcomeOf(thrown: unknown): Outcome {
  const code = thrown instanceof ApiError ? thrown.code : null
  if (code === 'approval_already_resolved') return { kind: 'elsewhere' }
  if (code === 'approval_expired') return { kind: 'too_late' }
  return { kind: 'failed', why: sentenceOf(thrown) }
}
