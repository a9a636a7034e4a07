import type { Database } from '../../base/db/database.ts'
import { transact } from '../../base/db/transact.ts'
import type { Notice, ToRunner } from '../../contract/port.ts'
import type { PublicAddress, TunnelProgram } from '../../contract/public-address.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError, messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import type { ApprovalStore } from '../../records/approvals/approvals.ts'
import type { JobStore } from '../../records/jobs/job-store.ts'
import type { Worker } from '../../records/jobs/worker.ts'
import { changeSettings } from '../../records/settings/settings.ts'

type AnswerFromHost = Omit<Extract<ToRunner, { type: 'answer_approval' }>, 'type'>
type TunnelWish = Omit<Extract<ToRunner, { type: 'set_tunnel' }>, 'type'>

/** What a person does outside the page, in the tray most of all. Nobody waits for an answer to it. */
export type HostCommands = {
  cancelJob(jobId: string): void
  /** A person's answer that did not come over HTTP. What it cannot do any more, a notice says. */
  answerApproval(given: AnswerFromHost): void
  /** The emergency brake, pulled or released by a person. */
  setBrake(on: boolean): void
  /** A tunnel, started or stopped by a person in the tray. What cannot be done, a notice says. */
  setTunnel(wish: TunnelWish): void
}

export type HostCommandsDeps = {
  db: Database
  clock: Clock
  log: Log
  jobs: Pick<JobStore, 'cancel'>
  approvals: Pick<ApprovalStore, 'answer'>
  worker: Pick<Worker, 'nudge'>
  tunnels: { startTunnel(program: TunnelProgram): Promise<PublicAddress>; stopTunnel(): Promise<PublicAddress> }
  tell(notice: Notice): void
}

export function createHostCommands({ db, clock, log, jobs, approvals, worker, tunnels, tell }: HostCommandsDeps): HostCommands {
  return {
    cancelJob(jobId) {
      try {
        transact(db, (tx) => jobs.cancel(tx, jobId))
      } catch (error) {
        // Ended a moment ago, most likely: the tray was a moment behind.
        log.info({ error, jobId }, 'a job could not be cancelled')
      }
    },
    answerApproval({ approvalId, decision, answer }) {
      try {
        transact(db, (tx) => approvals.answer(tx, { approvalId, decision, remember: 'once', answer: answer ?? undefined }))
      } catch (error) {
        log.info({ error, approvalId }, 'an answer from outside the page could not be taken')
        const body = error instanceof AppError ? error.message : 'It could not be written down. Open Deckhand and try again.'
        tell({ kind: 'approval_waiting', title: 'Your answer was not taken', body, path: `/approvals?id=${approvalId}` })
      }
    },
    setBrake(on) {
      try {
        transact(db, (tx) => changeSettings(tx, { clock }, { brake: on }))
        worker.nudge()
      } catch (error) {
        log.error({ error, on }, 'the emergency brake could not be set')
      }
    },
    setTunnel({ program, on }) {
      const done = on ? tunnels.startTunnel(program) : tunnels.stopTunnel()
      done.catch((error: unknown) => {
        log.info({ error, program, on }, 'a wish of the tray for a tunnel could not be carried out')
        const title = on ? 'The tunnel was not started' : 'The tunnel was not stopped'
        tell({ kind: 'public_address_unreachable', title, body: messageOf(error), path: '/settings/webhooks' })
      })
    },
  }
}
