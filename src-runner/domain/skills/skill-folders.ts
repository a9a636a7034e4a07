import { existsSync, mkdirSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../platform/db/sync-files.ts'
import { ArchiveRefused } from '../../platform/archives/archive-entries.ts'
import { readSkillFolder } from './read-skill-folder.ts'
import { isScript, packSkill, type SkillPackage } from './skill-package.ts'

export type SkillFolders = ReturnType<typeof createSkillFolders>

const DIGEST = /^sha256:([0-9a-f]{64})$/
const STAGING = 'incoming-'

/**
 * The files of installed skills, in one folder per digest. A folder is there completely or not at all, also after a power cut, and no
 * word of a skill is part of its name. The caller serializes changes.
 */
export function createSkillFolders(root: string) {
  let stagings = 0
  mkdirSync(root, { recursive: true, mode: 0o700 })

  /** Throws for anything but a digest, so that no other text becomes a path. */
  function folderOf(digest: string): string {
    const hex = DIGEST.exec(digest)?.[1]
    if (hex === undefined) throw new Error('not a digest of a skill')
    return join(root, hex)
  }

  /** null: the files are gone, or not those that were installed. */
  async function load(digest: string): Promise<SkillPackage | null> {
    try {
      const skill = packSkill(await readSkillFolder(folderOf(digest), { strict: true }))
      return skill.digest === digest ? skill : null
    } catch (error) {
      if (error instanceof ArchiveRefused || ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes(codeOf(error))) return null
      throw error
    }
  }

  return {
    load,
    /** Whether there is a folder for it, whatever is in it. */
    isThere: (digest: string): boolean => existsSync(folderOf(digest)),

    /** The files as they are now, whoever changed them. Throws ArchiveRefused, or the error of the file system. */
    readAsIs: async (digest: string): Promise<SkillPackage> => packSkill(await readSkillFolder(folderOf(digest), { strict: true })),

    /** Resolves when all files are on disk. */
    async keep(skill: SkillPackage): Promise<void> {
      const place = folderOf(skill.digest)
      if ((await load(skill.digest)) !== null) return
      const staging = join(root, `${STAGING}${process.pid}-${++stagings}`)
      await rm(staging, { recursive: true, force: true })
      await mkdir(staging, { mode: 0o700 })
      try {
        await writeSkillFiles(staging, skill)
        // What is there was changed by somebody, or a crash left a part of it.
        await rm(place, { recursive: true, force: true })
        await rename(staging, place)
        syncFolder(root)
      } catch (error) {
        await rm(staging, { recursive: true, force: true }).catch(() => {})
        throw error
      }
    },

    /** Deletes everything but the skills with these digests. */
    async sweep(needed: readonly string[]): Promise<void> {
      const kept = new Set(needed.map((digest) => DIGEST.exec(digest)?.[1]))
      for (const name of await readdir(root)) {
        const isOurs = name.startsWith(STAGING) || /^[0-9a-f]{64}$/.test(name)
        if (isOurs && !kept.has(name)) await rm(join(root, name), { recursive: true, force: true })
      }
    },
  }
}

/** Into a new folder. The modes are ours: an archive decides nothing about them. */
export async function writeSkillFiles(folder: string, { files }: SkillPackage): Promise<void> {
  const folders = new Set<string>([folder])
  for (const file of files) {
    const place = join(folder, ...file.path.split('/'))
    for (let above = dirname(place); !folders.has(above); above = dirname(above)) folders.add(above)
    await mkdir(dirname(place), { recursive: true, mode: 0o700 })
    const handle = await open(place, 'wx', isScript(file) ? 0o700 : 0o600)
    try {
      await handle.writeFile(file.bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  for (const one of folders) syncFolder(one)
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}
