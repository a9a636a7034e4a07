import { createMessage } from '../../lib/messages.ts'
import { transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { Notification, ToRunner } from '../../contract/port.ts'
import type { PublicAddress, TunnelProgram } from '../../contract/public-address.ts'
import { AppError, problemOf } from '../../lib/errors.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import type { Worker } from '../../domain/jobs/worker.ts'
import { changeSettings } from '../../domain/settings/settings.ts'

type AnswerFromHost = Omit<Extract<ToRunner, { type: 'answer_approval' }>, 'type'>
type TunnelChange = Omit<Extract<ToRunner, { type: 'set_tunnel' }>, 'type'>

export type HostCommands = ReturnType<typeof createHostCommands>

export type HostCommandsDeps = Pick<Services, 'db' | 'clock' | 'log'> & {
  jobs: Pick<JobStore, 'cancel'>
  approvals: Pick<ApprovalStore, 'answer'>
  worker: Pick<Worker, 'nudge'>
  tunnels: { startTunnel(program: TunnelProgram): Promise<PublicAddress>; stopTunnel(): Promise<PublicAddress> }
  notify(notification: Notification): void
}

/** What a person does outside the page, mostly in the tray. A failure is reported by a notification. */
export function createHostCommands({ db, clock, log, jobs, approvals, worker, tunnels, notify }: HostCommandsDeps) {
  return {
    cancelJob(jobId: string): void {
      try {
        transact(db, (tx) => jobs.cancel(tx, jobId))
      } catch (error) {
        // Most likely the job has just ended.
        log.info({ error, jobId }, 'could not cancel a job')
      }
    },
    answerApproval({ approvalId, decision, answer }: AnswerFromHost): void {
      try {
        transact(db, (tx) => approvals.answer(tx, { approvalId, decision, remember: 'once', answer: answer ?? undefined }))
      } catch (error) {
        log.info({ error, approvalId }, 'could not accept an answer from outside the page')
        const body = error instanceof AppError ? problemOf(error) : createMessage('notify_try_again')
        notify({ kind: 'approval_waiting', title: createMessage('notify_answer_not_taken'), body, path: `/approvals?id=${approvalId}` })
      }
    },
    setPauseAll(on: boolean): void {
      try {
        transact(db, (tx) => changeSettings(tx, { clock }, { pauseAll: on }))
        worker.nudge()
      } catch (error) {
        log.error({ error, on }, 'could not set pause all')
      }
    },
    setTunnel({ program, on }: TunnelChange): void {
      const done = on ? tunnels.startTunnel(program) : tunnels.stopTunnel()
      done.catch((error: unknown) => {
        log.info({ error, program, on }, 'could not start or stop a tunnel for the tray')
        const title = createMessage(on ? 'notify_tunnel_not_started' : 'notify_tunnel_not_stopped')
        notify({ kind: 'public_address_unreachable', title, body: problemOf(error), path: '/settings/webhooks' })
      })
    },
  }
}
