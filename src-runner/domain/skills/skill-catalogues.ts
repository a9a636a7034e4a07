import { SKILL_CATALOGUE_FILES } from '../../../resources/skill-catalogues/skill-catalogue-files.ts'
import { SkillCatalogue } from '../../contract/skills.ts'

let known: SkillCatalogue[] | null = null

/** Well-known repositories of skills, in the order in which they are shown. */
export function listSkillCatalogues(): SkillCatalogue[] {
  known ??= SKILL_CATALOGUE_FILES.map((file) => SkillCatalogue.parse(file))
  return known
}
