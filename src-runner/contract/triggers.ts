import { z } from 'zod'
import { Message } from './messages.ts'
import { Id, Moment, Name } from './primitives.ts'

/** 1,000,000 bytes: what a delivery's body may hold. */
export const MAX_WEBHOOK_BYTES = 1_000_000
/** Accepted deliveries of one trigger within any hour. */
export const FIRES_PER_HOUR = 30
/** Deliveries of one trigger that its inbox keeps. */
export const INBOX_KEEPS = 200
/** A value that a placeholder is filled with is cut here, with a mark that says so. */
export const MAX_PLACEHOLDER_CHARS = 100_000

/** How many placeholders that stayed empty a delivery names, and how much of each. */
export const MAX_MISSING_SHOWN = 20
export const MAX_MISSING_CHARS = 200

/** Where a note about a successful run goes. `auto`: the agent's first active channel. WhatsApp is not offered. */
export const NotifyVia = z.enum(['auto', 'telegram', 'discord', 'slack'])
export type NotifyVia = z.infer<typeof NotifyVia>

/** How a sender proves itself beyond the secret in the path. A wrong signature is answered like a wrong secret. */
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

/** How a delivery really went. What the sender saw is its `status`: several of these are one and the same 404. */
export const DeliveryOutcome = z.enum([
  'accepted',
  /** It repeated an earlier one's id, and was answered with that one's job. */
  'duplicate',
  'wrong_secret',
  'paused',
  'bad_signature',
  'rate_limited',
  /** More bytes of unanswered deliveries were under way than can be held. */
  'too_many_at_once',
  /** Of earlier versions of Deckhand: it was not sent as JSON. */
  'unsupported_media_type',
  'unsupported_encoding',
  'payload_too_large',
  'invalid_json',
  /** The body never came to its end. */
  'incomplete',
  'no_agent',
  /** It left a placeholder empty, and the trigger refuses such deliveries. */
  'placeholder_missing',
  'job_creation_failed',
  /** The sender tried the address: GitHub's ping, or Slack's challenge. It made no job and took nothing from the limit. */
  'ping',
])
export type DeliveryOutcome = z.infer<typeof DeliveryOutcome>

/** A webhook trigger. Its secret is kept as a digest and never comes back; it cannot be edited. */
export const Trigger = z.object({
  id: Id,
  entityId: Id,
  /** null: none attached, or the one attached was deleted. A delivery is then refused. */
  agentId: Id.nullable(),
  agentName: z.string().nullable(),
  name: z.string(),
  slug: z.string(),
  taskTemplate: z.string(),
  notifyOnSuccess: z.boolean(),
  notifyVia: NotifyVia,
  signature: SignatureScheme.nullable(),
  /** A delivery that repeats an id of the sender answers with the first job. */
  dedupe: z.boolean(),
  /** A delivery that leaves a placeholder of the template empty is refused. */
  requirePlaceholders: z.boolean(),
  status: z.enum(['active', 'paused']),
  triggerCount: z.number().int(),
  lastTriggeredAt: Moment.nullable(),
  /** Accepted deliveries within the last hour, of FIRES_PER_HOUR. */
  firesThisHour: z.number().int(),
  /** How the newest delivery went; null: there was none. */
  lastOutcome: DeliveryOutcome.nullable(),
  createdAt: Moment,
})
export type Trigger = z.infer<typeof Trigger>

export const CreateTrigger = z.object({
  name: Name,
  /** Left out or null: none attached yet. */
  agentId: Id.nullable().default(null),
  taskTemplate: TaskTemplate,
  /** Left out: made from the name. */
  slug: Slug.optional(),
  notifyOnSuccess: z.boolean().default(false),
  notifyVia: NotifyVia.default('auto'),
  /** The signing secret goes to the vault and never comes back. */
  signature: z
    .object({ scheme: SignatureScheme, secret: z.string().trim().min(1).max(1000) })
    .refine(({ scheme, secret }) => scheme !== 'standard_webhooks' || StandardWebhooksSecret.test(secret), {
      path: ['secret'],
      message: 'A Standard Webhooks secret is base64, with or without “whsec_” before it.',
    })
    .nullable()
    .default(null),
  dedupe: z.boolean().default(false),
  /** Refuse deliveries that leave a placeholder of the template empty (400 `placeholder_missing`). */
  requirePlaceholders: z.boolean().default(false),
})
export type CreateTrigger = z.infer<typeof CreateTrigger>

/** One request to a trigger. `test` and `replay` were sent by the person: they take nothing from the hour's limit. */
export const Delivery = z.object({
  id: Id,
  triggerId: Id,
  kind: z.enum(['webhook', 'test', 'replay']),
  outcome: DeliveryOutcome,
  /** What the sender was answered. */
  status: z.number().int(),
  /** How many times in a row, for refusals that are counted instead of listed. */
  times: z.number().int().positive(),
  /** The sender's own id of it, when there was one. */
  senderId: z.string().nullable(),
  /** What it is about, as far as headers say: `push`, `charge.succeeded`. */
  eventName: z.string().nullable(),
  /** Placeholders of the template that the payload did not fill: the first few. */
  missing: z.array(z.string()),
  jobId: Id.nullable(),
  replayOfId: Id.nullable(),
  bytes: z.number().int(),
  receivedAt: Moment,
})
export type Delivery = z.infer<typeof Delivery>

export const DeliveryDetail = Delivery.extend({
  /** The body as it came; null when it was not read or has been forgotten. */
  payload: z.string().nullable(),
  /** What the agent was given, with the placeholders filled in; null when it made no job. */
  prompt: z.string().nullable(),
  /** What there is to read for a person: the filled-in text without what is put around it for the agent. null: nothing is. */
  plainPrompt: z.string().nullable(),
  /** Headers that say something about the event. No secret, cookie or signature is among them. */
  headers: z.record(z.string(), z.string()),
})
export type DeliveryDetail = z.infer<typeof DeliveryDetail>

/**
 * What stands around the filled-in text when an agent is given it: the template as it was then, and the mark of the fence.
 * null: the template took nothing from the payload.
 */
export const UntrustedWrapper = z.object({ template: z.string(), mark: z.string() }).nullable()
export type UntrustedWrapper = z.infer<typeof UntrustedWrapper>

/** What the job of a delivery knows of it, in `job.context`. */
export const DeliveryContext = z.object({
  /** As it was then. */
  trigger: z.object({ id: Id, name: z.string(), slug: z.string() }),
  deliveryId: Id,
  kind: Delivery.shape.kind.default('webhook'),
  eventName: z.string().nullable().default(null),
  senderId: z.string().nullable().default(null),
  replayOfId: Id.nullable().default(null),
  /** Placeholders of the template that the payload did not fill. */
  missing: z.array(z.string()).default([]),
  /** Left out, by earlier versions of Deckhand: the task is stored in its wrapper. */
  wrapper: UntrustedWrapper.optional(),
})
export type DeliveryContext = z.infer<typeof DeliveryContext>

/** What a template makes of a payload, before any webhook is there. */
export const PreviewTemplate = z.object({ taskTemplate: TaskTemplate, payload: z.string().max(MAX_WEBHOOK_BYTES) })
export type PreviewTemplate = z.infer<typeof PreviewTemplate>

export const TemplatePreview = z.object({
  /** What the agent would be given; null when the payload is not JSON. */
  prompt: z.string().nullable(),
  /** What there is to read for a person: the filled-in text without what is put around it for the agent. */
  plainPrompt: z.string().nullable(),
  /** Every placeholder of the template, in order of first appearance, and what became of it. */
  placeholders: z.array(z.object({ path: z.string(), state: z.enum(['filled', 'missing', 'cut']), value: z.string() })),
  /** Why there is no prompt. */
  problem: Message.nullable(),
})
export type TemplatePreview = z.infer<typeof TemplatePreview>
