import { join } from 'node:path'
import { createSkillFolders, type SkillFolders } from '../domain/skills/skill-folders.ts'
import { createGuardedFetch, type GuardedFetch } from '../platform/net/guarded-fetch.ts'
import { silentLog } from '../lib/log.ts'
import { createSkillInstaller, type SkillInstaller } from '../adapters/skills/skill-installer.ts'
import { openDomainRig, type DomainRig } from './domain-rig.ts'

export type SkillRig = Omit<DomainRig, 'close'> & {
  installer: SkillInstaller
  skillFolders: SkillFolders
  /** Where the files of the version with this digest are. */
  folderOf(digest: string): string
  close(): Promise<void>
}

/** The installer of skills with a real database and real folders. */
export function openSkillRig(fetch: GuardedFetch = createGuardedFetch()): SkillRig {
  const rig = openDomainRig()
  const skillFolders = createSkillFolders(join(rig.folder, 'skills'))
  const installer = createSkillInstaller({ ...rig, log: silentLog, dataDir: rig.folder, fetch, skillFolders })
  return {
    ...rig,
    installer,
    skillFolders,
    folderOf: (digest) => join(rig.folder, 'skills', digest.slice('sha256:'.length)),
    async close() {
      await installer.stop()
      rig.close()
    },
  }
}
