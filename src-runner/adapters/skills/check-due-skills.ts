import { transact } from '../../platform/db/database.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { quote } from '../../lib/messages.ts'
import { loadSkill, type LoadDeps } from '../../domain/skills/load-skill.ts'
import { getSkill, listUnchecked, recordCheck } from '../../domain/skills/skills.ts'
import { fetchExamined } from './fetch-examined.ts'
import { problemOf } from './skill-problems.ts'
import type { SourceDeps } from './skill-source.ts'
import type { SkillTurns } from './skill-turns.ts'

type ChecksDeps = SourceDeps & LoadDeps & { log: Log; turns: SkillTurns }

const DAY_MS = 24 * 3_600_000

/**
 * Looks for an update of each skill that was not checked for a day, and whether its files are still those that were installed.
 */
export async function checkDueSkills(deps: ChecksDeps): Promise<void> {
  const { db, clock, log, turns } = deps
  const now = clock.now()
  for (const skillId of listUnchecked(db, { before: now - DAY_MS, now })) {
    if (turns.isStopping()) return
    await check(skillId, deps).catch((error: unknown) => log.warn({ skillId, error }, 'could not look for an update of a skill'))
  }
}

async function check(skillId: string, deps: ChecksDeps): Promise<void> {
  const { db, turns } = deps
  const skill = getSkill(db, skillId)
  await turns.alone(() => loadSkill(deps, skill))
  const found =
    skill.kind !== 'source'
      ? { digest: skill.digest }
      : await fetchExamined(skill, deps, turns.patience()).then(
          ({ contents }) => ({ digest: contents.digest }),
          (thrown: unknown) => ({ problem: problemOf(thrown) ?? quote(messageOf(thrown)) }),
        )
  // What was found is about this version.
  await turns.alone(async () => {
    if (getSkill(db, skillId).digest === skill.digest) transact(db, (tx) => recordCheck(tx, deps, skillId, found))
  })
}
