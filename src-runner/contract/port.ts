import { z } from 'zod'
import { ApprovalKind } from './approval-kinds.ts'
import { ShownNotificationKind } from './notifications.ts'
import { Id, Moment, Usd } from './primitives.ts'
import { PublicAddress, TunnelProgram } from './public-address.ts'
import { Message } from './messages.ts'

/**
 * The typed port between the desktop (or headless host) and the runner process. Both ends parse what arrives: a
 * message that does not fit is logged and dropped, never acted on. WORKER_SECRET travels here and nowhere else.
 */
export const AuthMode = z.enum(['local-trust', 'local-auth', 'bearer-token'])
export type AuthMode = z.infer<typeof AuthMode>

export const LogLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
export type LogLevel = z.infer<typeof LogLevel>

export const RunnerConfig = z.object({
  dataDir: z.string().min(1),
  host: z.string().min(1),
  /** 0 lets the system choose (tests). */
  port: z.number().int().min(0).max(65_535),
  authMode: AuthMode,
  workerSecret: z.string().min(32),
  logLevel: LogLevel,
  /** Origins and host names that the gate lets in besides loopback. */
  origins: z.array(z.string()),
  hosts: z.array(z.string()),
  /** Safe mode: no schedules, no channels, and jobs of the last run wait for a person. */
  safeMode: z.boolean(),
  /** The webhook-only listener as the environment wants it; null: the setting decides. */
  ingressPort: z.number().int().min(0).max(65_535).nullable(),
  /** The public base of webhook addresses as the environment gives it; null: the setting decides. */
  publicRunnerUrl: z.string().nullable(),
  /** In tests of the whole app: how far the runner's clock stands ahead of the machine's. */
  clockAheadMs: z.number().int().optional(),
  /** The host moves files to the trash of the system when it is asked to. Left out: it does not. */
  hostTrash: z.boolean().optional(),
})
export type RunnerConfig = z.infer<typeof RunnerConfig>

/** A name in the vault: `provider:<id>` and the like. */
export const VaultKey = z.string().regex(/^[a-z][a-z0-9_:.-]{0,199}$/i)

export const ToRunner = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), config: RunnerConfig }),
  z.object({ type: z.literal('stop'), graceMs: z.number().int().nonnegative() }),
  z.object({ type: z.literal('ping'), nonce: z.string() }),
  z.object({
    type: z.literal('vault.answer'),
    requestId: z.number().int(),
    ok: z.boolean(),
    value: z.string().nullable(),
    message: z.string().nullable(),
  }),
  /** `message`: why it was not done, in a sentence. */
  z.object({ type: z.literal('trash.answer'), requestId: z.number().int(), ok: z.boolean(), message: z.string().nullable() }),
  z.object({ type: z.literal('cancel_job'), jobId: Id }),
  /** A person answered in the tray. `answer`: to a question. */
  z.object({
    type: z.literal('answer_approval'),
    approvalId: Id,
    decision: z.enum(['approve', 'reject']),
    answer: z.string().nullable(),
  }),
  /** A person pulled or released pause all in the tray. */
  z.object({ type: z.literal('set_pause_all'), on: z.boolean() }),
  /** The person started or stopped a tunnel in the tray. */
  z.object({ type: z.literal('set_tunnel'), program: TunnelProgram, on: z.boolean() }),
  /** The machine was asleep until now. */
  z.object({ type: z.literal('woke') }),
])
export type ToRunner = z.infer<typeof ToRunner>

export const RunningJob = z.object({
  jobId: Id,
  title: z.string(),
  agentName: z.string(),
  startedAt: Moment,
  costUsd: Usd,
})
export type RunningJob = z.infer<typeof RunningJob>

/** What a menu can show of an approval that waits: single lines, cut where they are too long. */
export const WaitingApproval = z.object({
  approvalId: Id,
  kind: ApprovalKind,
  agentName: z.string(),
  title: Message,
  /** The title says all that a person has to know, so it may be answered without a look at the approval itself, if it fits. */
  isWhole: z.boolean(),
  /** Answers of a question, letter by letter; empty when it has none or one does not fit into a menu. */
  choices: z.array(z.string()),
})
export type WaitingApproval = z.infer<typeof WaitingApproval>

export const WebhookReach = PublicAddress.pick({ url: true, tunnel: true }).extend({ check: PublicAddress.shape.check.shape.state })
export type WebhookReach = z.infer<typeof WebhookReach>

export const FromRunner = z.discriminatedUnion('type', [
  /** Sent once, as soon as the port can be listened to. */
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('ready'), host: z.string(), port: z.number().int(), bootId: z.string() }),
  z.object({
    type: z.literal('failed'),
    code: z.enum([
      'port_taken',
      'database_damaged',
      'database_newer',
      'database_locked',
      'data_dir_unusable',
      'config_invalid',
      'internal',
    ]),
    message: z.string(),
  }),
  z.object({ type: z.literal('stopped') }),
  z.object({ type: z.literal('pong'), nonce: z.string() }),
  z.object({ type: z.literal('heartbeat'), at: Moment }),
  /** Whenever what the tray shows has changed. */
  z.object({
    type: z.literal('running'),
    jobs: z.array(RunningJob),
    pending: z.number().int(),
    /** Approvals that wait for the person. */
    approvals: z.number().int(),
    /** The newest of them. */
    waiting: z.array(WaitingApproval),
    pauseAll: z.boolean(),
    /** How webhooks come in from outside. */
    webhooks: WebhookReach,
  }),
  z.object({
    type: z.literal('vault.ask'),
    requestId: z.number().int(),
    operation: z.enum(['get', 'set', 'delete']),
    key: VaultKey,
    value: z.string().nullable(),
  }),
  /** Move this file to the trash of the system. `path`: absolute and without links. */
  z.object({ type: z.literal('trash.ask'), requestId: z.number().int(), path: z.string().min(1).max(32_767) }),
  /** Something the person should hear about although the window may be closed. */
  z.object({
    type: z.literal('notification'),
    kind: ShownNotificationKind,
    title: Message,
    body: Message.nullable(),
    path: z.string(),
  }),
])
export type FromRunner = z.infer<typeof FromRunner>

/** What the tray shows. */
export type RunningReport = Omit<Extract<FromRunner, { type: 'running' }>, 'type'>
/** What is told to a person whose window may be closed. */
export type Notification = Omit<Extract<FromRunner, { type: 'notification' }>, 'type'>
