import type { SandboxState } from '../../../platform/sandbox/sandbox-types.ts'
import type { LiveJobStreams } from '../../../platform/events/live-job-streams.ts'
import type { GuardedFetch } from '../../../platform/net/guarded-fetch.ts'
import type { MachineTime } from '../../../platform/time/machine-time.ts'
import type { Services } from '../../../platform/services.ts'
import type { ChannelKind } from '../../../contract/channels.ts'
import type { CodingCli, CodingProgram } from '../../../contract/coding-programs.ts'
import type { Authorization, CreateAuthorization } from '../../../contract/credentials.ts'
import type { HealthCheck } from '../../../contract/doctor.ts'
import type { Setup } from '../../../contract/export.ts'
import type { Recovery } from '../../../contract/notifications.ts'
import type { Pairing } from '../../../contract/messenger.ts'
import type { PublicAddress, PublicAddressState, TunnelProgram, UpdatePublicAddress } from '../../../contract/public-address.ts'
import type { McpEndpoint } from '../../../contract/settings.ts'
import type {
  FoundSkill,
  Skill,
  SkillCheck,
  SkillEditFile,
  SkillFileInput,
  SkillPreview,
  SkillUpdated,
  SkillUpdatePreview,
  SkillUpload,
} from '../../../contract/skills.ts'
import type { TemplatePreview } from '../../../contract/triggers.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Speech } from '../../../lib/messages.ts'
import type { FileDiff } from '../../../contract/files.ts'
import type { SimulateCall, SimulatedCall } from '../../../contract/rules.ts'
import type { ApprovalStore } from '../../../domain/approvals/approvals.ts'
import type { Identified } from '../../../domain/channels/channels.ts'
import type { Blobs } from '../../../domain/files/blobs.ts'
import type { CredentialStore } from '../../../domain/credentials/use-credential.ts'
import type { JobStore } from '../../../domain/jobs/job-store.ts'
import type { Deliver } from '../../../domain/outbox/outgoing.ts'
import type { ScheduleStore } from '../../../domain/schedules/schedule-store.ts'
import type { SkillPackage } from '../../../domain/skills/skill-package.ts'
import type { Worker } from '../../../domain/jobs/worker.ts'
import type { FoundServer } from '../../../contract/providers.ts'
import type { Tool } from '../../../agent/tools/tool.ts'
import type { CodeResults } from '../../../execution/coding/code-results.ts'
import type { CodeTasks } from '../../../execution/coding/code-tasks.ts'
import type { DailyBackup } from '../../../execution/daily-backup.ts'
import type { OwnContents } from '../../../execution/import-skills.ts'
import type { AgentMcpTools } from '../../../execution/mcp/agent-mcp-tools.ts'
import type { McpPool } from '../../../execution/mcp/mcp-pool.ts'
import type { JobFiles } from '../../../execution/job-files.ts'
import type { RetentionKeeper } from '../../../execution/retention.ts'
import type { Models } from '../../../agent/providers/model-source.ts'

type SkillOrigin = { source: string } | { upload: SkillUpload }

export type HandlerDeps = Pick<Services, 'db' | 'hub' | 'vault' | 'clock' | 'ids' | 'log'> & {
  jobs: JobStore
  approvals: ApprovalStore
  schedules: ScheduleStore
  /** Decides everything that is due now. */
  tick(): Promise<Record<'fired' | 'skipped' | 'exhausted', readonly string[]>>
  /** Some tools exist only with a setting. */
  tools: () => readonly Tool[]
  simulate(call: SimulateCall): Promise<SimulatedCall>
  /** What the call of a pending approval would change in a file. */
  previewChange(approvalId: string): Promise<FileDiff | null>
  worker: Pick<Worker, 'nudge' | 'run'>
  /** The machine's. */
  timezone: () => string
  liveStreams: LiveJobStreams
  files: JobFiles
  blobs: Blobs
  models: Pick<Models, 'listModels' | 'checkProvider' | 'forget' | 'hasPrice'>
  findServers(): Promise<FoundServer[]>
  /** `again`: checks it again instead of returning the last result. */
  findSandbox(options?: { again?: boolean }): Promise<SandboxState>
  webhooks: {
    /** The running time by which limits are measured. */
    time: MachineTime
    /** Writes the counts of refused deliveries, so that a list is current. */
    flush(): void
    preview(taskTemplate: string, payload: string): TemplatePreview
    test(triggerId: string, payload: string): Promise<{ jobId: string }>
    replay(deliveryId: string): Promise<{ jobId: string }>
  }
  /** The base of webhook addresses. */
  webhookBase(): string
  /** Where other programs use Deckhand. */
  mcpEndpoint(): McpEndpoint
  /** Requests whose addresses are not ours. */
  fetchGuarded: GuardedFetch
  /** Default: the official registry. */
  mcpRegistryUrl: string | undefined
  /** The jobs that were running at a crash; null: there was none. */
  recovery(): Recovery | null
  publicAddress: {
    read(): PublicAddress
    readState(): PublicAddressState
    update(change: UpdatePublicAddress): Promise<PublicAddress>
    check(): Promise<PublicAddress>
    startTunnel(program: TunnelProgram): Promise<PublicAddress>
    stopTunnel(): Promise<PublicAddress>
  }
  /** Access tokens are accepted in the present mode. */
  acceptsTokens(): boolean
  examine(): Promise<HealthCheck[]>
  /** `mayBeRecent`: a check of the last few seconds is enough. */
  checkCodingProgram(cli: CodingCli, given?: { mayBeRecent: boolean }): Promise<CodingProgram>
  codeResults: CodeResults
  codeTasks: CodeTasks
  dailyBackup: Pick<DailyBackup, 'read' | 'make'>
  retention: Pick<RetentionKeeper, 'measure' | 'deleteDue'>
  /** null: WhatsApp is turned off, or this is safe mode. */
  pairings: {
    read(agentId: string): Pairing | null
    pair(agentId: string, phoneNumber: string | null): Promise<Pairing>
  } | null
  channels: {
    /** Asks the service whose token this is. */
    identify(kind: ChannelKind, access: { token: string; baseUrl: string | null }): Promise<Identified>
    /** Reconnects with the present row and token. */
    refresh(channelId: string): Promise<void>
    deliver: Deliver
    lastRoundTripAt(channelId: string): number | null
  }
  credentials: Pick<CredentialStore, 'use'>
  authorizations: {
    create(input: CreateAuthorization): Promise<Authorization>
    read(authorizationId: string): Authorization
    cancel(authorizationId: string): Promise<Authorization>
    begin(authorizationId: string, browser: { provider: string; session: string }): Promise<{ url: string; state: string }>
    finish(authorizationId: string, answer: { provider: string; session: string; query: string }): Promise<Authorization>
    finishPasted(authorizationId: string, address: string): Promise<Authorization>
    /** Where a service sends people back. */
    redirectUriOf(subject: { connector: string; mcpServerId: string | null }): string
    /** Whether the tokens were revoked. null: the service cannot do that. */
    disconnect(credentialId: string): Promise<boolean | null>
  }
  clientMetadata: {
    /** The client ID of Deckhand at this server. null: it has none that can be reached. */
    findClientId(mcpServerId: string): Promise<string | null>
  }
  skills: {
    preview(origin: SkillOrigin): Promise<SkillPreview>
    browse(origin: SkillOrigin): Promise<FoundSkill[]>
    install(
      origin: SkillOrigin,
      given: { expectedDigest?: string | undefined; entityId?: string | undefined; agents?: string[] | undefined },
    ): Promise<Skill>
    previewUpdate(find: () => Skill, upload?: SkillUpload): Promise<SkillUpdatePreview>
    update(
      find: () => Skill,
      given: { expectedDigest?: string | undefined; allows: boolean; upload?: SkillUpload | undefined },
    ): Promise<SkillUpdated>
    acknowledge(find: () => Skill): Promise<Skill>
    uninstall(find: () => Skill): Promise<void>
    /** null: its files are not those that were installed. */
    read(digest: string): Promise<SkillPackage | null>
    check(files: SkillFileInput[], skillId?: string): Promise<SkillCheck>
    create(given: { files: SkillFileInput[]; entityId?: string | undefined; agents?: string[] | undefined }): Promise<Skill>
    readFiles(skillId: string): Promise<{ files: SkillEditFile[]; digest: string; isChanged: boolean }>
    save(skillId: string, given: { files: SkillFileInput[]; expectedDigest: string }): Promise<Skill>
    exportZip(skillId: string): Promise<{ fileName: string; base64: string }>
    packOwn(): Promise<ReadonlyMap<string, string>>
    importOwn<T>(setup: Pick<Setup, 'skills'>, work: (own: OwnContents) => T): Promise<T>
  }
  mcp: McpPool
  mcpTools: AgentMcpTools
  /** Dates spending. */
  money: Pick<Clock, 'now'>
  /** The clock by which old rows are deleted. */
  age: Pick<Clock, 'now'>
  speech: Speech
  /** Deckhand's own folder, closed to every agent. */
  dataDir: string
  /** The person's home folder. */
  home: string
}
