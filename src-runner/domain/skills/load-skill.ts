import { transact, type Database } from '../../platform/db/database.ts'
import type { Skill } from '../../contract/skills.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SkillFolders } from './skill-folders.ts'
import type { SkillPackage } from './skill-package.ts'
import { blockSkill } from './skills.ts'

export type LoadDeps = { db: Database; clock: Clock; skillFolders: SkillFolders }

/** The files of the installed version. If they are gone or are not those that were installed: null, and the skill is blocked. */
export async function loadSkill(deps: LoadDeps, skill: Pick<Skill, 'id' | 'digest'>): Promise<SkillPackage | null> {
  const found = await deps.skillFolders.load(skill.digest)
  if (found === null) transact(deps.db, (tx) => blockSkill(tx, deps, skill, { isMissing: !deps.skillFolders.isThere(skill.digest) }))
  return found
}
