import { and, asc, eq, getTableColumns, inArray, isNull, lte, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy, prepareOnce } from '../../platform/db/statements.ts'
import type { Message } from '../../contract/messages.ts'
import type { Skill, SkillContents, SkillKind } from '../../contract/skills.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, required } from '../../lib/errors.ts'
import { readMessage, writeMessage } from '../../lib/messages.ts'
import { getAgent } from '../agents/agents.ts'
import { agents } from '../agents/agents-table.ts'
import { listFollowedSkills } from './followed-skills.sql.ts'
import { skillAgents, skills } from './skills-table.ts'

const { seq: _, ...SHOWN } = getTableColumns(skills)
type SkillRow = typeof skills.$inferSelect

/** Before the name of a file that was dropped on the window. Neither this nor an empty text is ever fetched. */
const FROM_FILE = 'file:'

/** As it is stored. */
export function storedSource(kind: SkillKind, source: string): string {
  return kind === 'own' ? '' : kind === 'file' ? `${FROM_FILE}${source}` : source
}

function readSource(stored: string): { kind: SkillKind; source: string } {
  if (stored === '') return { kind: 'own', source: '' }
  return stored.startsWith(FROM_FILE) ? { kind: 'file', source: stored.slice(FROM_FILE.length) } : { kind: 'source', source: stored }
}

/** Whether this kind and source, once stored, mean the same again. */
export function isStoredAs(kind: SkillKind, source: string): boolean {
  const stored = readSource(storedSource(kind, source))
  return stored.kind === kind && stored.source === source
}

export type NewSkill = Pick<SkillRow, 'id' | 'entityId' | 'source'> & { contents: SkillContents }

/** By name. */
export function listSkills(db: Db, { agentId, entityId }: { agentId?: string | undefined; entityId?: string | undefined } = {}): Skill[] {
  const ofEntity = filterBy(skills.entityId, entityId)
  const rows = selectSkills(db, and(agentId === undefined ? undefined : isOfAgent(db, agentId), ofEntity)).all()
  return rows.map((row) => shown(db, row))
}

/** Those that an agent may use, by name. */
export function listSkillsOfAgent(db: Db, agentId: string): Skill[] {
  return SKILLS_OF_AGENT(db)
    .all({ agentId })
    .map((row) => shown(db, row))
}

const SKILLS_OF_AGENT = prepareOnce((db: Db) => selectSkills(db, isOfAgent(db, sql.placeholder('agentId'))))

function selectSkills(db: Db, where: SQL | undefined) {
  return db.select(SHOWN).from(skills).where(where).orderBy(asc(skills.slug))
}

function isOfAgent(db: Db, agentId: string | Placeholder) {
  return inArray(skills.id, db.select({ id: skillAgents.skillId }).from(skillAgents).where(eq(skillAgents.agentId, agentId)))
}

/** Throws AppError skill_not_found. */
export function getSkill(db: Db, skillId: string): Skill {
  return required(findBy(db, eq(skills.id, skillId)), 'skill_not_found')
}

export function findSkillBySlug(db: Db, slug: string): Skill | null {
  return findBy(db, eq(skills.slug, slug))
}

/** The skills that a job, or one above it, has read, as they are installed now. */
export function readFollowedSkills(db: Db, jobId: string): { name: string; allowedTools: readonly string[] }[] {
  return listFollowedSkills(db, jobId).flatMap((name) => {
    const skill = findSkillBySlug(db, name)
    return skill === null ? [] : [{ name, allowedTools: skill.contents.allowedTools }]
  })
}

function findBy(db: Db, is: ReturnType<typeof eq>): Skill | null {
  const row = db.select(SHOWN).from(skills).where(is).get()
  return row === undefined ? null : shown(db, row)
}

function shown(db: Db, row: Omit<SkillRow, 'seq'>): Skill {
  const { allowedPermissions, changedAt, missingAt, importedAt, upstreamDigest, acknowledgedDigest, ...rest } = row
  const { contents, checkProblem } = row
  const newPermissions = contents.permissions.filter((permission) => !allowedPermissions.includes(permission))
  const selected = db
    .select({ agentId: skillAgents.agentId, agentName: agents.name })
    .from(skillAgents)
    .innerJoin(agents, eq(agents.id, skillAgents.agentId))
    .where(eq(skillAgents.skillId, row.id))
    .orderBy(agents.name)
    .all()
  return {
    ...rest,
    ...readSource(row.source),
    name: contents.name,
    description: contents.description,
    version: contents.version,
    contents,
    newPermissions,
    status: statusOf({ changedAt, missingAt, importedAt }, newPermissions),
    hasUpdate: importedAt === null && upstreamDigest !== null && upstreamDigest !== row.digest && upstreamDigest !== acknowledgedDigest,
    checkProblem: readMessage(checkProblem),
    agents: selected,
    tokens: tokensOf(contents),
  }
}

function statusOf(
  { importedAt, missingAt, changedAt }: Pick<SkillRow, 'importedAt' | 'missingAt' | 'changedAt'>,
  newPermissions: readonly string[],
): Skill['status'] {
  if (importedAt !== null) return 'imported'
  if (changedAt !== null) return missingAt === null ? 'changed' : 'missing'
  return newPermissions.length > 0 ? 'needs_consent' : 'ready'
}

/** Prose has about four bytes to a token. */
function tokensOf({ name, description }: SkillContents): number {
  return Math.ceil(Buffer.byteLength(`- ${name}: ${description}\n`) / 4)
}

/** Its files are on disk. The person has seen its permissions. */
export function insertSkill(tx: Tx, { clock }: { clock: Clock }, { contents, ...skill }: NewSkill): Skill {
  const now = clock.now()
  tx.insert(skills)
    .values({
      ...skill,
      contents,
      slug: contents.name,
      digest: contents.digest,
      allowedPermissions: contents.permissions,
      upstreamDigest: contents.digest,
      checkedAt: now,
      checkProblem: '',
      installedAt: now,
      updatedAt: now,
    })
    .run()
  tx.emit({ type: 'skill.installed', payload: { skillId: skill.id } })
  return getSkill(tx, skill.id)
}

/** It came with an import: no agent gets it before the person installs it. Of an own skill, the files are on disk. */
export function insertImportedSkill(tx: Tx, { clock }: { clock: Clock }, { contents, ...skill }: NewSkill): void {
  const now = clock.now()
  tx.insert(skills)
    .values({
      ...skill,
      contents,
      slug: contents.name,
      digest: contents.digest,
      allowedPermissions: [],
      importedAt: now,
      checkProblem: '',
      installedAt: now,
      updatedAt: now,
    })
    .run()
  tx.emit({ type: 'skill.installed', payload: { skillId: skill.id } })
}

/**
 * Its files are on disk. `allows`: the person has seen the permissions of this version. `source`: where this version is from, if that
 * changed. Throws AppError skill_not_found.
 */
export function replaceSkill(
  tx: Tx,
  { clock }: { clock: Clock },
  skillId: string,
  contents: SkillContents,
  { allows, source }: { allows: boolean; source?: string | undefined },
): Skill {
  const now = clock.now()
  tx.update(skills)
    .set({
      ...(source === undefined ? {} : { source }),
      contents,
      slug: contents.name,
      digest: contents.digest,
      changedAt: null,
      missingAt: null,
      importedAt: null,
      upstreamDigest: contents.digest,
      acknowledgedDigest: null,
      checkedAt: now,
      checkProblem: '',
      updatedAt: now,
      ...(allows ? { allowedPermissions: contents.permissions } : {}),
    })
    .where(eq(skills.id, skillId))
    .run()
  return changed(tx, skillId)
}

/**
 * The person allows what this version asks for, and with that installs an own skill of an import. Throws AppError skill_not_found
 * or skill_has_changed.
 */
export function allowPermissions(tx: Tx, skillId: string, digest: string): Skill {
  const { contents } = getSkill(tx, skillId)
  // What came with an import without its files has nothing that the person could have seen.
  if (contents.digest !== digest || contents.files.length === 0) throw new AppError('skill_has_changed')
  tx.update(skills).set({ allowedPermissions: contents.permissions, importedAt: null }).where(eq(skills.id, skillId)).run()
  return changed(tx, skillId)
}

/** A skill is for agents of its own workspace. Throws AppError skill_not_found or agent_not_found. */
export function selectSkill(tx: Tx, skillId: string, agentIds: readonly string[]): Skill {
  const { entityId } = getSkill(tx, skillId)
  tx.delete(skillAgents).where(eq(skillAgents.skillId, skillId)).run()
  for (const agentId of new Set(agentIds)) {
    if (getAgent(tx, agentId).entityId !== entityId) throw new AppError('agent_not_found')
    tx.insert(skillAgents).values({ skillId, agentId }).run()
  }
  return changed(tx, skillId)
}

/** Agents do not get it any more, because its files are gone, or are not those that were installed. */
export function blockSkill(
  tx: Tx,
  { clock }: { clock: Clock },
  { id, digest }: Pick<Skill, 'id' | 'digest'>,
  { isMissing }: { isMissing: boolean },
): void {
  // prettier-ignore
  const known = findBy(tx, eq(skills.id, id))
  if (known?.digest !== digest || ['imported', isMissing ? 'missing' : 'changed'].includes(known.status)) return
  const now = clock.now()
  tx.update(skills)
    .set({ changedAt: now, missingAt: isMissing ? now : null })
    .where(eq(skills.id, id))
    .run()
  changed(tx, id)
}

/** Its files are back. Whether they are those that were installed is checked at each use. */
export function unblockMissingSkill(tx: Tx, skillId: string): void {
  tx.update(skills).set({ changedAt: null, missingAt: null }).where(eq(skills.id, skillId)).run()
  changed(tx, skillId)
}

/** What its source has now, or why that is not known. */
export function recordCheck(tx: Tx, { clock }: { clock: Clock }, skillId: string, found: { digest: string } | { problem: Message }): void {
  const upstream = 'digest' in found ? { upstreamDigest: found.digest } : {}
  const problem = 'problem' in found ? found.problem : null
  const set = { ...upstream, checkedAt: clock.now(), checkProblem: writeMessage(problem) }
  const { changes } = tx.update(skills).set(set).where(eq(skills.id, skillId)).run()
  if (changes > 0) tx.emit({ type: 'skill.changed', payload: { skillId } })
}

/** The ids of the installed ones that were last looked at before `before`, or never, or after `now`, which only a wrong clock explains. */
export function listUnchecked(db: Db, { before, now }: { before: number; now: number }): string[] {
  const isDue = or(isNull(skills.checkedAt), lte(skills.checkedAt, before), sql`${skills.checkedAt} > ${now}`)
  return db
    .select({ id: skills.id })
    .from(skills)
    .where(and(isNull(skills.importedAt), isDue))
    .orderBy(asc(skills.seq))
    .all()
    .map(({ id }) => id)
}

/** Hides the present update until there is another one. */
export function acknowledgeUpdate(tx: Tx, skillId: string): Skill {
  tx.update(skills)
    .set({ acknowledgedDigest: sql`${skills.upstreamDigest}` })
    .where(eq(skills.id, skillId))
    .run()
  return changed(tx, skillId)
}

function changed(tx: Tx, skillId: string): Skill {
  const skill = getSkill(tx, skillId)
  tx.emit({ type: 'skill.changed', payload: { skillId } })
  return skill
}

/** Throws AppError skill_not_found. */
export function deleteSkill(tx: Tx, skillId: string): void {
  const { entityId } = getSkill(tx, skillId)
  tx.delete(skills).where(eq(skills.id, skillId)).run()
  tx.emit({ type: 'skill.removed', payload: { skillId, entityId } })
}

export function deselectSkillsOfAgent(tx: Tx, agentId: string): void {
  const ended = tx.delete(skillAgents).where(eq(skillAgents.agentId, agentId)).returning().all()
  for (const { skillId } of ended) tx.emit({ type: 'skill.changed', payload: { skillId } })
}
