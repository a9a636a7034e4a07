import { transact } from '../../../platform/db/transact.ts'
import type { Skill } from '../../../contract/skills.ts'
import { required } from '../../../lib/errors.ts'
import { revealText } from '../../../domain/skills/examine-skill.ts'
import { readSkillHead } from '../../../domain/skills/skill-head.ts'
import { allowPermissions, findSkillBySlug, getSkill, listSkills, selectSkill } from '../../../domain/skills/skills.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function skillHandlers({ db, skills }: HandlerDeps) {
  const bySlug = (slug: string) => () => required(findSkillBySlug(db, slug), 'skill_not_found')
  /** First looked for outside, where an unknown id is `skill_not_found`. */
  const byId = (skillId: string) => {
    getSkill(db, skillId)
    return () => getSkill(db, skillId)
  }
  return {
    installSkillBySource: async ({ body }) => ({ ok: true, skill: installed(await skills.install(body)) }),
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

    listSkills: ({ query }, { caller }) => ({ skills: listSkills(db, { ...query, entityId: caller.entityId }) }),
    async getSkill({ params }) {
      const skill = getSkill(db, params.skillId)
      const files = await skills.read(skill.digest)
      return { skill, text: files === null ? null : revealText(readSkillHead(files).text) }
    },
    previewSkill: async ({ body }) => ({ preview: await skills.preview(body.source) }),
    installSkill: async ({ body: { agents, ...body } }) => ({
      skill: await skills.install({ ...body, agents: agents?.map(({ agentId }) => agentId) }),
    }),
    updateSkillSettings: ({ params: { skillId }, body: { agents, allowedDigest } }) => ({
      skill: transact(db, (tx) => {
        if (allowedDigest !== undefined) allowPermissions(tx, skillId, allowedDigest)
        return agents === undefined
          ? getSkill(tx, skillId)
          : selectSkill(
              tx,
              skillId,
              agents.map(({ agentId }) => agentId),
            )
      }),
    }),
    deleteSkill: async ({ params }) => {
      await skills.uninstall(byId(params.skillId))
      return { ok: true }
    },
    previewSkillUpdate: ({ params }) => skills.previewUpdate(byId(params.skillId)),
    updateSkill: ({ params, body: { expectedDigest, allowsPermissions } }) =>
      skills.update(byId(params.skillId), { expectedDigest, allows: allowsPermissions }),
    acknowledgeSkillUpdate: async ({ params }) => {
      await skills.acknowledge(byId(params.skillId))
      return { ok: true }
    },
  } satisfies Partial<Handlers>
}

function installed({ slug, name, description, source, version, digest, contents }: Skill) {
  const { files, permissions } = contents
  return {
    ...{ slug, name, description, source, version, digest, permissions },
    files: files.map(({ path }) => path),
    scripts: files.filter(({ isScript }) => isScript).map(({ path }) => path),
  }
}
