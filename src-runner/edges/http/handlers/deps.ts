import type { BoxState } from '../../../base/box/box-types.ts'
import type { Database } from '../../../base/db/database.ts'
import type { EventHub } from '../../../base/events/event-hub.ts'
import type { JobTails } from '../../../base/events/job-tails.ts'
import type { MachineTime } from '../../../base/time/machine-time.ts'
import type { ChannelKind } from '../../../contract/channels.ts'
import type { DoctorCheck } from '../../../contract/doctor.ts'
import type { Recovery } from '../../../contract/notifications.ts'
import type { PublicAddress, TunnelProgram, UpdatePublicAddress } from '../../../contract/public-address.ts'
import type { TemplatePreview } from '../../../contract/triggers.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Ids } from '../../../kit/ids.ts'
import type { Log } from '../../../kit/log.ts'
import type { Vault } from '../../../kit/vault.ts'
import type { FileDiff } from '../../../contract/files.ts'
import type { SimulateCall, SimulatedCall } from '../../../contract/rules.ts'
import type { ApprovalStore } from '../../../records/approvals/approvals.ts'
import type { ChannelAccount } from '../../../records/channels/channels.ts'
import type { JobStore } from '../../../records/jobs/job-store.ts'
import type { Deliver } from '../../../records/outbox/outgoing.ts'
import type { ScheduleStore } from '../../../records/schedules/schedule-store.ts'
import type { Worker } from '../../../records/jobs/worker.ts'
import type { FoundServer } from '../../../contract/providers.ts'
import type { Tool } from '../../../thinking/tools/tool.ts'
import type { JobFiles } from '../../../work/job-files.ts'
import type { Models } from '../../../thinking/models/model-source.ts'

/** What the handlers work with. They hold no state of their own. */
export type HandlerDeps = {
  db: Database
  jobs: JobStore
  approvals: ApprovalStore
  schedules: ScheduleStore
  /** Decides everything that is due now. Resolves with what came of it. */
  tick(): Promise<{ fired: number; skipped: number; exhausted: number }>
  /** What agents can do now: some tools are there only when a setting is. */
  tools: () => readonly Tool[]
  /** The decision about a call that nobody makes. */
  simulate(asked: SimulateCall): Promise<SimulatedCall>
  /** What the call of an open approval would make of a file as it is now. */
  previewChange(approvalId: string): Promise<FileDiff | null>
  worker: Pick<Worker, 'nudge' | 'run'>
  tails: JobTails
  hub: EventHub
  files: JobFiles
  models: Pick<Models, 'listModels' | 'checkProvider' | 'forget' | 'hasPrice'>
  /** The model servers that answer on this machine now. */
  findServers(): Promise<FoundServer[]>
  /** The box of this machine; `again` tries it anew. */
  findBox(options?: { again?: boolean }): Promise<BoxState>
  /** Deliveries that a person sends to their own webhooks, and what is known of the others. */
  webhooks: {
    /** The running time that limits are measured in. */
    time: MachineTime
    /** Writes down what is known of refused deliveries, before somebody looks. */
    settle(): void
    preview(taskTemplate: string, payload: string): TemplatePreview
    test(triggerId: string, payload: string): Promise<{ jobId: string }>
    replay(deliveryId: string): Promise<{ jobId: string }>
  }
  /** What webhook addresses begin with, as of now. */
  webhookBase(): string
  /** What this start found of a crash; null: it came after an orderly end, or nothing was at work. */
  recovery(): Recovery | null
  /** How webhooks come in from outside. */
  publicAddress: {
    read(): PublicAddress
    update(change: UpdatePublicAddress): Promise<PublicAddress>
    check(): Promise<PublicAddress>
    startTunnel(program: TunnelProgram): Promise<PublicAddress>
    stopTunnel(): Promise<PublicAddress>
  }
  /** What Deckhand needs of this machine, looked at now. */
  examine(): Promise<DoctorCheck[]>
  /** The connections to chat services. */
  channels: {
    /** Whose token this is, asked of the service. */
    identify(
      kind: ChannelKind,
      access: { token: string; baseUrl: string | null },
    ): Promise<{ state: 'known'; account: ChannelAccount } | { state: 'refused' | 'unreachable'; problem: string }>
    /** Connects anew by what the row and the vault say now. */
    refresh(channelId: string): Promise<void>
    deliver: Deliver
    lastRoundTripAt(channelId: string): number | null
  }
  vault: Vault
  clock: Clock
  /** The day that money belongs to. */
  money: Pick<Clock, 'now'>
  ids: Ids
  log: Log
  /** Deckhand's own folder, which no agent is ever given. */
  dataDir: string
  /** Of the person. */
  home: string
}
