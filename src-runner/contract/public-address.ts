import { z } from 'zod'
import { Moment } from './primitives.ts'
import { Message } from './messages.ts'

/** Programs that make a port reachable from the internet. The person installs them. */
export const TunnelProgram = z.enum(['cloudflared', 'ngrok', 'tailscale'])
export type TunnelProgram = z.infer<typeof TunnelProgram>

export const Tunnel = z.object({
  program: TunnelProgram,
  state: z.enum(['starting', 'running', 'stopped', 'failed']),
  /** null until the program reports it. */
  url: z.string().nullable(),
  /** Why it failed, and what to do. */
  problem: Message.nullable(),
  startedAt: Moment.nullable(),
})
export type Tunnel = z.infer<typeof Tunnel>

/** The first port that the webhook listener tries. */
export const FIRST_INGRESS_PORT = 3002

/** How webhooks of this machine are reached from outside. */
export const PublicAddress = z.object({
  /** The base of webhook addresses. null: there is none, so services on the internet cannot reach them. */
  url: z.string().nullable(),
  /** `environment` (PUBLIC_RUNNER_URL) cannot be changed in the app. */
  source: z.enum(['none', 'setting', 'environment', 'tunnel']),
  /** For programs on this machine: the webhook port, or the runner's without a public address. */
  localUrl: z.string(),
  /** The webhook port, to which a tunnel must lead. Always open with a public address. null: off. */
  ingressPort: z.number().int().nullable(),
  /** Why the webhook port could not be opened, and what to do. */
  ingressProblem: Message.optional(),
  /** The result of the last probe through the public address. */
  check: z.object({
    /** exposed: more than webhooks can be reached at the address. */
    state: z.enum(['unknown', 'checking', 'reachable', 'unreachable', 'exposed']),
    checkedAt: Moment.nullable(),
    /** What went wrong, and what to do. */
    problem: Message.nullable(),
  }),
  programs: z.array(z.object({ program: TunnelProgram, installed: z.boolean(), path: z.string().nullable() })),
  /** The last one that was started. */
  tunnel: Tunnel.nullable(),
})
export type PublicAddress = z.infer<typeof PublicAddress>
/** Without the programs, for which every folder of PATH is searched. */
export type PublicAddressState = Omit<PublicAddress, 'programs'>

export const UpdatePublicAddress = z
  .object({
    /** `https://hooks.example.com`, without a path to a webhook. null removes it. */
    url: z.string().trim().min(1).max(2000).nullable(),
    /** null closes the webhook port, which is refused while there is a public address. */
    ingressPort: z.number().int().min(1).max(65_535).nullable(),
  })
  .partial()
export type UpdatePublicAddress = z.infer<typeof UpdatePublicAddress>
