import { z } from 'zod'
import { Message } from './messages.ts'
import { ModelRef } from './agents.ts'
import { Moment, Name, Usd } from './primitives.ts'

export const ProviderKind = z.enum(['anthropic', 'openai', 'google', 'openai-compatible', 'ollama', 'demo'])
export type ProviderKind = z.infer<typeof ProviderKind>

/** http or https only, without a user name in it: keys belong into the vault. */
export const BaseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((url) => !/^https?:\/\/[^/]*@/.test(url), 'The address must not hold a user name or password.')

export const Provider = z.object({
  id: z.string(),
  kind: ProviderKind,
  name: z.string(),
  baseUrl: z.string().nullable(),
  /** Whether a key is in the vault. The key itself never comes back. */
  hasKey: z.boolean(),
  /** `found`: a server discovered on this machine; it disappears when the server does. */
  origin: z.enum(['built_in', 'user', 'found']),
  createdAt: Moment,
})
export type Provider = z.infer<typeof Provider>

export const CreateProvider = z
  .object({
    kind: ProviderKind.exclude(['demo']),
    name: Name,
    baseUrl: BaseUrl.optional(),
    apiKey: z.string().trim().min(1).max(8192).optional(),
  })
  .refine((p) => p.kind !== 'openai-compatible' || p.baseUrl !== undefined, {
    path: ['baseUrl'],
    message: 'An OpenAI-compatible provider needs its base URL, for example http://127.0.0.1:8080/v1.',
  })
export type CreateProvider = z.infer<typeof CreateProvider>

export const UpdateProvider = z.object({
  name: Name.optional(),
  baseUrl: BaseUrl.nullable().optional(),
  /** null removes the key from the vault. */
  apiKey: z.string().trim().min(1).max(8192).nullable().optional(),
})
export type UpdateProvider = z.infer<typeof UpdateProvider>

/** Dollars per million tokens. */
const PriceUsd = Usd.min(0).max(1_000_000)

export const Price = z.object({
  inputUsdPerMillion: PriceUsd,
  outputUsdPerMillion: PriceUsd,
  cachedInputUsdPerMillion: PriceUsd.optional(),
})
export type Price = z.infer<typeof Price>

export const Model = z.object({
  providerId: z.string(),
  providerName: z.string(),
  providerKind: ProviderKind,
  model: z.string(),
  /** What to show: the provider's display name where it gives one, else the id. */
  label: z.string(),
  contextTokens: z.number().int().nullable(),
  /** null: no known price. Its jobs are shown as unpriced, never as $0. Local and demo models cost nothing. */
  price: Price.nullable(),
  priceOrigin: z.enum(['package', 'user', 'free', 'unknown']),
})
export type Model = z.infer<typeof Model>

/** Models whose price nobody knows: no limit in money holds their calls. Left out: there are none. */
export const UnpricedModels = z.array(ModelRef).optional()

/** A provider that could not be asked: its models are missing from the list, and this says why. */
export const ModelListProblem = z.object({ providerId: z.string(), providerName: z.string(), message: Message })
export type ModelListProblem = z.infer<typeof ModelListProblem>

export const ModelList = z.object({
  models: z.array(Model),
  problems: z.array(ModelListProblem),
  /** The model that an agent without one of its own uses. null until a model was chosen. */
  defaultModel: ModelRef.nullable(),
})
export type ModelList = z.infer<typeof ModelList>

/** A server on this machine that speaks a protocol we know, offered before it is added. */
export const FoundServer = z.object({
  kind: z.enum(['ollama', 'openai-compatible']),
  name: z.string(),
  baseUrl: z.string(),
  models: z.array(z.string()),
})
export type FoundServer = z.infer<typeof FoundServer>
