import { commitSoon, type Database } from '../../platform/db/database.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { hashOfCall } from '../../domain/rules/call-hash.ts'
import type { CodingAnswer, CodingCall } from '../../agent/coding/coding-session.ts'
import type { PolicyVerdict } from '../../agent/loop/loop-types.ts'
import { factsOf, type Tool, type ToolContext } from '../../agent/tools/tool.ts'
import type { CodeAttempt } from './code-attempt.ts'
import { recordedCall, toolOfCall } from './code-calls.ts'
import type { LiveCoding } from './live-coding.ts'

export type PermissionRequestsDeps = {
  db: Database
  jobs: Pick<JobStore, 'listSteps' | 'recordToolStarted' | 'recordToolResult'>
  approvals: Pick<ApprovalStore, 'list' | 'recordDecision'>
  dataDir: string
}

/** Judges a call of a program like one of a model. */
export function judgeCall(
  working: CodeAttempt,
  dataDir: string,
  { callId, tool, args, startedBefore }: { callId: string; tool: Tool; args: Record<string, unknown>; startedBefore: boolean },
): Promise<PolicyVerdict> {
  const context = contextOf(working, dataDir, callId)
  return working.policy.judge({ call: { callId, name: tool.name, args }, tool, args, startedBefore, ahead: false, context })
}

function contextOf({ attempt, agent }: CodeAttempt, dataDir: string, callId: string): ToolContext {
  const { job, signal } = attempt
  return { jobId: job.id, agentId: agent.id, callId, folders: agent.folders, closedFolders: [dataDir], signal }
}

/** Decides what a program asks. `record`: writes what it has told so far, so that the request has its step. */
export function createPermissionRequests({ db, jobs, approvals, dataDir }: PermissionRequestsDeps) {
  /** What the program did not live to hear is answered as a person decided it. */
  async function decide(
    working: CodeAttempt,
    { unrecorded, place }: LiveCoding,
    requested: CodingCall,
    record: () => Promise<void>,
  ): Promise<CodingAnswer> {
    const call = unrecorded.clean(requested)
    const { claim, job } = working.attempt
    const tool = toolOfCall(call, place)
    const args = recordedCall('', call, place).args as Record<string, unknown>
    const facts = await factsOf(tool, args, contextOf(working, dataDir, '')).catch(() => null)
    const earlier = facts === null ? null : findUnheard(job.id, unrecorded.idOf(call.callId), hashOfCall(tool.name, args, facts))
    if (earlier !== null) unrecorded.rename(call.callId, earlier)
    await record()
    const callId = unrecorded.idOf(call.callId)
    const verdict = await judgeCall(working, dataDir, { callId, tool, args, startedBefore: false })
    if (verdict.verdict === 'wait') return 'later'
    const decision = working.policy.decisionOf(callId)
    await commitSoon(db, (tx) => {
      if (verdict.verdict === 'run') {
        if (decision?.facts.effect === 'once')
          jobs.recordToolStarted(tx, claim, { callId, name: tool.name, leftMachine: facts?.leavesMachine ?? true })
      } else {
        const reason = verdict.verdict === 'deny' ? verdict.reason : verdict.output.replace(/^Not run: /, '')
        jobs.recordToolResult(tx, claim, unrecorded.refused(call, reason))
      }
      if (decision !== undefined) approvals.recordDecision(tx, claim, decision)
    })
    return verdict.verdict === 'run' ? 'allow' : 'deny'
  }

  /** The call of an earlier process that asked the same, was answered or is open, and neither ran nor was refused. */
  function findUnheard(jobId: string, callId: string, hash: string): string | null {
    const { approvals: asked } = approvals.list(db, { jobId, limit: 200 })
    const heard = new Set(jobs.listSteps(db, jobId).flatMap((step) => (step.kind === 'reply' ? [] : [step.callId])))
    if (asked.some((approval) => approval.callId === callId)) return null
    return asked.find((approval) => approval.kind === 'tool' && approval.hash === hash && !heard.has(approval.callId!))?.callId ?? null
  }

  return decide
}
