import { transact } from '../../../platform/db/database.ts'
import type { Skill, SkillOrigin } from '../../../contract/skills.ts'
import { AppError, required } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { revealText } from '../../../domain/skills/examine-skill.ts'
import { pageOfList } from '../../../domain/cursors.ts'
import { readSkillHead } from '../../../domain/skills/skill-head.ts'
import { allowPermissions, findSkillBySlug, getSkill, listSkills, selectSkill } from '../../../domain/skills/skills.ts'
import { listSkillCatalogues } from '../../../domain/skills/skill-catalogues.ts'
import { enqueueSkillDraft, readSkillDraft } from '../../../execution/skill-drafts.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'
import { createJob } from './jobs.ts'

export function skillHandlers(deps: HandlerDeps) {
  const { db, jobs, skills, speech } = deps
  const bySlug = (slug: string) => () => required(findSkillBySlug(db, slug), 'skill_not_found')
  /** First looked for outside, where an unknown id is `skill_not_found`. */
  const byId = (skillId: string) => {
    getSkill(db, skillId)
    return () => getSkill(db, skillId)
  }
  return {
    installSkillBySource: async ({ body }) => ({
      ok: true,
      skill: installed(await skills.install({ source: body.source }, { entityId: body.entityId })),
    }),
    uninstallSkillBySlug: async ({ body }) => {
      await skills.uninstall(bySlug(body.slug))
      return { ok: true }
    },
    updateSkillBySlug: ({ body: { slug, expectedDigest } }) => skills.update(bySlug(slug), { expectedDigest, allows: false }),
    previewUpdateBySlug: ({ body }) => skills.previewUpdate(bySlug(body.slug)),
    acknowledgeUpdateBySlug: async ({ body }) => {
      await skills.acknowledge(bySlug(body.slug))
      return { ok: true }
    },

    listSkills({ query }, { caller }) {
      const listed = listSkills(db, { agentId: query.agentId, entityId: caller.entityId })
      const { items, nextCursor } = pageOfList(listed, query, ({ id }) => id)
      return { skills: items, nextCursor }
    },
    async getSkill({ params }) {
      const skill = getSkill(db, params.skillId)
      const files = await skills.read(skill.digest)
      return { skill, text: files === null ? null : revealText(readSkillHead(files).text) }
    },
    previewSkill: async ({ body }) => ({ preview: await skills.preview(originOf(body)) }),
    browseSkills: async ({ body }) => ({ skills: await skills.browse(originOf(body)) }),
    listSkillCatalogues: () => ({ catalogues: listSkillCatalogues() }),
    installSkill: async ({ body }) => ({ skill: await skills.install(originOf(body), { ...body, agents: idsOf(body.agents) }) }),
    updateSkillSettings: ({ params: { skillId }, body: { agent, allowedDigest } }) => ({
      skill: transact(db, (tx) => {
        if (allowedDigest !== undefined) allowPermissions(tx, skillId, allowedDigest)
        const skill = getSkill(tx, skillId)
        if (agent === undefined) return skill
        const others = skill.agents.map(({ agentId }) => agentId).filter((id) => id !== agent.agentId)
        return selectSkill(tx, skillId, agent.has ? [...others, agent.agentId] : others)
      }),
    }),
    deleteSkill: async ({ params }) => {
      await skills.uninstall(byId(params.skillId))
      return { ok: true }
    },
    previewSkillUpdate: ({ params, body }) => skills.previewUpdate(byId(params.skillId), body?.upload),
    updateSkill: ({ params, body: { allowsPermissions, ...given } }) =>
      skills.update(byId(params.skillId), { ...given, allows: allowsPermissions }),
    acknowledgeSkillUpdate: async ({ params }) => {
      await skills.acknowledge(byId(params.skillId))
      return { ok: true }
    },

    checkSkill: ({ body }) => skills.check(body.files, body.skillId),
    createSkill: async ({ body }) => ({ skill: await skills.create({ ...body, agents: idsOf(body.agents) }) }),
    readSkillFiles: ({ params }) => skills.readFiles(params.skillId),
    saveSkill: async ({ params, body }) => ({ skill: await skills.save(params.skillId, body) }),
    exportSkill: ({ params }) => skills.exportZip(params.skillId),

    async draftSkill({ params }) {
      const job = await createJob(deps, (tx) => enqueueSkillDraft(tx, { jobs, speech }, params.jobId))
      return { jobId: job.id, status: 'pending' }
    },
    getSkillDraft: async ({ params }) => ({ draft: await readSkillDraft(db, deps, params.jobId) }),
  } satisfies Partial<Handlers>
}

function originOf({ source, upload }: SkillOrigin) {
  if (source !== undefined && upload === undefined) return { source }
  if (upload !== undefined && source === undefined) return { upload }
  throw new AppError('invalid_request', createMessage('skill_one_origin'))
}

function idsOf(agents: { agentId: string }[] | undefined): string[] | undefined {
  return agents?.map(({ agentId }) => agentId)
}

function installed({ slug, name, description, source, version, digest, contents }: Skill) {
  const { files, permissions } = contents
  return {
    slug,
    name,
    description,
    source,
    version,
    digest,
    permissions,
    files: files.map(({ path }) => path),
    scripts: files.filter(({ isScript }) => isScript).map(({ path }) => path),
  }
}
