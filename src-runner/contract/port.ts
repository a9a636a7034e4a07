import { z } from 'zod'
import { LANGUAGES } from '../../resources/locales/texts.ts'
import { ApprovalKind } from './jobs.ts'
import { BackupName } from './backups.ts'
import { ShownNotificationKind } from './notifications.ts'
import { TlsPair } from './encryption.ts'
import { Id, Moment, Usd } from './primitives.ts'
import { PublicAddress, TunnelProgram } from './public-address.ts'
import { Message } from './messages.ts'

/**
 * The typed port between the desktop (or headless host) and the runner process. Both ends parse what arrives: a message that
 * does not fit is logged and dropped. WORKER_SECRET is sent here and nowhere else.
 */
export const AuthMode = z.enum(['local-trust', 'local-auth', 'bearer-token'])
export type AuthMode = z.infer<typeof AuthMode>

export const LogLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
export type LogLevel = z.infer<typeof LogLevel>

/** Replaces the database before the start; the present one is kept beside it. `backup`: null for the newest sound one. */
export const Replacement = z.union([z.literal('empty'), z.object({ backup: BackupName.nullable() })])
export type Replacement = z.infer<typeof Replacement>

/** Where the runner listens and whom it lets in. It can change while the runner runs. */
export const Access = z.object({
  host: z.string().min(1),
  authMode: AuthMode,
  workerSecret: z.string().min(1),
  /** Origins and host names that the gate accepts besides loopback. */
  origins: z.array(z.string()),
  hosts: z.array(z.string()),
  /** The dashboard's address, to which services send people back after a sign-in. Left out: there is no dashboard. */
  appUrl: z.string().optional(),
  /** For connections from the network; null: they are not encrypted. */
  tls: TlsPair.nullable().optional(),
})
export type Access = z.infer<typeof Access>

export const RunnerConfig = Access.extend({
  dataDir: z.string().min(1),
  /** 0 lets the system choose (tests). */
  port: z.number().int().min(0).max(65_535),
  logLevel: LogLevel,
  /** No schedules, no channels, and jobs of the last run wait for a person. */
  safeMode: z.boolean(),
  /** The webhook-only listener as the environment wants it; null: the setting decides. */
  ingressPort: z.number().int().min(0).max(65_535).nullable(),
  /** The public base of webhook addresses as the environment gives it; null: the setting decides. */
  publicRunnerUrl: z.string().nullable(),
  /** In tests: how far the runner's clock is ahead of the machine's. */
  clockAheadMs: z.number().int().optional(),
  /** Whether WhatsApp is available. Left out: it is. */
  messengerBridge: z.boolean().optional(),
  /** In tests: the server to use instead of WhatsApp's, and the key that it proves itself with. */
  testMessenger: z.object({ url: z.string(), rootKey: z.string(), qrShownMs: z.number().int().positive().optional() }).optional(),
  /** The person's language, for agents' messages to chats. Left out: English. */
  language: z.enum(LANGUAGES).optional(),
  /** The host can move files to the trash. */
  hostTrash: z.boolean().optional(),
  replaceDatabase: Replacement.optional(),
})
export type RunnerConfig = z.infer<typeof RunnerConfig>

/**
 * An account of the sign-in database. `isOwner`: of this installation. `tokensSince`: its access tokens from before do not count;
 * left out: all count.
 */
export const SignedInUser = z.object({
  userId: z.string().min(1).max(200),
  name: z.string().max(200),
  isOwner: z.boolean(),
  tokensSince: Moment.optional(),
})
export type SignedInUser = z.infer<typeof SignedInUser>

/** Names an account by the token of a session, or by its id. */
export const UserQuestion = z.union([
  z.strictObject({ token: z.string().min(1).max(1000) }),
  z.strictObject({ userId: z.string().min(1).max(200) }),
])
export type UserQuestion = z.infer<typeof UserQuestion>

/** A name in the vault: `provider:<id>` and the like. */
export const VaultKey = z.string().regex(/^[a-z][a-z0-9_:.-]{0,199}$/i)

export const ToRunner = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), config: RunnerConfig }),
  z.object({ type: z.literal('stop'), graceMs: z.number().int().nonnegative() }),
  z.object({ type: z.literal('ping'), nonce: z.string() }),
  /**
   * Answered by `access_set`, or by `failed` if the runner listens nowhere any more. Jobs go on; streams end, and every request is
   * judged by the new access.
   */
  z.object({ type: z.literal('set_access'), access: Access }),
  /** The dashboard's, because the addresses of this machine have changed. Nothing else changes, so streams go on. */
  z.object({ type: z.literal('set_origins'), origins: z.array(z.string()) }),
  z.object({
    type: z.literal('vault.answer'),
    requestId: z.number().int(),
    ok: z.boolean(),
    value: z.string().nullable(),
    message: Message.nullable(),
  }),
  /** `message`: why it was not done. */
  z.object({ type: z.literal('trash.answer'), requestId: z.number().int(), ok: z.boolean(), message: z.string().nullable() }),
  /** `user` null: there is none, or the session has ended. `ok` false: it could not be looked up. */
  z.object({ type: z.literal('user.answer'), requestId: z.number().int(), ok: z.boolean(), user: SignedInUser.nullable() }),
  z.object({ type: z.literal('cancel_job'), jobId: Id }),
  /** A person answered in the tray. `answer`: to a question. */
  z.object({
    type: z.literal('answer_approval'),
    approvalId: Id,
    decision: z.enum(['approve', 'reject']),
    answer: z.string().nullable(),
  }),
  z.object({ type: z.literal('set_pause_all'), on: z.boolean() }),
  z.object({ type: z.literal('set_tunnel'), program: TunnelProgram, on: z.boolean() }),
  z.object({ type: z.literal('set_language'), language: z.enum(LANGUAGES) }),
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
  /** Whether each of its model calls has a known price. */
  priced: z.boolean(),
})
export type RunningJob = z.infer<typeof RunningJob>

/** A waiting approval for a menu: single lines that are cut if too long. */
export const WaitingApproval = z.object({
  approvalId: Id,
  kind: ApprovalKind,
  agentName: z.string(),
  title: Message,
  /** The title shows everything that decides, so the approval can be answered in the menu. */
  isWhole: z.boolean(),
  /** Choices of a question, unchanged; empty if one does not fit into a menu. */
  choices: z.array(z.string()),
})
export type WaitingApproval = z.infer<typeof WaitingApproval>

export const WebhookReach = PublicAddress.pick({ url: true, tunnel: true }).extend({ check: PublicAddress.shape.check.shape.state })
export type WebhookReach = z.infer<typeof WebhookReach>

export const FromRunner = z.discriminatedUnion('type', [
  /** Sent once, when the runner listens to the port. */
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('ready'), host: z.string(), port: z.number().int(), bootId: z.string() }),
  z.object({
    type: z.literal('failed'),
    code: z.enum([
      'port_taken',
      'database_damaged',
      'database_newer',
      'database_locked',
      'disk_full',
      'read_only',
      'data_dir_unusable',
      'config_invalid',
      'internal',
    ]),
    message: Message,
  }),
  z.object({ type: z.literal('stopped') }),
  z.object({ type: z.literal('pong'), nonce: z.string() }),
  /** `problem`: why the runner does not listen on the new host. It listens where it did before, by the stricter of the two rules. */
  z.object({ type: z.literal('access_set'), problem: Message.nullable() }),
  z.object({ type: z.literal('heartbeat'), at: Moment }),
  /** Sent when something that the tray shows has changed. */
  z.object({
    type: z.literal('running'),
    jobs: z.array(RunningJob),
    pending: z.number().int(),
    /** Approvals that wait for the person. */
    approvals: z.number().int(),
    /** The newest of them. */
    waiting: z.array(WaitingApproval),
    pauseAll: z.boolean(),
    webhooks: WebhookReach,
  }),
  z.object({
    type: z.literal('vault.ask'),
    requestId: z.number().int(),
    operation: z.enum(['get', 'set', 'delete']),
    key: VaultKey,
    value: z.string().nullable(),
  }),
  /** `path`: absolute and without links. */
  z.object({ type: z.literal('trash.ask'), requestId: z.number().int(), path: z.string().min(1).max(32_767) }),
  z.object({ type: z.literal('user.ask'), requestId: z.number().int(), about: UserQuestion }),
  z.object({
    type: z.literal('notification'),
    kind: ShownNotificationKind,
    title: Message,
    body: Message.nullable(),
    path: z.string(),
  }),
])
export type FromRunner = z.infer<typeof FromRunner>

export type RunningReport = Omit<Extract<FromRunner, { type: 'running' }>, 'type'>
export type Notification = Omit<Extract<FromRunner, { type: 'notification' }>, 'type'>
