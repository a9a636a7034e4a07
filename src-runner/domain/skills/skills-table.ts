import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { checks, idOf, indexWhere, jsonArray, jsonObject, moment } from '../../platform/db/column-types.ts'
import { SkillContents } from '../../contract/skills.ts'
import { agents } from '../agents/agents-table.ts'
import { entities } from '../entities/entities-table.ts'

export const skills = sqliteTable(
  'skills',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    entityId: idOf('entity_id', () => entities.id),
    // The name in its front matter.
    slug: text('slug').notNull().unique(),
    source: text('source').notNull(),
    digest: text('digest').notNull(),
    contents: jsonObject('contents', SkillContents).notNull(),
    // Those that the person has seen.
    allowedPermissions: jsonArray('allowed_permissions', z.array(z.string())).notNull(),
    // When its files were found to be others than those that were installed.
    changedAt: moment('changed_at'),
    // Also: when none of them were there any more.
    missingAt: moment('missing_at'),
    // It came with an import, and the person has not installed it yet.
    importedAt: moment('imported_at'),
    // What its source had when it was last looked at.
    upstreamDigest: text('upstream_digest'),
    acknowledgedDigest: text('acknowledged_digest'),
    checkedAt: moment('checked_at'),
    checkProblem: text('check_problem').notNull(),
    installedAt: moment('installed_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    ...checks(t),
    index('skills_by_entity').on(t.entityId, t.seq),
    indexWhere('skills_changed', [t.changedAt], 'changed_at IS NOT NULL'),
  ],
)

/** The agents that get a skill. */
export const skillAgents = sqliteTable(
  'skill_agents',
  {
    skillId: idOf('skill_id', () => skills.id, { onDelete: 'cascade' }),
    agentId: idOf('agent_id', () => agents.id),
  },
  (t) => [primaryKey({ columns: [t.skillId, t.agentId] }), index('skill_agents_by_agent').on(t.agentId)],
)
