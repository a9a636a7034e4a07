import { z } from 'zod'
import { Message } from './messages.ts'
import { Id, Moment } from './primitives.ts'

/** Of one skill, and of the archive that it comes in. */
export const SKILL_LIMITS = { packedBytes: 20_000_000, bytes: 100_000_000, files: 2_000, entries: 20_000 }

/** `sha256:` and hexadecimal digits: of all paths and contents. */
export const SkillDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

/** A folder, a zip or tar.gz file, or an https address of an archive or of a repository at GitHub or GitLab. `#folder` names a skill in it. */
export const SkillSource = z.string().trim().min(1).max(2_000)

/**
 * `scripts`: has programs to run. `tool:<name>`: asks for this tool. `host:<name>`: its text or a script names this host. They give
 * nothing by themselves: each call is judged like any other.
 */
export const SkillPermission = z.string()

/**
 * needs_consent: an update added permissions, so agents do not get it until the person allows them. changed: its files are not those that
 * were installed, so it is blocked.
 */
export const SkillStatus = z.enum(['ready', 'needs_consent', 'changed'])
export type SkillStatus = z.infer<typeof SkillStatus>

export const SkillFile = z.object({ path: z.string(), bytes: z.number().int(), isScript: z.boolean() })
export type SkillFile = z.infer<typeof SkillFile>

/** What its front matter says. */
export const SkillHead = z.object({
  name: z.string(),
  description: z.string(),
  license: z.string().nullable(),
  compatibility: z.string().nullable(),
  author: z.string().nullable(),
  version: z.string().nullable(),
  /** As the author wrote them. */
  allowedTools: z.array(z.string()),
})
export type SkillHead = z.infer<typeof SkillHead>

export const SkillFindingKind = z.enum([
  'hidden_text',
  'invisible_characters',
  'encoded_blob',
  'download_and_run',
  'asks_for_secrets',
  'takes_authority',
  'native_program',
])
export type SkillFindingKind = z.infer<typeof SkillFindingKind>

/** Something that a person should read before they install it. */
export const SkillFinding = z.object({
  kind: SkillFindingKind,
  path: z.string(),
  /** From 1. null: the whole file. */
  line: z.number().int().nullable(),
  /** With invisible characters as their numbers. */
  excerpt: z.string(),
})
export type SkillFinding = z.infer<typeof SkillFinding>

export const SkillContents = SkillHead.extend({
  digest: SkillDigest,
  files: z.array(SkillFile),
  totalBytes: z.number().int(),
  permissions: z.array(SkillPermission),
  hosts: z.array(z.string()),
  programs: z.array(z.string()),
  findings: z.array(SkillFinding),
  /** There were more. */
  findingsCut: z.boolean(),
})
export type SkillContents = z.infer<typeof SkillContents>

export const Skill = z.object({
  id: Id,
  entityId: Id,
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  source: z.string(),
  version: z.string().nullable(),
  digest: SkillDigest,
  status: SkillStatus,
  contents: SkillContents,
  /** Those that an update added and nobody allowed. */
  newPermissions: z.array(SkillPermission),
  /** Its source has another version that nobody has acknowledged. */
  hasUpdate: z.boolean(),
  /** null: never looked for. */
  checkedAt: Moment.nullable(),
  checkProblem: Message.nullable(),
  installedAt: Moment,
  updatedAt: Moment,
  agents: z.array(z.object({ agentId: Id, agentName: z.string() })),
})
export type Skill = z.infer<typeof Skill>

export const SkillPreview = z.object({
  source: z.string(),
  contents: SkillContents,
  /** `SKILL.md`, with invisible characters as their numbers. */
  text: z.string(),
  /** A skill of this name is installed. */
  installedSkillId: Id.nullable(),
})
export type SkillPreview = z.infer<typeof SkillPreview>

export const SkillFileChange = z.object({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted']),
  /** Unified. Empty for files that are not text. */
  diff: z.string(),
})

export const SkillUpdatePreview = z.object({
  ok: z.literal(true),
  changed: z.boolean(),
  files: z.array(SkillFileChange),
  permissionsAdded: z.array(SkillPermission),
  currentDigest: SkillDigest,
  upstreamDigest: SkillDigest,
})
export type SkillUpdatePreview = z.infer<typeof SkillUpdatePreview>

export const SkillUpdated = z.object({
  ok: z.literal(true),
  changed: z.boolean(),
  scriptsChanged: z.boolean(),
  /** It added permissions: agents do not get it until the person allows them. */
  consentRevoked: z.boolean(),
})
export type SkillUpdated = z.infer<typeof SkillUpdated>
