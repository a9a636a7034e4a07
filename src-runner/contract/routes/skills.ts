import { z } from 'zod'
import { Id } from '../primitives.ts'
import { Skill, SkillDigest, SkillPreview, SkillSource, SkillUpdated, SkillUpdatePreview } from '../skills.ts'
import { del, get, Nothing, patch, post } from './route.ts'

const skillParams = z.object({ skillId: Id })
/** Any text: one that names no skill gets the same error as a skill that is not installed. */
const bySlug = z.object({ slug: z.string().max(2_000) })

const Agents = z.array(z.object({ agentId: Id })).max(200)

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

export const skillRoutes = {
  installSkillBySource: post('/api/skills/install', {
    access: 'worker',
    reach: 'machine',
    summary: 'Install a community skill. No agent gets it until it is selected.',
    body: z.object({ source: SkillSource, entityId: Id.optional() }),
    answer: z.object({ ok: z.literal(true), skill: InstalledSkill }),
    errors: ['install_failed'],
  }),
  uninstallSkillBySlug: post('/api/skills/uninstall', {
    access: 'worker',
    reach: 'machine',
    summary: 'Uninstall a community skill.',
    body: bySlug,
    answer: Nothing,
    errors: ['uninstall_failed'],
  }),
  updateSkillBySlug: post('/api/skills/update', {
    access: 'worker',
    reach: 'machine',
    summary:
      'Pull the latest version of an installed community skill. After `consentRevoked`, agents do not get it until a person allows it.',
    body: bySlug.extend({ expectedDigest: SkillDigest.optional() }),
    answer: SkillUpdated,
    errors: ['update_failed'],
  }),
  previewUpdateBySlug: post('/api/skills/preview-update', {
    access: 'worker',
    reach: 'machine',
    summary: 'Show what an update would change, without applying it.',
    body: bySlug,
    answer: SkillUpdatePreview,
    errors: ['preview_failed'],
  }),
  acknowledgeUpdateBySlug: post('/api/skills/acknowledge-update', {
    access: 'worker',
    reach: 'machine',
    summary: 'Mark an available update as seen.',
    body: bySlug,
    answer: Nothing,
    errors: ['acknowledge_failed'],
  }),
  listSkills: get('/api/skills', {
    reach: 'workspace',
    summary: 'The installed skills, by name.',
    query: z.object({ agentId: Id.optional() }),
    answer: z.object({ skills: z.array(Skill) }),
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
    ownerOnly: true,
    reach: 'machine',
    summary: 'Read a skill from its source and show what is in it. Nothing is written and nothing runs.',
    body: z.object({ source: SkillSource }),
    answer: z.object({ preview: SkillPreview }),
    errors: ['preview_failed'],
  }),
  installSkill: post('/api/skills', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Install exactly the version that was previewed.',
    body: z.object({
      source: SkillSource,
      expectedDigest: SkillDigest,
      entityId: Id.optional(),
      agents: Agents.optional(),
    }),
    status: 201,
    answer: z.object({ skill: Skill }),
    errors: ['install_failed'],
  }),
  updateSkillSettings: patch('/api/skills/:skillId', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Say which agents get a skill, or allow what the version with this digest asks for.',
    params: skillParams,
    body: z.object({ agents: Agents, allowedDigest: SkillDigest }).partial(),
    answer: z.object({ skill: Skill }),
    errors: ['skill_not_found', 'agent_not_found', 'skill_has_changed'],
  }),
  deleteSkill: del('/api/skills/:skillId', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Remove a skill with its files.',
    params: skillParams,
    answer: Nothing,
    errors: ['skill_not_found', 'uninstall_failed'],
  }),
  previewSkillUpdate: post('/api/skills/:skillId/preview-update', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Show what an update would change, without applying it.',
    params: skillParams,
    answer: SkillUpdatePreview,
    errors: ['skill_not_found', 'preview_failed'],
  }),
  updateSkill: post('/api/skills/:skillId/update', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Install exactly the version that was previewed. `allowsPermissions`: the person has seen what it newly asks for.',
    params: skillParams,
    body: z.object({ expectedDigest: SkillDigest, allowsPermissions: z.boolean().default(false) }),
    answer: SkillUpdated,
    errors: ['skill_not_found', 'update_failed'],
  }),
  acknowledgeSkillUpdate: post('/api/skills/:skillId/acknowledge-update', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Hide an available update until there is another one.',
    params: skillParams,
    answer: Nothing,
    errors: ['skill_not_found', 'acknowledge_failed'],
  }),
}
