import { join } from 'node:path'
import { refuseTooLarge } from '../../platform/archives/archive-entries.ts'
import { BACKUP_FOLDER } from '../../platform/db/backup-files.ts'
import { transact } from '../../platform/db/database.ts'
import { hasReplacedData } from '../../platform/db/replacement.ts'
import { MAX_EXPORTED_SKILL_BYTES, type Setup } from '../../contract/export.ts'
import type {
  FoundSkill,
  Skill,
  SkillContents,
  SkillPreview,
  SkillUpdated,
  SkillUpdatePreview,
  SkillUpload,
} from '../../contract/skills.ts'
import { required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'
import { findDefaultEntity, findEntity } from '../../domain/entities/entities.ts'
import { compareSkills } from '../../domain/skills/compare-skills.ts'
import { findNew } from '../../domain/skills/examine-skill.ts'
import { loadSkill, type LoadDeps } from '../../domain/skills/load-skill.ts'
import { SkillRefused } from '../../domain/skills/skill-package.ts'
import {
  acknowledgeUpdate,
  blockSkill,
  deleteSkill,
  findSkillBySlug,
  getSkill,
  insertSkill,
  listSkills,
  recordCheck,
  replaceSkill,
  selectSkill,
  storedSource,
  unblockMissingSkill,
} from '../../domain/skills/skills.ts'
import type { OwnContents } from '../../execution/import-skills.ts'
import { listDigests, restoreSkills } from '../../execution/skill-backups.ts'
import { checkDueSkills } from './check-due-skills.ts'
import { fetchExamined, nameOrigin, type ExaminedSkill } from './fetch-examined.ts'
import { createOwnSkills } from './own-skills.ts'
import { browseSkills, previewSkill } from './preview-skills.ts'
import { refusing } from './skill-problems.ts'
import type { Origin, SourceDeps } from './skill-source.ts'
import { createSkillTurns } from './skill-turns.ts'

export type SkillInstaller = ReturnType<typeof createSkillInstaller>

type InstallerDeps = SourceDeps & LoadDeps & { ids: Ids; log: Log }

const LOOK_EVERY_MS = 3_600_000

type NewInstall = { expectedDigest?: string | undefined; entityId?: string | undefined; agents?: readonly string[] | undefined }
type GivenUpdate = { expectedDigest?: string | undefined; allows: boolean; upload?: SkillUpload | undefined }

/**
 * Installs, updates and removes skills, one after another. The files of a version are on disk before the row names it, and those of the
 * version before go afterwards: a crash at any moment leaves one whole version. Nothing of a skill runs here.
 */
export function createSkillInstaller(deps: InstallerDeps) {
  const { db, clock, ids, log, skillFolders: folders } = deps
  const turns = createSkillTurns()
  const { alone, patience } = turns
  const stops: (() => void)[] = []

  const fetchFrom = (origin: Origin) => fetchExamined(origin, deps, patience())
  const checkDue = () => checkDueSkills({ ...deps, turns })
  /** Replaced data may name other files. They stay until it is deleted. */
  async function sweep(): Promise<void> {
    if (!hasReplacedData(db.file)) await folders.sweep(listSkills(db).map(({ digest }) => digest))
  }

  async function install(origin: Origin, { expectedDigest, entityId, agents }: NewInstall): Promise<Skill> {
    const entity = entityId === undefined ? findDefaultEntity(db) : required(findEntity(db, entityId), 'entity_not_found')
    const { skill, contents } = await fetchFrom(origin)
    requireSame(contents, expectedDigest)
    const { kind, source } = nameOrigin(origin)
    return alone(async () => {
      const known = findSkillBySlug(db, contents.name)
      const isFromThere = known?.kind === kind && (kind === 'file' || known.source === source)
      const isAgain = known !== null && isFromThere && known.digest === contents.digest && known.entityId === entity.id
      // What came with an import is installed by any preview of that name. Its agents were chosen for the source that the import named.
      const waits = known?.status === 'imported' && known.entityId === entity.id
      const isOther = waits && !isFromThere
      if (known !== null && !isAgain && !waits) throw new SkillRefused(createMessage('skill_name_taken', { name: contents.name }))
      await folders.keep(skill)
      return transact(db, (tx) => {
        const row =
          known === null
            ? insertSkill(tx, deps, { id: ids.next(), entityId: entity.id, source: storedSource(kind, source), contents })
            : replaceSkill(tx, deps, known.id, contents, {
                allows: waits || expectedDigest !== undefined,
                source: storedSource(kind, source),
              })
        return agents === undefined && !isOther ? row : selectSkill(tx, row.id, agents ?? [])
      })
    })
  }

  async function update(find: () => Skill, { expectedDigest, allows, upload }: GivenUpdate): Promise<SkillUpdated> {
    const { id } = find()
    const origin = originOfUpdate(getSkill(db, id), upload)
    const { skill, contents } = await fetchFrom(origin)
    requireSame(contents, expectedDigest)
    return alone(async () => {
      const before = getSkill(db, id)
      requireName(before, contents)
      const { changes, scriptsChanged } = await compareSkills(await folders.load(before.digest), skill)
      await folders.keep(skill)
      const { kind, source } = nameOrigin(origin)
      const after = transact(db, (tx) => replaceSkill(tx, deps, id, contents, { allows, source: storedSource(kind, source) }))
      await sweep()
      return { ok: true as const, changed: changes.length > 0, scriptsChanged, consentRevoked: after.status === 'needs_consent' }
    })
  }

  async function previewUpdate(find: () => Skill, upload: SkillUpload | undefined): Promise<SkillUpdatePreview> {
    const { id } = find()
    const { skill, contents } = await fetchFrom(originOfUpdate(getSkill(db, id), upload))
    return alone(async () => {
      const before = getSkill(db, id)
      requireName(before, contents)
      const installed = await loadSkill(deps, before)
      const { changes } = await compareSkills(installed, skill)
      if (upload === undefined) transact(db, (tx) => recordCheck(tx, deps, before.id, { digest: contents.digest }))
      return {
        ok: true as const,
        changed: changes.length > 0,
        files: changes,
        permissionsAdded: contents.permissions.filter((permission) => !before.contents.permissions.includes(permission)),
        newFindings: await findNew(installed, skill),
        findingCount: contents.findings.length,
        currentDigest: before.digest,
        upstreamDigest: contents.digest,
      }
    })
  }

  return {
    read: folders.load,

    ...createOwnSkills({ ...deps, alone: (work) => turns.alone(() => refusing('skill_refused', work)), sweep }),

    /**
     * The own skills of an import, after the checks of every install, with their files kept while `work` names them in rows. Throws
     * AppError import_refused.
     */
    async importOwn<T>(setup: Pick<Setup, 'skills'>, work: (own: OwnContents) => T): Promise<T> {
      const own = await refusing('import_refused', () => fetchOwn(setup, fetchFrom))
      return alone(async () => {
        for (const { skill } of own) await folders.keep(skill)
        try {
          return work(new Map(own.map(({ contents }) => [contents.digest, contents])))
        } finally {
          // A preview, and what is here already, needs no files.
          await sweep()
        }
      })
    },

    /** Throws AppError preview_failed. */
    preview: (origin: Origin): Promise<SkillPreview> => refusing('preview_failed', () => previewSkill(deps, origin, patience())),

    /** By folder. Throws AppError preview_failed. */
    browse: (origin: Origin): Promise<FoundSkill[]> => refusing('preview_failed', () => browseSkills(deps, origin, patience())),

    /** Throws AppError install_failed. */
    install: (origin: Origin, given: NewInstall = {}): Promise<Skill> => refusing('install_failed', () => install(origin, given)),

    /** `upload`: a newer version of a skill that came from a file. Throws AppError preview_failed. */
    previewUpdate: (find: () => Skill, upload?: SkillUpload): Promise<SkillUpdatePreview> =>
      refusing('preview_failed', () => previewUpdate(find, upload)),

    /** `allows`: the person has seen the permissions of this version. Throws AppError update_failed. */
    update: (find: () => Skill, given: GivenUpdate): Promise<SkillUpdated> => refusing('update_failed', () => update(find, given)),

    /** Throws AppError acknowledge_failed. */
    acknowledge: (find: () => Skill): Promise<Skill> =>
      alone(() => refusing('acknowledge_failed', async () => transact(db, (tx) => acknowledgeUpdate(tx, find().id)))),

    /** Throws AppError uninstall_failed. */
    uninstall: (find: () => Skill): Promise<void> =>
      alone(() =>
        refusing('uninstall_failed', async () => {
          transact(db, (tx) => deleteSkill(tx, find().id))
          await sweep()
        }),
      ),

    checkDue,

    /** Puts back what a restore needs, deletes what a crash left, and looks for updates once a day. */
    start(): void {
      alone(async () => {
        await restore(deps)
        await sweep()
      }).catch((error: unknown) => log.warn({ error }, 'could not delete what is left of skills'))
      const look = () => void checkDue().catch((error: unknown) => log.warn({ error }, 'could not look for updates of skills'))
      stops.push(clock.every(LOOK_EVERY_MS, look))
    },

    async stop(): Promise<void> {
      for (const stop of stops.splice(0)) stop()
      await turns.stop()
    },
  }
}

/** A skill whose files are gone, and in no backup, is blocked. One whose files are back is not any more. */
async function restore(deps: InstallerDeps): Promise<void> {
  const { db, skillFolders: folders } = deps
  const lost = await restoreSkills(listDigests(db), folders, join(deps.dataDir, BACKUP_FOLDER))
  transact(db, (tx) => {
    for (const skill of listSkills(tx)) {
      if (lost.includes(skill.digest)) blockSkill(tx, deps, skill, { isMissing: true })
      else if (skill.status === 'missing') unblockMissingSkill(tx, skill.id)
    }
  })
}

/** The own skills that an export brings. */
async function fetchOwn(
  { skills }: Pick<Setup, 'skills'>,
  fetchFrom: (origin: Origin) => Promise<ExaminedSkill>,
): Promise<ExaminedSkill[]> {
  const fetched: ExaminedSkill[] = []
  let bytesLeft = MAX_EXPORTED_SKILL_BYTES
  for (const [at, { name, digest, archive }] of skills.entries()) {
    if (archive === null) continue
    const one = await fetchFrom({ upload: { fileName: `${name}.zip`, base64: archive } })
    const isAsSaid = one.contents.name === name && one.contents.digest === digest
    if (!isAsSaid) throw new SkillRefused(createMessage('import_invalid', { where: `skills.${at}` }))
    bytesLeft -= one.contents.totalBytes
    if (bytesLeft < 0) refuseTooLarge(MAX_EXPORTED_SKILL_BYTES)
    fetched.push(one)
  }
  return fetched
}

function requireSame({ digest }: SkillContents, expected: string | undefined): void {
  if (expected !== undefined && expected !== digest) throw new SkillRefused(createMessage('error_skill_has_changed'))
}

/** An update cannot take the place of another skill. */
function requireName({ slug }: Skill, { name }: SkillContents): void {
  if (name !== slug) throw new SkillRefused(createMessage('skill_renamed', { before: slug, after: name }))
}

/** Only a skill from a file is updated from a file. */
function originOfUpdate({ kind, source }: Skill, upload: SkillUpload | undefined): Origin {
  if (kind === 'source' && upload === undefined) return { source }
  if (kind === 'file' && upload !== undefined) return { upload }
  throw new SkillRefused(createMessage('skill_has_no_source', { kind }))
}
