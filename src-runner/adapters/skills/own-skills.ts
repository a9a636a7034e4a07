import { refuseTooLarge } from '../../platform/archives/archive-entries.ts'
import { transact } from '../../platform/db/database.ts'
import { MAX_EXPORTED_SKILL_BYTES, MAX_EXPORTED_SKILL_CHARS } from '../../contract/export.ts'
import { SKILL_LIMITS, type Skill, type SkillCheck, type SkillEditFile, type SkillFileInput } from '../../contract/skills.ts'
import { AppError, required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import { createMessage } from '../../lib/messages.ts'
import { findDefaultEntity, findEntity } from '../../domain/entities/entities.ts'
import { checkEdited, editFilesOf, packEdited } from '../../domain/skills/edit-skill.ts'
import { examineSkill } from '../../domain/skills/examine-skill.ts'
import { loadSkill, type LoadDeps } from '../../domain/skills/load-skill.ts'
import { SkillRefused, type SkillPackage } from '../../domain/skills/skill-package.ts'
import { findSkillBySlug, getSkill, insertSkill, listSkills, replaceSkill, selectSkill, storedSource } from '../../domain/skills/skills.ts'
import { isMissingFile } from './skill-source.ts'

/** The same files give the same bytes, whenever they are packed. */
const FIRST_ZIP_DAY = new Date(1980, 0, 1)

type OwnSkillsDeps = LoadDeps & {
  ids: Ids
  /** Runs it alone, and turns a refusal into AppError skill_refused. */
  alone: <T>(work: () => Promise<T>) => Promise<T>
  /** Deletes the files of versions that no row names. */
  sweep: () => Promise<void>
}

/** Skills that the person writes in Deckhand. They are kept like installed ones, and no update changes them. */
export function createOwnSkills({ alone, sweep, ...deps }: OwnSkillsDeps) {
  const { db, ids, skillFolders: folders } = deps

  /** Also files that another program changed: the person sees them before they are saved. */
  async function readAsIs({ digest }: Skill): Promise<SkillPackage> {
    try {
      return await folders.readAsIs(digest)
    } catch (thrown) {
      throw isMissingFile(thrown) ? new SkillRefused(createMessage('skill_files_missing')) : thrown
    }
  }

  function requireFreeName(name: string, skillId: string | null): void {
    const known = findSkillBySlug(db, name)
    if (known !== null && known.id !== skillId) throw new SkillRefused(createMessage('skill_name_taken', { name }))
  }

  /** A zip file with one folder. null: its files are not those that were saved or installed. */
  async function packZip(skill: Skill): Promise<Buffer | null> {
    const found = await loadSkill(deps, skill)
    if (found === null) return null
    const { zipSync } = await import('fflate/browser')
    const files = Object.fromEntries(found.files.map(({ path, bytes }) => [`${skill.slug}/${path}`, bytes]))
    return Buffer.from(zipSync(files, { mtime: FIRST_ZIP_DAY }))
  }

  return {
    /**
     * The own skills that fit into an export, in Base64 by digest: all of them together, and none whose files are not those that
     * were saved.
     */
    packOwn: (): Promise<Map<string, string>> =>
      alone(async () => {
        const packed = new Map<string, string>()
        let [chars, bytes] = [MAX_EXPORTED_SKILL_CHARS, MAX_EXPORTED_SKILL_BYTES]
        for (const skill of listSkills(db).filter(({ kind }) => kind === 'own')) {
          const { totalBytes } = skill.contents
          if (totalBytes > bytes) continue
          const base64 = (await packZip(skill))?.toString('base64')
          if (base64 === undefined || base64.length > chars) continue
          packed.set(skill.digest, base64)
          chars -= base64.length
          bytes -= totalBytes
        }
        return packed
      }),

    /** Throws AppError skill_not_found or skill_refused. */
    readFiles: (skillId: string): Promise<{ files: SkillEditFile[]; digest: string; isChanged: boolean }> =>
      alone(async () => {
        const skill = getSkill(db, skillId)
        const files = await readAsIs(skill)
        return {
          files: editFilesOf(files),
          digest: files.digest,
          isChanged: files.digest !== skill.digest || ['changed', 'missing'].includes(skill.status),
        }
      }),

    /** `skillId`: files without content stay as they are in it. Throws AppError skill_not_found or skill_refused. */
    check: (files: readonly SkillFileInput[], skillId?: string): Promise<SkillCheck> =>
      skillId === undefined ? checkEdited(files, null) : alone(async () => checkEdited(files, await readAsIs(getSkill(db, skillId)))),

    /** Throws AppError skill_refused. */
    create: ({
      files,
      entityId,
      agents,
    }: {
      files: readonly SkillFileInput[]
      entityId?: string | undefined
      agents?: readonly string[]
    }): Promise<Skill> =>
      alone(async () => {
        const entity = entityId === undefined ? findDefaultEntity(db) : required(findEntity(db, entityId), 'entity_not_found')
        const skill = packEdited(files, null)
        const contents = await examineSkill(skill)
        requireFreeName(contents.name, null)
        await folders.keep(skill)
        return transact(db, (tx) => {
          const { id } = insertSkill(tx, deps, { id: ids.next(), entityId: entity.id, source: storedSource('own', ''), contents })
          return selectSkill(tx, id, agents ?? [])
        })
      }),

    /**
     * `expectedDigest`: of the files that the person opened. Throws AppError skill_not_found, skill_not_own, skill_has_changed or
     * skill_refused.
     */
    save: (skillId: string, { files, expectedDigest }: { files: readonly SkillFileInput[]; expectedDigest: string }): Promise<Skill> =>
      alone(async () => {
        const before = getSkill(db, skillId)
        if (before.kind !== 'own') throw new AppError('skill_not_own')
        const opened = await readAsIs(before)
        if (opened.digest !== expectedDigest) throw new AppError('skill_has_changed')
        const skill = packEdited(files, opened)
        const contents = await examineSkill(skill)
        requireFreeName(contents.name, skillId)
        await folders.keep(skill)
        // The person wrote what it asks for.
        const after = transact(db, (tx) => replaceSkill(tx, deps, skillId, contents, { allows: true }))
        await sweep()
        return after
      }),

    /** A zip file with one folder. Throws AppError skill_not_found or skill_refused. */
    exportZip: (skillId: string): Promise<{ fileName: string; base64: string }> =>
      alone(async () => {
        const skill = getSkill(db, skillId)
        const zip = (await packZip(skill)) ?? refuseMissing()
        // A larger one could not be installed again.
        if (zip.length > SKILL_LIMITS.packedBytes) refuseTooLarge(SKILL_LIMITS.packedBytes)
        return { fileName: `${skill.slug}.zip`, base64: zip.toString('base64') }
      }),
  }
}

function refuseMissing(): never {
  throw new SkillRefused(createMessage('attention_skill_changed_detail'))
}
