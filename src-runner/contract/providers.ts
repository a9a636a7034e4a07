import { z } from 'zod'
import { Message } from './messages.ts'
import { ModelRef } from './agents.ts'
import { Moment, Name, Usd } from './primitives.ts'

export const ProviderKind = z.enum(['anthropic', 'openai', 'google', 'openai-compatible', 'ollama', 'demo'])
export type ProviderKind = z.infer<typeof ProviderKind>

/** Without a user name or password, because secrets belong in the vault. */
export const BaseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((url) => !/^https?:[/\\]*[^/\\?#]*@/i.test(url), 'The address must not hold a user name or password.')

export const Provider = z.object({
  id: z.string(),
  kind: ProviderKind,
  name: z.string(),
  baseUrl: z.string().nullable(),
  /** Whether a key is in the vault. The key is never returned. */
  hasKey: z.boolean(),
  /** `found`: a server that was discovered on this machine. */
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
  /** The provider's display name of the model, or its id. */
  label: z.string(),
  contextTokens: z.number().int().nullable(),
  /** null: no known price, so its jobs are shown as unpriced. Local and demo models cost 0. */
  price: Price.nullable(),
  priceOrigin: z.enum(['package', 'user', 'free', 'unknown']),
})
export type Model = z.infer<typeof Model>

/** Models without a known price, which no spending limit holds. */
export const UnpricedModels = z.array(ModelRef).optional()

/** Why the models of a provider are missing from the list. */
export const ModelListProblem = z.object({ providerId: z.string(), providerName: z.string(), message: Message })
export type ModelListProblem = z.infer<typeof ModelListProblem>

export const ModelList = z.object({
  models: z.array(Model),
  problems: z.array(ModelListProblem),
  /** For agents without a model of their own. */
  defaultModel: ModelRef.nullable(),
})
export type ModelList = z.infer<typeof ModelList>

/** A model server on this machine that can be added. */
export const FoundServer = z.object({
  kind: z.enum(['ollama', 'openai-compatible']),
  name: z.string(),
  baseUrl: z.string(),
  models: z.array(z.string()),
})
export type FoundServer = z.infer<typeof FoundServer>
