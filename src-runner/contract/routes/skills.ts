import { z } from 'zod'
import { Id, NextCursor, ShortListQuery } from '../primitives.ts'
import {
  FoundSkill,
  MAX_SKILL_BODY_BYTES,
  Skill,
  SkillCatalogue,
  SkillCheck,
  SkillDigest,
  SkillDraft,
  SkillEditFile,
  SkillFileInputs,
  SkillOrigin,
  SkillPreview,
  SkillSource,
  SkillUpdated,
  SkillUpdatePreview,
  SkillUpload,
} from '../skills.ts'
import { del, get, jobParams, Nothing, patch, post } from './route.ts'

const skillParams = z.object({ skillId: Id })
/** Any text: one that names no skill gets the same error as a skill that is not installed. */
const bySlug = z.object({ slug: z.string().max(2_000) })

const Agents = z.array(z.object({ agentId: Id })).max(200)

const withUpload = z.object({ upload: SkillUpload }).partial()

/** What other programs learn of an installed skill. */
const InstalledSkill = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  source: z.string(),
  version: z.string().nullable(),
  digest: SkillDigest,
  files: z.array(z.string()),
  scripts: z.array(z.string()),
  permissions: z.array(z.string()),
})

const FOR_PROGRAMS = { access: 'worker', reach: 'machine' } as const
const FOR_OWNERS = { ownerOnly: true, reach: 'machine' } as const
const WITH_FILES = { ...FOR_OWNERS, maxBodyBytes: MAX_SKILL_BODY_BYTES } as const

export const skillRoutes = {
  installSkillBySource: post('/api/skills/install', {
    ...FOR_PROGRAMS,
    summary: 'Install a community skill. No agent gets it until it is selected.',
    body: z.object({ source: SkillSource, entityId: Id.optional() }),
    answer: z.object({ ok: z.literal(true), skill: InstalledSkill }),
    errors: ['install_failed'],
  }),
  uninstallSkillBySlug: post('/api/skills/uninstall', {
    ...FOR_PROGRAMS,
    summary: 'Uninstall a community skill.',
    body: bySlug,
    answer: Nothing,
    errors: ['uninstall_failed'],
  }),
  updateSkillBySlug: post('/api/skills/update', {
    ...FOR_PROGRAMS,
    summary:
      'Pull the latest version of an installed community skill. After `consentRevoked`, agents do not get it until a person allows it.',
    // Any text: one that is no digest gets the same error as that of another version.
    body: bySlug.extend({ expectedDigest: z.string().max(200).optional() }),
    answer: SkillUpdated,
    errors: ['update_failed'],
  }),
  previewUpdateBySlug: post('/api/skills/preview-update', {
    ...FOR_PROGRAMS,
    summary: 'Show what an update would change, without applying it.',
    body: bySlug,
    answer: SkillUpdatePreview,
    errors: ['preview_failed'],
  }),
  acknowledgeUpdateBySlug: post('/api/skills/acknowledge-update', {
    ...FOR_PROGRAMS,
    summary: 'Mark an available update as seen.',
    body: bySlug,
    answer: Nothing,
    errors: ['acknowledge_failed'],
  }),
  listSkills: get('/api/skills', {
    reach: 'workspace',
    summary: 'The installed skills, by name.',
    query: ShortListQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ skills: z.array(Skill), nextCursor: NextCursor }),
    shows: ['skills'],
  }),
  getSkill: get('/api/skills/:skillId', {
    reach: 'workspace',
    summary: 'One installed skill with its text. `text` null: its files are not those that were installed.',
    params: skillParams,
    answer: z.object({ skill: Skill, text: z.string().nullable() }),
    errors: ['skill_not_found'],
    shows: ['skills'],
  }),
  previewSkill: post('/api/skills/preview', {
    ...WITH_FILES,
    summary: 'Read a skill from its source or from a file and show what is in it. Nothing is written and nothing runs.',
    body: SkillOrigin,
    answer: z.object({ preview: SkillPreview }),
    errors: ['preview_failed'],
  }),
  installSkill: post('/api/skills', {
    ...WITH_FILES,
    summary: 'Install exactly the version that was previewed.',
    body: SkillOrigin.extend({ expectedDigest: SkillDigest, entityId: Id.optional(), agents: Agents.optional() }),
    status: 201,
    answer: z.object({ skill: Skill }),
    errors: ['install_failed'],
  }),
  updateSkillSettings: patch('/api/skills/:skillId', {
    ...FOR_OWNERS,
    summary: 'Give a skill to an agent or take it away, or allow what the version with this digest asks for.',
    params: skillParams,
    body: z.object({ agent: z.object({ agentId: Id, has: z.boolean() }), allowedDigest: SkillDigest }).partial(),
    answer: z.object({ skill: Skill }),
    errors: ['skill_not_found', 'agent_not_found', 'skill_has_changed'],
  }),
  deleteSkill: del('/api/skills/:skillId', {
    ...FOR_OWNERS,
    summary: 'Remove a skill with its files.',
    params: skillParams,
    answer: Nothing,
    errors: ['skill_not_found', 'uninstall_failed'],
  }),
  previewSkillUpdate: post('/api/skills/:skillId/preview-update', {
    ...WITH_FILES,
    summary: 'Show what an update would change, without applying it. `upload`: a newer version of a skill that came from a file.',
    params: skillParams,
    body: withUpload.optional(),
    answer: SkillUpdatePreview,
    errors: ['skill_not_found', 'preview_failed'],
  }),
  updateSkill: post('/api/skills/:skillId/update', {
    ...WITH_FILES,
    summary: 'Install exactly the version that was previewed. `allowsPermissions`: the person has seen what it newly asks for.',
    params: skillParams,
    body: withUpload.extend({ expectedDigest: SkillDigest, allowsPermissions: z.boolean().default(false) }),
    answer: SkillUpdated,
    errors: ['skill_not_found', 'update_failed'],
  }),
  acknowledgeSkillUpdate: post('/api/skills/:skillId/acknowledge-update', {
    ...FOR_OWNERS,
    summary: 'Hide an available update until there is another one.',
    params: skillParams,
    answer: Nothing,
    errors: ['skill_not_found', 'acknowledge_failed'],
  }),
  browseSkills: post('/api/skills/browse', {
    ...WITH_FILES,
    summary: 'List the skills in a source or a file by name and description. Nothing is written.',
    body: SkillOrigin,
    answer: z.object({ skills: z.array(FoundSkill) }),
    errors: ['preview_failed'],
  }),
  listSkillCatalogues: get('/api/skill-catalogues', {
    reach: 'neutral',
    summary: 'Well-known repositories of skills.',
    answer: z.object({ catalogues: z.array(SkillCatalogue) }),
  }),
  checkSkill: post('/api/skills/check', {
    ...WITH_FILES,
    summary: 'Say what these files would be as a skill. Nothing is written. `skillId`: the own skill that is edited.',
    body: z.object({ files: SkillFileInputs, skillId: Id.optional() }),
    answer: SkillCheck,
    errors: ['skill_not_found'],
  }),
  createSkill: post('/api/skills/own', {
    ...WITH_FILES,
    summary: 'Write an own skill.',
    body: z.object({ files: SkillFileInputs, entityId: Id.optional(), agents: Agents.optional() }),
    status: 201,
    answer: z.object({ skill: Skill }),
    errors: ['skill_refused'],
  }),
  readSkillFiles: get('/api/skills/:skillId/files', {
    reach: 'machine',
    summary:
      'The files of a skill as they are now. `isChanged`: they are not those that were saved or installed. `digest`: what saving takes as `expectedDigest`.',
    params: skillParams,
    answer: z.object({ files: z.array(SkillEditFile), digest: SkillDigest, isChanged: z.boolean() }),
    errors: ['skill_not_found', 'skill_refused'],
    shows: ['skills'],
  }),
  saveSkill: post('/api/skills/:skillId/files', {
    ...WITH_FILES,
    summary: 'Save an own skill. What is not named is deleted. `expectedDigest`: the version that was opened.',
    params: skillParams,
    body: z.object({ files: SkillFileInputs, expectedDigest: SkillDigest }),
    answer: z.object({ skill: Skill }),
    errors: ['skill_not_found', 'skill_not_own', 'skill_has_changed', 'skill_refused'],
  }),
  exportSkill: get('/api/skills/:skillId/export', {
    ...FOR_OWNERS,
    summary: 'A skill as a zip file with one folder. Refused when its files are not those that were saved or installed.',
    params: skillParams,
    answer: z.object({ fileName: z.string(), base64: z.string() }),
    errors: ['skill_not_found', 'skill_refused'],
  }),
  draftSkill: post('/api/jobs/:jobId/skill-draft', {
    reach: 'workspace',
    summary: 'Let the agent of a finished job write a skill from it: a new job, whose draft a person edits and saves.',
    params: jobParams,
    status: 202,
    answer: z.object({ jobId: Id, status: z.literal('pending') }),
    errors: ['job_not_found', 'job_not_finished', 'agent_not_found', 'agent_has_no_model', 'job_creation_failed'],
  }),
  getSkillDraft: get('/api/jobs/:jobId/skill-draft', {
    reach: 'workspace',
    summary: 'The draft of the job that `POST` to this path started.',
    params: jobParams,
    answer: z.object({ draft: SkillDraft }),
    errors: ['job_not_found', 'skill_draft_not_found'],
    shows: ['job'],
  }),
}
