import { join } from 'node:path'
import type { PackedFile } from '../../platform/archives/archive-entries.ts'
import { BACKUP_FOLDER } from '../../platform/db/backup-files.ts'
import { transact } from '../../platform/db/database.ts'
import { GuardedFetchError } from '../../platform/net/guarded-fetch.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Setup } from '../../contract/export.ts'
import type { Message } from '../../contract/messages.ts'
import type {
  FoundSkill,
  Skill,
  SkillContents,
  SkillPreview,
  SkillUpdated,
  SkillUpdatePreview,
  SkillUpload,
} from '../../contract/skills.ts'
import { AppError, messageOf, required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { findDefaultEntity, findEntity } from '../../domain/entities/entities.ts'
import { compareSkills } from '../../domain/skills/compare-skills.ts'
import { examineSkill, findNew, revealText } from '../../domain/skills/examine-skill.ts'
import { loadSkill, type LoadDeps } from '../../domain/skills/load-skill.ts'
import { readSkillHead, SKILL_FILE } from '../../domain/skills/skill-head.ts'
import { isScript, type SkillPackage, SkillRefused, textOf } from '../../domain/skills/skill-package.ts'
import {
  acknowledgeUpdate,
  blockSkill,
  deleteSkill,
  findSkillBySlug,
  getSkill,
  insertSkill,
  listSkills,
  listUnchecked,
  recordCheck,
  replaceSkill,
  selectSkill,
  storedSource,
  unblockMissingSkill,
} from '../../domain/skills/skills.ts'
import type { OwnContents } from '../../execution/import-skills.ts'
import { listDigests, restoreSkills } from '../../execution/skill-backups.ts'
import { createOwnSkills } from './own-skills.ts'
import { fetchHeads, fetchSkill, isMissingFile, isRefusal, type Origin, type SourceDeps } from './skill-source.ts'

export type SkillInstaller = ReturnType<typeof createSkillInstaller>

type InstallerDeps = SourceDeps & LoadDeps & { ids: Ids; log: Log }

const LOOK_EVERY_MS = 3_600_000
const DAY_MS = 24 * LOOK_EVERY_MS
const FETCH_MS = 180_000

type NewInstall = { expectedDigest?: string | undefined; entityId?: string | undefined; agents?: readonly string[] | undefined }
type GivenUpdate = { expectedDigest?: string | undefined; allows: boolean; upload?: SkillUpload | undefined }
type Fetched = { skill: SkillPackage; contents: SkillContents }

/**
 * Installs, updates and removes skills, one after another. The files of a version are on disk before the row names it, and those of the
 * version before go afterwards: a crash at any moment leaves one whole version. Nothing of a skill runs here.
 */
export function createSkillInstaller(deps: InstallerDeps) {
  const { db, clock, ids, log, skillFolders: folders } = deps
  const stopping = new AbortController()
  const stops: (() => void)[] = []
  let last: Promise<unknown> = Promise.resolve()

  /** What changes rows and folders runs alone. Sources are read before, so that a slow one holds nobody up. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(() => {
      stopping.signal.throwIfAborted()
      return work()
    })
    last = turn.catch(() => {})
    return turn
  }

  const patience = () => AbortSignal.any([stopping.signal, AbortSignal.timeout(FETCH_MS)])

  async function fetchFrom(origin: Origin): Promise<Fetched> {
    const { skill, commit } = await fetchSkill(origin, deps, patience())
    const contents = await examineSkill(skill)
    return { skill, contents: { ...contents, version: contents.version ?? commit?.slice(0, 12) ?? null } }
  }

  const sweep = () => folders.sweep(listSkills(db).map(({ digest }) => digest))

  /** A skill whose files are gone, and in no backup, is blocked. One whose files are back is not any more. */
  async function restore(): Promise<void> {
    const lost = await restoreSkills(listDigests(db), folders, join(deps.dataDir, BACKUP_FOLDER))
    transact(db, (tx) => {
      for (const skill of listSkills(tx)) {
        if (lost.includes(skill.digest)) blockSkill(tx, deps, skill, { isMissing: true })
        else if (skill.status === 'missing') unblockMissingSkill(tx, skill.id)
      }
    })
  }

  async function install(origin: Origin, { expectedDigest, entityId, agents }: NewInstall): Promise<Skill> {
    const entity = entityId === undefined ? findDefaultEntity(db) : required(findEntity(db, entityId), 'entity_not_found')
    const { skill, contents } = await fetchFrom(origin)
    requireSame(contents, expectedDigest)
    const { kind, source } = nameOrigin(origin)
    return inTurn(async () => {
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
    return inTurn(async () => {
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
    return inTurn(async () => {
      const before = getSkill(db, id)
      requireName(before, contents)
      const installed = await loadSkill(deps, before)
      const { changes } = await compareSkills(installed, skill)
      if (upload === undefined) transact(db, (tx) => recordCheck(tx, deps, before.id, { digest: contents.digest }))
      return {
        ...{ ok: true as const, changed: changes.length > 0, files: changes },
        permissionsAdded: contents.permissions.filter((permission) => !before.contents.permissions.includes(permission)),
        ...{ newFindings: await findNew(installed, skill), findingCount: contents.findings.length },
        ...{ currentDigest: before.digest, upstreamDigest: contents.digest },
      }
    })
  }

  function findInstalled(name: string): string | null {
    const skill = findSkillBySlug(db, name)
    return skill === null || skill.status === 'imported' ? null : skill.id
  }

  async function browse(origin: Origin): Promise<FoundSkill[]> {
    const heads = await fetchHeads(origin, deps, patience())
    if (heads.length === 0) throw new SkillRefused(createMessage('skill_file_missing'))
    return heads.map(({ folder, source, file }) => {
      const { name, description, problem } = readFound(folder, file)
      return { folder, source, name, description, problem, installedSkillId: findInstalled(name) }
    })
  }

  async function check(skillId: string): Promise<void> {
    const skill = getSkill(db, skillId)
    await inTurn(() => loadSkill(deps, skill))
    const found =
      skill.kind !== 'source'
        ? { digest: skill.digest }
        : await fetchFrom(skill).then(
            ({ contents }) => ({ digest: contents.digest }),
            (thrown: unknown) => ({ problem: problemOf(thrown) ?? quote(messageOf(thrown)) }),
          )
    // What was found is about this version.
    await inTurn(async () => {
      if (getSkill(db, skillId).digest === skill.digest) transact(db, (tx) => recordCheck(tx, deps, skillId, found))
    })
  }

  async function checkDue(): Promise<void> {
    const now = clock.now()
    for (const skillId of listUnchecked(db, { before: now - DAY_MS, now })) {
      if (stopping.signal.aborted) return
      await check(skillId).catch((error: unknown) => log.warn({ skillId, error }, 'could not look for an update of a skill'))
    }
  }

  return {
    read: folders.load,

    ...createOwnSkills({ ...deps, alone: (work) => inTurn(() => refusing('skill_refused', work)), sweep }),

    /**
     * The own skills of an import, after the checks of every install, with their files kept while `work` names them in rows. Throws
     * AppError import_refused.
     */
    async importOwn<T>(setup: Pick<Setup, 'skills'>, work: (own: OwnContents) => T): Promise<T> {
      const own = await refusing('import_refused', async () => {
        const fetched: Fetched[] = []
        for (const [at, { name, digest, archive }] of setup.skills.entries()) {
          if (archive === null) continue
          const one = await fetchFrom({ upload: { fileName: `${name}.zip`, base64: archive } })
          const isAsSaid = one.contents.name === name && one.contents.digest === digest
          if (!isAsSaid) throw new SkillRefused(createMessage('import_invalid', { where: `skills.${at}` }))
          fetched.push(one)
        }
        return fetched
      })
      return inTurn(async () => {
        for (const { skill } of own) await folders.keep(skill)
        try {
          return work(new Map(own.map(({ contents }) => [contents.digest, contents])))
        } finally {
          // A preview, and what is here already, needs no files.
          await sweep()
        }
      })
    },

    /** Writes nothing. Throws AppError preview_failed. */
    preview: (origin: Origin): Promise<SkillPreview> =>
      refusing('preview_failed', async () => {
        const { skill, contents } = await fetchFrom(origin)
        const { source } = nameOrigin(origin)
        const text = revealText(readSkillHead(skill).text)
        return { source, contents, text, texts: textsOf(skill), installedSkillId: findInstalled(contents.name) }
      }),

    /** By folder. Writes nothing. Throws AppError preview_failed. */
    browse: (origin: Origin): Promise<FoundSkill[]> => refusing('preview_failed', () => browse(origin)),

    /** Throws AppError install_failed. */
    install: (origin: Origin, given: NewInstall = {}): Promise<Skill> => refusing('install_failed', () => install(origin, given)),

    /** `upload`: a newer version of a skill that came from a file. Throws AppError preview_failed. */
    previewUpdate: (find: () => Skill, upload?: SkillUpload): Promise<SkillUpdatePreview> =>
      refusing('preview_failed', () => previewUpdate(find, upload)),

    /** `allows`: the person has seen the permissions of this version. Throws AppError update_failed. */
    update: (find: () => Skill, given: GivenUpdate): Promise<SkillUpdated> => refusing('update_failed', () => update(find, given)),

    /** Throws AppError acknowledge_failed. */
    acknowledge: (find: () => Skill): Promise<Skill> =>
      inTurn(() => refusing('acknowledge_failed', async () => transact(db, (tx) => acknowledgeUpdate(tx, find().id)))),

    /** Throws AppError uninstall_failed. */
    uninstall: (find: () => Skill): Promise<void> =>
      inTurn(() =>
        refusing('uninstall_failed', async () => {
          transact(db, (tx) => deleteSkill(tx, find().id))
          await sweep()
        }),
      ),

    checkDue,

    /** Puts back what a restore needs, deletes what a crash left, and looks for updates once a day. */
    start(): void {
      inTurn(async () => {
        await restore()
        await sweep()
      }).catch((error: unknown) => log.warn({ error }, 'could not delete what is left of skills'))
      const look = () => void checkDue().catch((error: unknown) => log.warn({ error }, 'could not look for updates of skills'))
      stops.push(clock.every(LOOK_EVERY_MS, look))
    },

    async stop(): Promise<void> {
      for (const stop of stops.splice(0)) stop()
      stopping.abort(new Error('the runner stops'))
      await last
    },
  }
}

const MAX_TEXTS_CHARS = 1_000_000

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

function requireSame({ digest }: SkillContents, expected: string | undefined): void {
  if (expected !== undefined && expected !== digest) throw new SkillRefused(createMessage('error_skill_has_changed'))
}

/** An update cannot take the place of another skill. */
function requireName({ slug }: Skill, { name }: SkillContents): void {
  if (name !== slug) throw new SkillRefused(createMessage('skill_renamed', { before: slug, after: name }))
}

/** How an origin is shown and kept. */
function nameOrigin(origin: Origin): { kind: 'source' | 'file'; source: string } {
  if ('source' in origin) return { kind: 'source', source: origin.source }
  return { kind: 'file', source: visibleText(origin.upload.fileName).replace(/\s+/g, ' ').trim() }
}

/** Only a skill from a file is updated from a file. */
function originOfUpdate({ kind, source }: Skill, upload: SkillUpload | undefined): Origin {
  if (kind === 'source' && upload === undefined) return { source }
  if (kind === 'file' && upload !== undefined) return { upload }
  throw new SkillRefused(createMessage('skill_has_no_source', { kind }))
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

/** Every expected refusal becomes the error of the route. */
async function refusing<T>(code: ErrorCode, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    // The routes of own skills have other codes as well.
    const isKept = code === 'skill_refused' && thrown instanceof AppError
    const problem = isKept ? null : problemOf(thrown)
    throw problem === null ? thrown : new AppError(code, problem, { cause: thrown })
  }
}

/** null: it is not about the skill or its source. */
function problemOf(thrown: unknown): Message | null {
  if (isRefusal(thrown) || thrown instanceof AppError) return thrown.detail
  if (thrown instanceof GuardedFetchError) return quote(thrown.message)
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') return createMessage('skill_source_slow')
  return isMissingFile(thrown) ? createMessage('skill_source_missing') : null
}
