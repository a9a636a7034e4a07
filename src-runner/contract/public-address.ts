import { z } from 'zod'
import { Moment } from './primitives.ts'
import { Message } from './messages.ts'

/** Programs that make a port of this machine reachable from outside. They are the person's own; Deckhand brings none. */
export const TunnelProgram = z.enum(['cloudflared', 'ngrok', 'tailscale'])
export type TunnelProgram = z.infer<typeof TunnelProgram>

export const Tunnel = z.object({
  program: TunnelProgram,
  state: z.enum(['starting', 'running', 'stopped', 'failed']),
  /** The address it gave; null until it says so. */
  url: z.string().nullable(),
  /** Why it failed, and what to do. null otherwise. */
  problem: Message.nullable(),
  startedAt: Moment.nullable(),
})
export type Tunnel = z.infer<typeof Tunnel>

/** Where the webhook-only listener is tried first. */
export const FIRST_INGRESS_PORT = 3002

/** How webhooks of this machine are reached from outside. */
export const PublicAddress = z.object({
  /** The base of webhook addresses; null: only this machine reaches them. */
  url: z.string().nullable(),
  /** Who said so. `environment` (PUBLIC_RUNNER_URL) cannot be changed in the app. */
  source: z.enum(['none', 'setting', 'environment', 'tunnel']),
  /** How programs on this machine reach webhooks: the webhook-only port, or the runner's while there is no public address. */
  localUrl: z.string(),
  /** The webhook-only listener, where a tunnel has to lead. Always on with a public address. null: off. */
  ingressPort: z.number().int().nullable(),
  /** Why the webhook-only listener could not be opened, and what to do. Left out: it is open, or off. */
  ingressProblem: Message.optional(),
  /** Of the last probe that was sent out and came in again, or did not. */
  check: z.object({
    /** exposed: more than webhooks answers at the address. */
    state: z.enum(['unknown', 'checking', 'reachable', 'unreachable', 'exposed']),
    checkedAt: Moment.nullable(),
    /** What went wrong and what to do. null when reachable. */
    problem: Message.nullable(),
  }),
  /** The programs that were looked for, and where they are. */
  programs: z.array(z.object({ program: TunnelProgram, installed: z.boolean(), path: z.string().nullable() })),
  /** The one that was started here last. */
  tunnel: Tunnel.nullable(),
})
export type PublicAddress = z.infer<typeof PublicAddress>

export const UpdatePublicAddress = z
  .object({
    /** `https://hooks.example.com`, without a path to a webhook. null removes it. */
    url: z.string().trim().min(1).max(2000).nullable(),
    /** null turns the webhook-only listener off; refused while there is a public address. */
    ingressPort: z.number().int().min(1).max(65_535).nullable(),
  })
  .partial()
export type UpdatePublicAddress = z.infer<typeof UpdatePublicAddress>
