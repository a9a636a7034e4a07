import type { SkillContents } from '../../contract/skills.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { examineSkill } from '../../domain/skills/examine-skill.ts'
import type { SkillPackage } from '../../domain/skills/skill-package.ts'
import { fetchSkill, type Origin, type SourceDeps } from './skill-source.ts'

export type ExaminedSkill = { skill: SkillPackage; contents: SkillContents }

/** A skill with what is in it. Without a version of its own it has the commit. Throws like `fetchSkill`. */
export async function fetchExamined(origin: Origin, deps: SourceDeps, signal: AbortSignal): Promise<ExaminedSkill> {
  const { skill, commit } = await fetchSkill(origin, deps, signal)
  const contents = await examineSkill(skill)
  return { skill, contents: { ...contents, version: contents.version ?? commit?.slice(0, 12) ?? null } }
}

/** How an origin is shown and kept. */
export function nameOrigin(origin: Origin): { kind: 'source' | 'file'; source: string } {
  if ('source' in origin) return { kind: 'source', source: origin.source }
  return { kind: 'file', source: visibleText(origin.upload.fileName).replace(/\s+/g, ' ').trim() }
}
