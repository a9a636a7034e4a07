import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import type { Services } from '../platform/services.ts'
import type { BackupState } from '../contract/backups.ts'
import type { HealthCheck, LeftOutFolder } from '../contract/doctor.ts'
import type { Message } from '../contract/messages.ts'
import type { PublicAddressState } from '../contract/public-address.ts'
import { problemOf } from '../lib/errors.ts'
import { createMessage, joinSentences } from '../lib/messages.ts'
import type { Vault } from '../lib/vault.ts'
import { listAgentsUsingProvider } from '../domain/agents/agents.ts'
import { listChannels } from '../domain/channels/channels.ts'
import { countPending } from '../domain/outbox/outbox.ts'
import { listProviders } from '../domain/providers/providers.ts'
import { isAllPaused, readSettings } from '../domain/settings/settings.ts'
import type { Models } from '../agent/providers/model-source.ts'

export type HealthCheckDeps = Pick<Services, 'db' | 'clock'> & {
  dataDir: string
  vault: Pick<Vault, 'get'>
  findSandbox(): Promise<SandboxState>
  findPrograms(): Promise<FoundPrograms>
  hasTrash: boolean
  models: Pick<Models, 'listModels'>
  readBackups(): Pick<BackupState, 'backups' | 'lastProblem'>
  /** When a schedule is due next, which may be past; null: never. */
  nextDueAt(): number | null
  safeMode: boolean
  publicAddress(): PublicAddressState | null
}

export type FoundPrograms = {
  names: readonly string[]
  used: readonly string[]
  leftOut: readonly LeftOutFolder[]
  isOn: boolean
}

type Finding = Omit<HealthCheck, 'name'>
type Check = (deps: HealthCheckDeps) => Finding | Promise<Finding>

const TIMEOUT_MS = 1800
const GIGABYTE = 1_000_000_000
const MEGABYTE = 1_000_000
const LITTLE_SPACE = 2 * GIGABYTE
const NO_SPACE = 200 * MEGABYTE
/** Checkpoints truncate the log to 16 MB, so a much larger one means that they cannot finish. */
const LARGE_LOG = 256 * MEGABYTE
/** Due times are checked every half minute. */
const OVERDUE_MS = 120_000
const DAY_MS = 24 * 3_600_000
const OLD_BACKUP_DAYS = 3
/** Never set: the check only needs an answer. */
const UNUSED_KEY = 'doctor'

/** Runs all checks at the same time. They change nothing. */
export async function examine(deps: HealthCheckDeps): Promise<HealthCheck[]> {
  const names = Object.keys(CHECKS) as HealthCheck['name'][]
  return Promise.all(names.map(async (name) => ({ name, ...(await runInTime(deps, CHECKS[name])) })))
}

async function runInTime(deps: HealthCheckDeps, check: Check): Promise<Finding> {
  const over = new AbortController()
  const late = deps.clock.sleep(TIMEOUT_MS, over.signal).then(
    () => warning(createMessage('check_no_response'), createMessage('fix_check_again')),
    () => ok(createMessage('check_no_response')),
  )
  try {
    return await Promise.race([Promise.resolve().then(() => check(deps)), late])
  } catch (error) {
    return problem(problemOf(error), createMessage('fix_check_again'))
  } finally {
    over.abort(new Error('the check is done'))
  }
}

const CHECKS: Record<HealthCheck['name'], Check> = {
  database({ db }) {
    const trouble = db.trouble()
    if (trouble !== null) return problem(createMessage(`database_${trouble}`), createMessage(`database_${trouble}_fix`))
    const logSize = statSync(`${db.file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    const finding = createMessage('check_database', { size: statSync(db.file).size, logSize })
    return logSize > LARGE_LOG ? warning(finding, createMessage('fix_restart')) : ok(finding)
  },

  backups({ clock, readBackups }) {
    const { backups, lastProblem } = readBackups()
    if (lastProblem !== null) return problem(lastProblem, createMessage('fix_backups'))
    const now = clock.now()
    // One from the future was made while the clock was wrong.
    const newest = backups.find(({ at }) => at <= now)
    if (newest === undefined) return ok(createMessage('check_no_backup'))
    const days = Math.floor((now - newest.at) / DAY_MS)
    const finding = createMessage('check_backups', { days, count: backups.length })
    return days < OLD_BACKUP_DAYS ? ok(finding) : warning(finding, createMessage('fix_backups_old'))
  },

  async disk({ dataDir }) {
    const { bavail, bsize } = await statfs(dataDir)
    const free = bavail * bsize
    const finding = createMessage('check_disk', { free, folder: dataDir })
    if (free >= LITTLE_SPACE) return ok(finding)
    return (free < NO_SPACE ? problem : warning)(finding, createMessage('fix_free_space'))
  },

  async sandbox({ findSandbox }) {
    const { kind: sandbox, works, reason, advice, network } = await findSandbox()
    if (sandbox === 'none' || !works) return warning(joinSentences(createMessage('check_no_sandbox'), reason), advice)
    if (network.works) return ok(createMessage('check_sandbox', { sandbox }))
    return warning(joinSentences(createMessage('check_sandbox_offline', { sandbox }), network.reason), network.advice)
  },

  async programs({ findPrograms }) {
    const { names, used, leftOut, isOn } = await findPrograms()
    const known = names.length === 0 ? createMessage('check_no_programs') : createMessage('check_programs', { names: [...names] })
    if (!isOn) return ok(joinSentences(known, createMessage('check_programs_own_off')))
    const own = used.length === 0 ? null : createMessage('check_programs_own', { folders: [...used] })
    const reasons = [...Map.groupBy(leftOut, ({ why }) => why)]
    const folders = reasons.map(([why, same]) => createMessage('check_program_folder', { folders: same.map(({ folder }) => folder), why }))
    const without = folders.length === 0 ? null : createMessage('check_programs_left_out', { folders })
    return ok(joinSentences(known, own, without))
  },

  trash: ({ hasTrash }) =>
    hasTrash ? ok(createMessage('check_trash')) : warning(createMessage('check_no_trash'), createMessage('fix_restore_from_job')),

  async keychain({ vault }) {
    try {
      await vault.get(UNUSED_KEY)
      return ok(createMessage('keychain_ok'))
    } catch (error) {
      return problem(problemOf(error), createMessage('fix_unlock_keychain'))
    }
  },

  async models({ db, models }) {
    const { defaultModel } = readSettings(db)
    const used = listProviders(db).filter(({ id }) => id === defaultModel?.providerId || listAgentsUsingProvider(db, id).length > 0)
    if (used.length === 0) return problem(createMessage('check_no_model'), createMessage('fix_choose_model'))
    const providers = used.filter(({ kind }) => kind !== 'demo')
    if (providers.length === 0) return warning(createMessage('check_demo_model'), createMessage('fix_add_provider'))
    const { problems } = await models.listModels(providers)
    if (problems.length === 0) {
      return ok(createMessage('check_models', { names: providers.map(({ name }) => name), count: providers.length }))
    }
    const failures = problems.map(({ providerName, message }) => createMessage('check_failed', { name: providerName, problem: message }))
    return (problems.length === providers.length ? problem : warning)(joinSentences(...failures), createMessage('fix_provider'))
  },

  schedules({ db, clock, nextDueAt, safeMode }) {
    const at = nextDueAt()
    if (safeMode) return warning(createMessage('check_safe_mode'), createMessage('fix_leave_safe_mode'))
    if (isAllPaused(db)) return warning(createMessage('check_all_paused'), createMessage('fix_resume_all'))
    if (at === null) return ok(createMessage('check_nothing_due'))
    const lateMs = clock.now() - at
    if (lateMs <= OVERDUE_MS) return ok(createMessage('check_schedules'))
    return problem(createMessage('check_overdue', { minutes: Math.round(lateMs / 60_000) }), createMessage('fix_restart_or_logs'))
  },

  channels({ db }) {
    const channels = listChannels(db).filter(({ enabled }) => enabled)
    const pending = countPending(db)
    const waiting = pending === 0 ? null : createMessage('check_messages_waiting', { count: pending })
    if (channels.length === 0) return ok(joinSentences(createMessage('check_no_channel'), waiting))
    const broken = channels.filter(({ status }) => status !== 'open')
    if (broken.length === 0) {
      return ok(joinSentences(createMessage('check_channels', { names: channels.map(({ name }) => name) }), waiting))
    }
    const failures = broken.map(({ name, problem: why, status }) =>
      createMessage('check_failed', { name, problem: why ?? createMessage('check_channel_status', { status }) }),
    )
    const isLoggedOut = broken.some(({ status }) => status === 'logged_out')
    const finding = joinSentences(...failures, waiting)
    return isLoggedOut ? problem(finding, createMessage('fix_new_token')) : warning(finding, createMessage('fix_wait'))
  },

  public_address({ publicAddress }) {
    const address = publicAddress()
    if (address === null || address.url === null) return ok(createMessage('check_no_public_address'))
    const { url, check } = address
    if (check.state === 'reachable') return ok(createMessage('check_public_address', { url }))
    if (check.state === 'unreachable' || check.state === 'exposed') {
      return problem(check.problem ?? createMessage(`address_${check.state}`), createMessage('fix_public_address'))
    }
    return warning(createMessage('check_public_address_unchecked', { url }), createMessage('fix_public_address'))
  },
}

function ok(finding: Message): Finding {
  return { state: 'ok', finding, fix: null }
}

function warning(finding: Message, fix: Message | null): Finding {
  return { state: 'warning', finding, fix }
}

function problem(finding: Message, fix: Message): Finding {
  return { state: 'problem', finding, fix }
}
