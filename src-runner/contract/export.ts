import { z } from 'zod'
import { AgentBudgets, Autonomy, Folder, Limits, MAX_AVATAR_CHARS } from './agents.ts'
import { Conversation, Message as ChatMessage } from './conversations.ts'
import { Job, Step } from './jobs.ts'
import { NotificationSettings } from './notifications.ts'
import { Moment, Name } from './primitives.ts'
import { ProviderKind } from './providers.ts'
import { CredentialKind } from './connectors.ts'
import { CredentialAccess, MAX_SCOPE_CHARS, MAX_SCOPES } from './credentials.ts'
import { CreateRule } from './rules.ts'
import { CreateSchedule } from './schedules.ts'
import { Settings } from './settings.ts'
import { SKILL_LIMITS, SkillDigest, SkillKind } from './skills.ts'
import { CreateTrigger, SignatureScheme } from './triggers.ts'

/** The first line of an export file is an ExportHead as JSON, each line after it a HistoryLine. */
export const EXPORT_VERSION = 1

/** The limit of all own skills together, in Base64. */
export const MAX_EXPORTED_SKILL_CHARS = 8_000_000

/** The limit of all own skills together, unpacked. A small archive can become very large. */
export const MAX_EXPORTED_SKILL_BYTES = SKILL_LIMITS.bytes

/** The limit of the first line. More would not be accepted. */
export const MAX_HEAD_CHARS = MAX_EXPORTED_SKILL_CHARS + 2_000_000

/** A model by the name of its provider, whose key and address are not exported. */
const NamedModel = z.strictObject({
  provider: z.strictObject({ kind: ProviderKind, name: z.string().max(200) }),
  model: z.string().min(1).max(200),
})

/** A place in the list of agents. */
const AgentRef = z.number().int().min(0)

/** What a person set up, without ids, secrets and history. Others refer to agents by their place in the list. */
export const Setup = z.strictObject({
  agents: z
    .array(
      z.strictObject({
        name: Name,
        avatar: z.string().max(MAX_AVATAR_CHARS).nullable(),
        instructions: z.string().max(100_000),
        model: NamedModel.nullable(),
        fallbacks: z.array(NamedModel).max(5),
        autonomy: Autonomy,
        folders: z.array(Folder).max(50),
        limits: Limits,
        budgets: AgentBudgets,
      }),
    )
    .max(500),
  triggers: z
    .array(
      z.strictObject({
        ...CreateTrigger.omit({ agentId: true, signature: true }).required().shape,
        agent: AgentRef.nullable(),
        /** Without its secret, so a new webhook has to replace this one. */
        signature: SignatureScheme.nullable(),
      }),
    )
    .max(500),
  schedules: z.array(z.strictObject({ ...CreateSchedule.omit({ agentId: true }).required().shape, agent: AgentRef })).max(500),
  rules: z.array(z.strictObject({ ...CreateRule.omit({ agentId: true }).shape, agent: AgentRef.nullable() })).max(5000),
  memories: z
    .array(z.strictObject({ agent: AgentRef.nullable(), text: z.string().min(1).max(20_000), untrusted: z.boolean() }))
    .max(20_000),
  /** Without what signs in, so each has to be signed in again. */
  connections: z
    .array(
      z.strictObject({
        connector: z.string().max(60),
        kind: CredentialKind,
        name: Name,
        hosts: z
          .array(
            z
              .string()
              .max(300)
              .regex(/^[a-z0-9._:[\]-]+$/),
          )
          .max(20),
        scopes: z.array(z.string().max(MAX_SCOPE_CHARS)).max(MAX_SCOPES),
        agents: z.array(z.strictObject({ agent: AgentRef, access: CredentialAccess })).max(200),
      }),
    )
    .max(200)
    // Files of older versions have none.
    .default([]),
  /** Each is installed by the person, after a look at it. */
  skills: z
    .array(
      z.strictObject({
        name: z.string().max(64),
        description: z.string().min(1).max(4_000),
        kind: SkillKind,
        /** As in `Skill`. */
        source: z.string().max(2_000),
        digest: SkillDigest,
        /** The files of a skill of the kind `own`, as a zip in Base64. null: they did not fit, or were changed after they were saved. */
        archive: z.string().max(MAX_EXPORTED_SKILL_CHARS).nullable(),
        agents: z.array(AgentRef).max(200),
      }),
    )
    .max(500)
    // Files of older versions have none.
    .default([]),
  settings: z.strictObject({
    concurrency: Settings.shape.concurrency,
    dayBudgetUsd: Settings.shape.dayBudgetUsd,
    notifications: NotificationSettings,
  }),
})
export type Setup = z.infer<typeof Setup>

export const ExportHead = z.object({ deckhand: z.literal('export'), version: z.number().int(), at: Moment, setup: z.unknown() })

export const HistoryLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('conversation'), conversation: Conversation, messages: z.array(ChatMessage) }),
  z.object({ kind: z.literal('job'), job: Job, steps: z.array(Step) }),
])
export type HistoryLine = z.infer<typeof HistoryLine>

/** What an import makes, or would make. */
export const ImportResult = z.object({
  agents: z.array(z.string()),
  /** Those of them that work without asking. */
  autonomousAgents: z.array(z.string()),
  /** What they can reach, each folder once. */
  folders: z.array(z.string()),
  /** Folders of the agents that are not on this computer. The agents are made without them. */
  foldersLeftOut: z.array(z.string()),
  /** Paused. */
  triggers: z.array(z.string()),
  /** Those of them that check signatures. Their signing secrets are not in the file, so they cannot be resumed. */
  signedTriggers: z.array(z.string()),
  /** Paused. */
  schedules: z.array(z.string()),
  /** Each has to be signed in again. */
  connections: z.array(z.string()),
  /** Where they send what signs in, each host once. */
  connectionHosts: z.array(z.string()),
  /** Each has to be looked at and installed. */
  skills: z.array(z.string()),
  rules: z.number().int(),
  /** The rules that permit something without a question. */
  allowRules: z.number().int(),
  memories: z.number().int(),
  /** Only where there was no agent before. */
  settings: z.boolean(),
  /** Rules for everyone that are not made, because they could permit more to the agents that are there. */
  rulesLeftOut: z.number().int(),
  /** Agents whose model is not known here. They use the default model. */
  modelsUnknown: z.number().int(),
})
export type ImportResult = z.infer<typeof ImportResult>

/** The largest body of `POST /api/import/history`. One job may have many long steps. */
export const MAX_HISTORY_BYTES = 32_000_000

/** What was added. `known`: lines that were here already, or belong to a conversation with an agent that is in use here. */
export const HistoryImport = z.object({ conversations: z.number().int(), jobs: z.number().int(), known: z.number().int() })
export type HistoryImport = z.infer<typeof HistoryImport>
