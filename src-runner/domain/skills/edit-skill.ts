import { ArchiveRefused, createBudget } from '../../platform/archives/archive-entries.ts'
import { readPortablePath, refuseTwins } from '../../platform/archives/portable-path.ts'
import { SKILL_LIMITS, type SkillCheck, type SkillEditFile, type SkillFileInput } from '../../contract/skills.ts'
import { createMessage } from '../../lib/messages.ts'
import { examineSkill } from './examine-skill.ts'
import { packSkill, SkillRefused, textOf, type SkillPackage } from './skill-package.ts'

/** The files that a person wrote, with those that stay as they are in `before`. Throws SkillRefused or ArchiveRefused. */
export function packEdited(files: readonly SkillFileInput[], before: SkillPackage | null): SkillPackage {
  const budget = createBudget(SKILL_LIMITS)
  const packed = files.map((file) => {
    const path = readPortablePath(file.path)
    const bytes = bytesOf(file) ?? before?.files.find((one) => one.path === (file.from ?? path))?.bytes
    if (bytes === undefined) throw new SkillRefused(createMessage('skill_edit_missing', { path }))
    budget.take(bytes.length)
    return { path, bytes }
  })
  refuseTwins(packed.map(({ path }) => path))
  return packSkill(packed)
}

function bytesOf({ text, base64 }: SkillFileInput): Buffer | null {
  if (text !== undefined) return Buffer.from(text)
  return base64 === undefined ? null : Buffer.from(base64, 'base64')
}

/** What the files would be as a skill, or why they are none. */
export async function checkEdited(files: readonly SkillFileInput[], before: SkillPackage | null): Promise<SkillCheck> {
  try {
    return { contents: await examineSkill(packEdited(files, before)), problem: null }
  } catch (thrown) {
    if (thrown instanceof SkillRefused || thrown instanceof ArchiveRefused) return { contents: null, problem: thrown.detail }
    throw thrown
  }
}

export function editFilesOf({ files }: SkillPackage): SkillEditFile[] {
  return files.map((file) => ({ path: file.path, text: textOf(file), bytes: file.bytes.length }))
}
