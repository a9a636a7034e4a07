import type { PackedFile } from '../../platform/archives/archive-entries.ts'
import type { Database } from '../../platform/db/database.ts'
import type { FoundSkill, SkillPreview } from '../../contract/skills.ts'
import { createMessage } from '../../lib/messages.ts'
import { revealText } from '../../domain/skills/examine-skill.ts'
import { readSkillHead, SKILL_FILE } from '../../domain/skills/skill-head.ts'
import { isScript, SkillRefused, textOf, type SkillPackage } from '../../domain/skills/skill-package.ts'
import { findSkillBySlug } from '../../domain/skills/skills.ts'
import { fetchExamined, nameOrigin } from './fetch-examined.ts'
import { fetchHeads, isRefusal, type Origin, type SourceDeps } from './skill-source.ts'

const MAX_TEXTS_CHARS = 1_000_000

type PreviewDeps = SourceDeps & { db: Database }

/** All that a person can read of a skill before they install it. Writes nothing. Throws like `fetchSkill`. */
export async function previewSkill(deps: PreviewDeps, origin: Origin, signal: AbortSignal): Promise<SkillPreview> {
  const { skill, contents } = await fetchExamined(origin, deps, signal)
  const { source } = nameOrigin(origin)
  const text = revealText(readSkillHead(skill).text)
  return { source, contents, text, texts: textsOf(skill), installedSkillId: findInstalled(deps.db, contents.name) }
}

/** The skills of a source, by folder. Writes nothing. Throws like `fetchSkill`. */
export async function browseSkills(deps: PreviewDeps, origin: Origin, signal: AbortSignal): Promise<FoundSkill[]> {
  const heads = await fetchHeads(origin, deps, signal)
  if (heads.length === 0) throw new SkillRefused(createMessage('skill_file_missing'))
  return heads.map(({ folder, source, file }) => {
    const { name, description, problem } = readFound(folder, file)
    return { folder, source, name, description, problem, installedSkillId: findInstalled(deps.db, name) }
  })
}

function findInstalled(db: Database, name: string): string | null {
  const skill = findSkillBySlug(db, name)
  return skill === null || skill.status === 'imported' ? null : skill.id
}

/** What a person can read before they install it, besides the instructions. */
function textsOf({ files }: SkillPackage): SkillPreview['texts'] {
  let room = MAX_TEXTS_CHARS
  return files
    .filter(({ path }) => path !== SKILL_FILE)
    .toSorted((one, other) => Number(isScript(other)) - Number(isScript(one)))
    .flatMap((file) => {
      const text = file.bytes.length > room ? null : textOf(file)
      if (text === null) return []
      room -= text.length
      return [{ path: file.path, text: revealText(text) }]
    })
}

/** What a `SKILL.md` says, as far as it can be read. */
function readFound(folder: string, file: PackedFile): Pick<FoundSkill, 'name' | 'description' | 'problem'> {
  try {
    const { head } = readSkillHead({ files: [{ ...file, path: SKILL_FILE }] })
    return { name: head.name, description: head.description, problem: null }
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown
    return { name: folder.split('/').at(-1)!, description: '', problem: thrown.detail }
  }
}
