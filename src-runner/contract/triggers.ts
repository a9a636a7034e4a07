import { z } from 'zod'
import { Message } from './messages.ts'
import { Id, Moment, Name } from './primitives.ts'

export const MAX_WEBHOOK_BYTES = 1_000_000
/** Accepted deliveries of one trigger within any hour. */
export const FIRES_PER_HOUR = 30
/** Deliveries that the inbox of a trigger keeps. */
export const INBOX_KEEPS = 200
/** A longer value of a placeholder is cut, with a note that says so. */
export const MAX_PLACEHOLDER_CHARS = 100_000

/** How many empty placeholders a delivery names, and how many characters of each. */
export const MAX_MISSING_SHOWN = 20
export const MAX_MISSING_CHARS = 200

/** The channel of notes about successful runs. `auto`: the agent's first active channel. WhatsApp is not offered. */
export const NotifyVia = z.enum(['auto', 'telegram', 'discord', 'slack'])
export type NotifyVia = z.infer<typeof NotifyVia>

/** How a sender signs deliveries. A wrong signature gets the same response as a wrong secret. */
export const SignatureScheme = z.enum(['standard_webhooks', 'github', 'stripe', 'slack'])
export type SignatureScheme = z.infer<typeof SignatureScheme>

export const Slug = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
    'takes small letters, digits and hyphens, at most 64 of them, with no hyphen at either end',
  )

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme */
const StandardWebhooksSecret = /^(?:whsec_)?(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export const TaskTemplate = z.string().trim().min(1).max(100_000)

/** The real outcome of a delivery. The sender only sees its `status`: several outcomes are the same 404. */
export const DeliveryOutcome = z.enum([
  'accepted',
  /** It repeated the id of an earlier one and got that one's job. */
  'duplicate',
  'wrong_secret',
  'paused',
  'bad_signature',
  'rate_limited',
  /** Too many bytes of unanswered deliveries were in memory. */
  'too_many_at_once',
  /** Refusals that earlier versions of Deckhand stored. */
  'unsupported_media_type',
  'unsupported_encoding',
  'payload_too_large',
  'invalid_json',
  /** The body never ended. */
  'incomplete',
  'no_agent',
  /** The trigger refuses deliveries that leave a placeholder empty. */
  'placeholder_missing',
  'job_creation_failed',
  /** GitHub's ping or Slack's challenge. It creates no job and does not count against the limit. */
  'ping',
])
export type DeliveryOutcome = z.infer<typeof DeliveryOutcome>

/** A webhook. Its secret is stored as a digest and never returned. It cannot be edited. */
export const Trigger = z.object({
  id: Id,
  entityId: Id,
  /** null: none attached, or it was deleted. Deliveries are then refused. */
  agentId: Id.nullable(),
  agentName: z.string().nullable(),
  name: z.string(),
  slug: z.string(),
  taskTemplate: z.string(),
  notifyOnSuccess: z.boolean(),
  notifyVia: NotifyVia,
  signature: SignatureScheme.nullable(),
  /** A delivery that repeats an id of the sender gets the first job. */
  dedupe: z.boolean(),
  /** Deliveries that leave a placeholder empty are refused (400 `placeholder_missing`). */
  requirePlaceholders: z.boolean(),
  status: z.enum(['active', 'paused']),
  triggerCount: z.number().int(),
  lastTriggeredAt: Moment.nullable(),
  /** Accepted deliveries within the last hour. */
  firesThisHour: z.number().int(),
  /** null: there was no delivery yet. */
  lastOutcome: DeliveryOutcome.nullable(),
  createdAt: Moment,
})
export type Trigger = z.infer<typeof Trigger>

export const CreateTrigger = z.object({
  name: Name,
  agentId: Id.nullable().default(null),
  taskTemplate: TaskTemplate,
  /** Default: made from the name. */
  slug: Slug.optional(),
  notifyOnSuccess: z.boolean().default(false),
  notifyVia: NotifyVia.default('auto'),
  /** The secret is stored in the vault and never returned. */
  signature: z
    .object({ scheme: SignatureScheme, secret: z.string().trim().min(1).max(1000) })
    .refine(({ scheme, secret }) => scheme !== 'standard_webhooks' || StandardWebhooksSecret.test(secret), {
      path: ['secret'],
      message: 'A Standard Webhooks secret is base64, with or without “whsec_” before it.',
    })
    .nullable()
    .default(null),
  dedupe: z.boolean().default(false),
  requirePlaceholders: z.boolean().default(false),
})
export type CreateTrigger = z.infer<typeof CreateTrigger>

/** One request to a trigger. `test` and `replay` are sent by the person and do not count against the hourly limit. */
export const Delivery = z.object({
  id: Id,
  triggerId: Id,
  kind: z.enum(['webhook', 'test', 'replay']),
  outcome: DeliveryOutcome,
  /** The HTTP status that the sender got. */
  status: z.number().int(),
  /** Above 1: consecutive refusals that are counted instead of listed. */
  times: z.number().int().positive(),
  /** The sender's own id of it. */
  senderId: z.string().nullable(),
  /** From the headers: `push`, `charge.succeeded`. */
  eventName: z.string().nullable(),
  /** Some of the placeholders that the payload did not fill. */
  missing: z.array(z.string()),
  jobId: Id.nullable(),
  replayOfId: Id.nullable(),
  bytes: z.number().int(),
  receivedAt: Moment,
})
export type Delivery = z.infer<typeof Delivery>

export const DeliveryDetail = Delivery.extend({
  /** The body as received; null if it was not read or is no longer stored. */
  payload: z.string().nullable(),
  /** The task with its placeholders filled in; null if there is no job. */
  prompt: z.string().nullable(),
  /** The same without the untrusted-content wrapper. null: there is no wrapper. */
  plainPrompt: z.string().nullable(),
  /** Headers about the event. No secret, cookie or signature is among them. */
  headers: z.record(z.string(), z.string()),
})
export type DeliveryDetail = z.infer<typeof DeliveryDetail>

/**
 * The untrusted-content wrapper of a delivery: the template as it was then, and the random mark of the fence. null: the
 * template uses nothing of the payload.
 */
export const UntrustedWrapper = z.object({ template: z.string(), mark: z.string() }).nullable()
export type UntrustedWrapper = z.infer<typeof UntrustedWrapper>

/** `job.context` of a delivery. */
export const DeliveryContext = z.object({
  /** As it was then. */
  trigger: z.object({ id: Id, name: z.string(), slug: z.string() }),
  deliveryId: Id,
  kind: Delivery.shape.kind.default('webhook'),
  eventName: z.string().nullable().default(null),
  senderId: z.string().nullable().default(null),
  replayOfId: Id.nullable().default(null),
  /** Placeholders that the payload did not fill. */
  missing: z.array(z.string()).default([]),
  /** Left out by earlier versions of Deckhand, which stored the task in its wrapper. */
  wrapper: UntrustedWrapper.optional(),
})
export type DeliveryContext = z.infer<typeof DeliveryContext>

export const PreviewTemplate = z.object({ taskTemplate: TaskTemplate, payload: z.string().max(MAX_WEBHOOK_BYTES) })
export type PreviewTemplate = z.infer<typeof PreviewTemplate>

export const TemplatePreview = z.object({
  /** null if the payload is not JSON. */
  prompt: z.string().nullable(),
  /** The same without the untrusted-content wrapper. */
  plainPrompt: z.string().nullable(),
  /** In order of first appearance. */
  placeholders: z.array(z.object({ path: z.string(), state: z.enum(['filled', 'missing', 'cut']), value: z.string() })),
  /** Why there is no prompt. */
  problem: Message.nullable(),
})
export type TemplatePreview = z.infer<typeof TemplatePreview>
