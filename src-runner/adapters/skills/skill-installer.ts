import { transact } from '../../platform/db/transact.ts'
import { GuardedFetchError } from '../../platform/net/guarded-fetch.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Message } from '../../contract/messages.ts'
import type { Skill, SkillContents, SkillPreview, SkillUpdated, SkillUpdatePreview } from '../../contract/skills.ts'
import { AppError, messageOf, required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { findDefaultEntity, findEntity } from '../../domain/entities/entities.ts'
import { compareSkills } from '../../domain/skills/compare-skills.ts'
import { examineSkill, revealText } from '../../domain/skills/examine-skill.ts'
import { loadSkill, type LoadDeps } from '../../domain/skills/load-skill.ts'
import { readSkillHead } from '../../domain/skills/skill-head.ts'
import { SkillRefused, type SkillPackage } from '../../domain/skills/skill-package.ts'
import {
  acknowledgeUpdate,
  deleteSkill,
  findSkillBySlug,
  getSkill,
  insertSkill,
  listSkills,
  listUnchecked,
  recordCheck,
  replaceSkill,
  selectSkill,
} from '../../domain/skills/skills.ts'
import { fetchSkill, isRefusal, type SourceDeps } from './skill-source.ts'

export type SkillInstaller = ReturnType<typeof createSkillInstaller>

type InstallerDeps = SourceDeps & LoadDeps & { ids: Ids; log: Log }

const LOOK_EVERY_MS = 3_600_000
const DAY_MS = 24 * LOOK_EVERY_MS
const FETCH_MS = 180_000

type NewInstall = { source: string; expectedDigest?: string | undefined; entityId?: string | undefined; agents?: string[] | undefined }
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

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }

  async function fetchFrom(source: string): Promise<Fetched> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(FETCH_MS)])
    const { skill, commit } = await fetchSkill(source, deps, signal)
    const contents = examineSkill(skill)
    return { skill, contents: { ...contents, version: contents.version ?? commit?.slice(0, 12) ?? null } }
  }

  const sweep = () => folders.sweep(listSkills(db).map(({ digest }) => digest))

  async function install({ source, expectedDigest, entityId, agents }: NewInstall): Promise<Skill> {
    const entity = entityId === undefined ? findDefaultEntity(db) : required(findEntity(db, entityId), 'entity_not_found')
    const { skill, contents } = await fetchFrom(source)
    requireSame(contents, expectedDigest)
    const known = findSkillBySlug(db, contents.name)
    const isAgain = known !== null && known.source === source && known.digest === contents.digest && known.entityId === entity.id
    if (known !== null && !isAgain) throw new SkillRefused(createMessage('skill_name_taken', { name: contents.name }))
    await folders.keep(skill)
    return transact(db, (tx) => {
      const row =
        known === null
          ? insertSkill(tx, deps, { id: ids.next(), entityId: entity.id, source, contents })
          : replaceSkill(tx, deps, known.id, contents, expectedDigest !== undefined)
      return agents === undefined ? row : selectSkill(tx, row.id, agents)
    })
  }

  async function update(
    skillId: string,
    { expectedDigest, allows }: { expectedDigest?: string | undefined; allows: boolean },
  ): Promise<SkillUpdated> {
    const before = getSkill(db, skillId)
    const { skill, contents } = await fetchFrom(before.source)
    requireSame(contents, expectedDigest)
    requireName(before, contents)
    const { changes, scriptsChanged } = compareSkills(await folders.load(before.digest), skill)
    await folders.keep(skill)
    const after = transact(db, (tx) => replaceSkill(tx, deps, skillId, contents, allows))
    await sweep()
    return { ok: true, changed: changes.length > 0, scriptsChanged, consentRevoked: after.status === 'needs_consent' }
  }

  async function check(skillId: string): Promise<void> {
    const skill = getSkill(db, skillId)
    await loadSkill(deps, skill)
    const found = await fetchFrom(skill.source).then(
      ({ contents }) => ({ digest: contents.digest }),
      (thrown: unknown) => ({ problem: problemOf(thrown) ?? quote(messageOf(thrown)) }),
    )
    if (!stopping.signal.aborted) transact(db, (tx) => recordCheck(tx, deps, skillId, found))
  }

  async function checkDue(): Promise<void> {
    const now = clock.now()
    for (const skillId of listUnchecked(db, { before: now - DAY_MS, now })) {
      if (stopping.signal.aborted) return
      await inTurn(() => check(skillId)).catch((error: unknown) => log.warn({ skillId, error }, 'could not look for an update of a skill'))
    }
  }

  return {
    read: folders.load,

    /** Writes nothing. Throws AppError preview_failed. */
    preview: (source: string): Promise<SkillPreview> =>
      inTurn(() =>
        refusing('preview_failed', async () => {
          const { skill, contents } = await fetchFrom(source)
          const installed = findSkillBySlug(db, contents.name)
          return { source, contents, text: revealText(readSkillHead(skill).text), installedSkillId: installed?.id ?? null }
        }),
      ),

    /** Throws AppError install_failed. */
    install: (given: NewInstall): Promise<Skill> => inTurn(() => refusing('install_failed', () => install(given))),

    /** Throws AppError preview_failed. */
    previewUpdate: (find: () => Skill): Promise<SkillUpdatePreview> =>
      inTurn(() =>
        refusing('preview_failed', async () => {
          const before = find()
          const { skill, contents } = await fetchFrom(before.source)
          requireName(before, contents)
          const { changes } = compareSkills(await loadSkill(deps, before), skill)
          transact(db, (tx) => recordCheck(tx, deps, before.id, { digest: contents.digest }))
          return {
            ...{ ok: true as const, changed: changes.length > 0, files: changes },
            permissionsAdded: contents.permissions.filter((permission) => !before.contents.permissions.includes(permission)),
            ...{ currentDigest: before.digest, upstreamDigest: contents.digest },
          }
        }),
      ),

    /** `allows`: the person has seen the permissions of this version. Throws AppError update_failed. */
    update: (find: () => Skill, given: { expectedDigest?: string | undefined; allows: boolean }): Promise<SkillUpdated> =>
      inTurn(() => refusing('update_failed', () => update(find().id, given))),

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

    /** Deletes what a crash left, and looks for updates once a day. */
    start(): void {
      inTurn(sweep).catch((error: unknown) => log.warn({ error }, 'could not delete what is left of skills'))
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

function requireSame({ digest }: SkillContents, expected: string | undefined): void {
  if (expected !== undefined && expected !== digest) throw new SkillRefused(createMessage('error_skill_has_changed'))
}

/** An update cannot take the place of another skill. */
function requireName({ slug }: Skill, { name }: SkillContents): void {
  if (name !== slug) throw new SkillRefused(createMessage('skill_renamed', { before: slug, after: name }))
}

/** Every expected refusal becomes the error of the route. */
async function refusing<T>(code: ErrorCode, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const problem = problemOf(thrown)
    throw problem === null ? thrown : new AppError(code, problem, { cause: thrown })
  }
}

const MISSING = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG']

/** null: it is not about the skill or its source. */
function problemOf(thrown: unknown): Message | null {
  if (isRefusal(thrown) || thrown instanceof AppError) return thrown.detail
  if (thrown instanceof GuardedFetchError) return quote(thrown.message)
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') return createMessage('skill_source_slow')
  return MISSING.includes((thrown as NodeJS.ErrnoException).code ?? '') ? createMessage('skill_source_missing') : null
}
