import { z } from 'zod'
import { LocalText } from './connectors.ts'
import { Message } from './messages.ts'
import { Id, Moment } from './primitives.ts'

/** The limits of one skill, and of the archive that it comes in. */
export const SKILL_LIMITS = { packedBytes: 20_000_000, bytes: 100_000_000, files: 2_000, entries: 20_000 }

/** Kept by systems and tools beside the files of a skill, and no part of it. Names without case. */
export const NO_SKILL_FILES = ['.git', '.ds_store', 'thumbs.db', 'desktop.ini', '__macosx', 'node_modules', '__pycache__']

/** `sha256:` and hexadecimal digits: of all paths and contents. */
export const SkillDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

/** A folder, a zip or tar.gz file, or an https address of an archive or of a repository. `#folder` names a skill in it. */
export const SkillSource = z.string().trim().min(1).max(2_000)

/** The largest body of a route that takes files: a whole archive in Base64. */
export const MAX_SKILL_BODY_BYTES = Math.ceil(SKILL_LIMITS.packedBytes / 3) * 4 + 100_000

/** A zip or tar.gz file that a person chose or dropped on the window. `folder` names a skill in it. */
export const SkillUpload = z.object({
  fileName: z.string().trim().min(1).max(255),
  base64: z.string().max(MAX_SKILL_BODY_BYTES),
  folder: z.string().max(1_000).optional(),
})
export type SkillUpload = z.infer<typeof SkillUpload>

/** Where a skill is read from: exactly one of the two. */
export const SkillOrigin = z.object({ source: SkillSource, upload: SkillUpload }).partial()
export type SkillOrigin = z.infer<typeof SkillOrigin>

/**
 * `scripts`: has programs to run. `tool:<name>`: asks for this tool. `host:<name>`: its text or a script names this host. They give
 * nothing by themselves: each call is judged like any other.
 */
export const SkillPermission = z.string()

/**
 * needs_consent: an update added permissions, so agents do not get it until the person allows them. changed: its files are not those that
 * were installed, so it is blocked. missing: it is blocked because they are gone. imported: it came with an import and waits for the
 * person to look at it and install it.
 */
export const SkillStatus = z.enum(['ready', 'needs_consent', 'changed', 'missing', 'imported'])
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

/** source: updates are looked for there. file: a file that was dropped on the window. own: written in Deckhand. */
export const SkillKind = z.enum(['source', 'file', 'own'])
export type SkillKind = z.infer<typeof SkillKind>

export const Skill = z.object({
  id: Id,
  entityId: Id,
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  kind: SkillKind,
  /** For the kind `file` the name of the file, for the kind `own` empty. */
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
  /** What its name and description cost in each turn of an agent that has it, about. */
  tokens: z.number().int(),
})
export type Skill = z.infer<typeof Skill>

export const SkillPreview = z.object({
  /** For an upload the name of the file. */
  source: z.string(),
  contents: SkillContents,
  /** `SKILL.md`, with invisible characters as their numbers. */
  text: z.string(),
  /** The other files that are text, scripts first, in the same way. Those after the first megabyte are left out. */
  texts: z.array(z.object({ path: z.string(), text: z.string() })),
  /** A skill of this name is installed. */
  installedSkillId: Id.nullable(),
})
export type SkillPreview = z.infer<typeof SkillPreview>

export const SkillFileChange = z.object({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted']),
  /** Unified. Empty for files that are not text or larger than a megabyte. */
  diff: z.string(),
})

export const SkillUpdatePreview = z.object({
  ok: z.literal(true),
  changed: z.boolean(),
  files: z.array(SkillFileChange),
  permissionsAdded: z.array(SkillPermission),
  /** Findings of the new version that the installed one does not have. */
  newFindings: SkillContents.pick({ findings: true, findingsCut: true }),
  /** How many there are in the new version, old ones included. */
  findingCount: z.number().int(),
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

/** A file of a skill in the editor. `text` null: it is not text, and is kept as it is. */
export const SkillEditFile = z.object({ path: z.string(), text: z.string().nullable(), bytes: z.number().int() })
export type SkillEditFile = z.infer<typeof SkillEditFile>

/** A file to save. With neither `text` nor `base64`, it is the file `from` of the version that is edited, by default that of this path. */
export const SkillFileInput = z.object({
  path: z.string().min(1).max(400),
  from: z.string().max(400).optional(),
  text: z.string().max(1_000_000).optional(),
  base64: z.string().max(MAX_SKILL_BODY_BYTES).optional(),
})
export type SkillFileInput = z.infer<typeof SkillFileInput>

export const SkillFileInputs = z.array(SkillFileInput).max(SKILL_LIMITS.files)

/** What the files would be as a skill. null with a problem: they cannot be saved like this. */
export const SkillCheck = z.object({ contents: SkillContents.nullable(), problem: Message.nullable() })
export type SkillCheck = z.infer<typeof SkillCheck>

/**
 * A skill that an agent writes from a finished job. writing: its job has not ended. failed: its job ended without one. `files` may
 * still have problems, which the check names.
 */
export const SkillDraft = z.object({
  /** The job that writes it. */
  jobId: Id,
  fromJobId: Id,
  agentId: Id,
  status: z.enum(['writing', 'ready', 'failed']),
  files: z.array(SkillEditFile),
  check: SkillCheck.nullable(),
  /** The job that it was made of had read untrusted text, so words of strangers may be in it. */
  isUntrusted: z.boolean(),
})
export type SkillDraft = z.infer<typeof SkillDraft>

/** A skill in a source that was looked through. */
export const FoundSkill = z.object({
  /** Empty: at the top. */
  folder: z.string(),
  /** To preview and install it. null: it is in an upload, so send that again with `folder`. */
  source: z.string().nullable(),
  /** The name of its folder, if its front matter cannot be read. */
  name: z.string(),
  description: z.string(),
  /** Why it cannot be installed, as far as its `SKILL.md` tells. */
  problem: Message.nullable(),
  /** A skill of this name is installed. */
  installedSkillId: Id.nullable(),
})
export type FoundSkill = z.infer<typeof FoundSkill>

/** A well-known repository of skills. It can be looked through like every other source. */
export const SkillCatalogue = z.object({
  slug: z.string(),
  name: z.string(),
  publisher: z.string(),
  description: LocalText,
  source: SkillSource,
  /** For a browser. */
  url: z.string(),
})
export type SkillCatalogue = z.infer<typeof SkillCatalogue>
