import type { Tx } from '../platform/db/database.ts'
import type { Services } from '../platform/services.ts'
import type { Setup } from '../contract/export.ts'
import type { SkillContents } from '../contract/skills.ts'
import { findDefaultEntity } from '../domain/entities/entities.ts'
import { findSkillBySlug, insertImportedSkill, selectSkill, storedSource } from '../domain/skills/skills.ts'

type Named = Setup['skills'][number]

/** What the archives of own skills hold, by digest. Their files are on disk before a row names them. */
export type OwnContents = ReadonlyMap<string, SkillContents>

/**
 * Notes the skills of an import, so that the person can look at each and install it. A skill that is here already gets the new agents if it
 * is the same version, and stays as it is. Returns the names of those that wait.
 */
export function importSkills(
  tx: Tx,
  { clock, ids, own }: Pick<Services, 'clock' | 'ids'> & { own: OwnContents },
  named: readonly Named[],
  agentIds: readonly string[],
): string[] {
  return named.flatMap((given) => {
    const { kind, source } = given
    const chosen = given.agents.map((agent) => agentIds[agent]!)
    const known = findSkillBySlug(tx, given.name)
    if (known !== null) {
      if (known.digest === given.digest) selectSkill(tx, known.id, [...known.agents.map(({ agentId }) => agentId), ...chosen])
      return []
    }
    const contents = kind === 'own' ? own.get(given.digest) : unseen(given)
    // Its files were not in the export.
    if (contents === undefined) return []
    const id = ids.next()
    insertImportedSkill(tx, { clock }, { id, entityId: findDefaultEntity(tx).id, source: storedSource(kind, source), contents })
    selectSkill(tx, id, chosen)
    return [given.name]
  })
}

/** All that is known before its source is read. */
function unseen({ name, description, digest }: Pick<Named, 'name' | 'description' | 'digest'>): SkillContents {
  return {
    name,
    description,
    digest,
    license: null,
    compatibility: null,
    author: null,
    version: null,
    allowedTools: [],
    files: [],
    totalBytes: 0,
    permissions: [],
    hosts: [],
    programs: [],
    findings: [],
    findingsCut: false,
  }
}
