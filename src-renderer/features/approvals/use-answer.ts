import { createSignal } from 'solid-js'
import type { Approval, ResolveApproval } from '../../../src-runner/contract/approvals.ts'
import { ApiError } from '../../api/client.ts'
import { useResolveApproval } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { keepDraft } from '../../lib/drafts.ts'

/** What came of the person's answer. `elsewhere` and `too_late`: it did not count. */
export type Outcome = { kind: 'mine' } | { kind: 'elsewhere' } | { kind: 'too_late' } | { kind: 'failed'; why: string }

export type Answer = Pick<ResolveApproval, 'decision'> & Partial<Pick<ResolveApproval, 'note' | 'remember' | 'answer'>>

export type Answering = {
  send: (answer: Answer) => Promise<void>
  isRunning: () => boolean
  outcome: () => Outcome | null
}

/** The names of the drafts of what a person writes to answer an approval. */
export const draftsOf = (approvalId: string) => ({ answer: `answer.${approvalId}`, note: `note.${approvalId}` })

/** Answers an approval. A second answer is not sent while the first is under way. */
export function useAnswer(approval: () => Approval): Answering {
  const resolve = useResolveApproval()
  const [outcome, setOutcome] = createSignal<Outcome | null>(null)
  return {
    isRunning: () => resolve.isRunning,
    outcome,
    async send(answer) {
      if (resolve.isRunning || approval().status !== 'pending') return
      setOutcome(null)
      const approvalId = approval().id
      const note = answer.note?.trim()
      try {
        await resolve.run({ body: { ...answer, note: note === '' ? undefined : note, approvalId } })
        setOutcome({ kind: 'mine' })
        for (const draft of Object.values(draftsOf(approvalId))) keepDraft(draft, '')
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
