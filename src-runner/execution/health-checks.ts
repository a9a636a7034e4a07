import type { Message } from '../contract/messages.ts'
import { problemOf } from '../lib/errors.ts'
import { englishText } from '../lib/messages.ts'
import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import type { Database } from '../platform/db/database.ts'
import { DATABASE_TROUBLE_WORDS } from '../contract/database.ts'
import {
  DOCTOR_FIXES,
  LEFT_OUT_WORDS,
  type HealthCheck,
  type HealthFinding,
  type HealthFix,
  type LeftOutFolder,
} from '../contract/doctor.ts'
import type { PublicAddress } from '../contract/public-address.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Vault } from '../lib/vault.ts'
import { listAgentsUsingProvider } from '../domain/agents/agents.ts'
import { listChannels } from '../domain/channels/channels.ts'
import { countPending } from '../domain/outbox/outbox.ts'
import { listProviders } from '../domain/providers/providers.ts'
import { isAllPaused, readSettings } from '../domain/settings/settings.ts'
import type { Models } from '../agent/providers/model-source.ts'

export type HealthCheckDeps = {
  db: Database
  clock: Clock
  dataDir: string
  vault: Pick<Vault, 'get'>
  findSandbox(): Promise<SandboxState>
  findPrograms(): Promise<FoundPrograms>
  hasTrash: boolean
  models: Pick<Models, 'listModels'>
  /** When a schedule is due next, which may be past; null: never. */
  nextDueAt(): number | null
  safeMode: boolean
  publicAddress(): PublicAddress | null
}

/** `unasked`: the person's shell did not say where they are. `agentsWrite`: it was not asked, because an agent can write its files. */
export type FoundPrograms = {
  names: readonly string[]
  used: readonly string[]
  leftOut: readonly LeftOutFolder[]
  isOn: boolean
  unasked: { shell: string | null; agentsWrite?: boolean } | null
}

type Finding = Omit<HealthCheck, 'name'>
type Look = (deps: HealthCheckDeps) => Finding | Promise<Finding>

const TIMEOUT_MS = 1800
const GIGABYTE = 1_000_000_000
const MEGABYTE = 1_000_000
const LITTLE_SPACE = 2 * GIGABYTE
const NO_SPACE = 200 * MEGABYTE
/** Checkpoints truncate the log to 16 MB, so a much larger one means that they cannot finish. */
const LARGE_LOG = 256 * MEGABYTE
/** Due times are checked every half minute. */
const OVERDUE_MS = 120_000
/** Never set: the check only needs an answer. */
const UNUSED_KEY = 'doctor'

/** Checks everything at the same time and changes nothing. */
export async function examine(deps: HealthCheckDeps): Promise<HealthCheck[]> {
  const names = Object.keys(LOOKS) as HealthCheck['name'][]
  return Promise.all(names.map(async (name) => ({ name, ...(await inTime(deps, LOOKS[name])) })))
}

async function inTime(deps: HealthCheckDeps, look: Look): Promise<Finding> {
  const over = new AbortController()
  const late = deps.clock.sleep(TIMEOUT_MS, over.signal).then(
    () => warning({ code: 'no_answer' }, 'This did not answer within two seconds.', 'look_again'),
    () => ok({ code: 'no_answer' }, ''),
  )
  try {
    return await Promise.race([Promise.resolve().then(() => look(deps)), late])
  } catch (error) {
    return problem({ code: 'broke', why: problemOf(error) }, messageOf(error), 'look_again')
  } finally {
    over.abort(new Error('this has been looked at'))
  }
}

const LOOKS: Record<HealthCheck['name'], Look> = {
  database({ db }) {
    const trouble = db.trouble()
    if (trouble !== null) {
      const { title, detail } = DATABASE_TROUBLE_WORDS[trouble]
      return problem({ code: 'database_trouble', trouble }, `${title}. ${detail}`, `database_${trouble}`)
    }
    const bytes = statSync(db.file).size
    const logBytes = statSync(`${db.file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    const found = `Reads and answers. ${sizeOf(bytes)}, and ${sizeOf(logBytes)} of changes on their way into it.`
    const finding = { code: 'database_answers', bytes, logBytes } as const
    return logBytes > LARGE_LOG ? warning(finding, found, 'restart') : ok(finding, found)
  },

  async disk({ dataDir }) {
    const { bavail, bsize } = await statfs(dataDir)
    const free = bavail * bsize
    const found = `${sizeOf(free)} are free where Deckhand keeps its data (${dataDir}).`
    const finding = { code: 'disk_free', bytes: free, folder: dataDir } as const
    if (free >= LITTLE_SPACE) return ok(finding, found)
    return free < NO_SPACE ? problem(finding, found, 'free_space') : warning(finding, found, 'free_space')
  },

  async sandbox({ findSandbox }) {
    const { kind, works, reason, advice, network } = await findSandbox()
    if (kind === 'none' || !works) {
      const found = `Agents cannot run programs. ${reason === null ? '' : englishText(reason)}`.trim()
      return warning({ code: 'sandbox_missing', why: reason }, found, { advice })
    }
    const found = `Programs of agents are held in by ${kind === 'seatbelt' ? 'Seatbelt' : 'bubblewrap'}.`
    if (network.works) {
      const more = "They reach the internet where a rule opens it, and never this machine's own servers."
      return ok({ code: 'sandbox_works', sandbox: kind }, `${found} ${more}`)
    }
    return warning(
      { code: 'sandbox_without_network', sandbox: kind, why: network.reason },
      `${found} They have no network. ${network.reason === null ? '' : englishText(network.reason)}`.trim(),
      { advice: network.advice },
    )
  },

  async programs({ findPrograms }) {
    const { isOn, unasked, ...rest } = await findPrograms()
    const [names, used, leftOut] = [[...rest.names], [...rest.used], [...rest.leftOut]]
    const there = names.length === 0 ? 'None of the well-known programs is here.' : `Agents can run ${names.join(', ')} and others.`
    if (!isOn)
      return ok({ code: 'programs_of_system', names }, `${there} Those that you have installed in your home are not shown to them.`)
    const own = used.length === 0 ? '' : ` Of yours, from ${used.join(', ')}: without your logins and settings.`
    const without =
      leftOut.length === 0 ? '' : ` Left out: ${leftOut.map(({ folder, why }) => `${folder} (${LEFT_OUT_WORDS[why]})`).join(', ')}.`
    const found = `${there}${own}${without}`
    if (unasked === null) return ok({ code: 'programs_found', names, used, leftOut }, found)
    if (unasked.agentsWrite) {
      const open = { code: 'programs_shell_open', shell: unasked.shell, names, used, leftOut } as const
      const why = 'because an agent may write files that it reads. Give agents folders that do not hold your home or its settings.'
      return warning(open, `Your shell (${unasked.shell ?? 'none'}) is not asked where your programs are, ${why} ${found}`, {
        advice: null,
      })
    }
    const finding = { code: 'programs_unasked', shell: unasked.shell, names, used, leftOut } as const
    return warning(finding, `Your shell (${unasked.shell ?? 'none'}) did not say where your programs are. ${found}`, 'look_at_shell')
  },

  trash: ({ hasTrash }) =>
    hasTrash
      ? ok({ code: 'trash_works' }, 'What agents delete goes to the trash of this system.')
      : warning(
          { code: 'trash_missing' },
          'This system has no trash that Deckhand can use. What agents delete is gone from its folder.',
          'put_back',
        ),

  async keychain({ vault }) {
    try {
      await vault.get(UNUSED_KEY)
      return ok({ code: 'keychain_works' }, 'Keys and tokens can be read and written.')
    } catch (error) {
      return problem({ code: 'keychain_shut', words: messageOf(error) }, messageOf(error), 'unlock_keychain')
    }
  },

  async models({ db, models }) {
    const { defaultModel } = readSettings(db)
    const used = listProviders(db).filter(({ id }) => id === defaultModel?.providerId || listAgentsUsingProvider(db, id).length > 0)
    if (used.length === 0) return problem({ code: 'no_model' }, 'No model is chosen, so agents cannot work.', 'choose_model')
    const providers = used.filter(({ kind }) => kind !== 'demo')
    if (providers.length === 0) {
      return warning({ code: 'demo_model' }, 'Agents work with the demo model, which only plays its part.', 'add_provider')
    }
    const { problems } = await models.listModels(providers)
    if (problems.length === 0) {
      const names = providers.map(({ name }) => name)
      return ok({ code: 'models_answer', names }, `${names.join(', ')} ${names.length === 1 ? 'answers' : 'answer'}.`)
    }
    const found = problems.map(({ providerName, message }) => `${providerName}: ${englishText(message)}`).join(' ')
    const failures = problems.map(({ providerName, message }) => ({ name: providerName, why: message }))
    const finding = { code: 'models_fail', failures } as const
    return problems.length === providers.length ? problem(finding, found, 'look_at_provider') : warning(finding, found, 'look_at_provider')
  },

  schedules({ db, clock, nextDueAt, safeMode }) {
    const at = nextDueAt()
    if (safeMode) return warning({ code: 'safe_mode' }, 'Safe mode: nothing runs by the clock.', 'leave_safe_mode')
    if (isAllPaused(db)) return warning({ code: 'pause_all_on' }, 'All agents are paused: due runs wait.', 'release_pause_all')
    if (at === null) return ok({ code: 'nothing_due' }, 'Nothing is due: there is no active schedule.')
    const lateMs = clock.now() - at
    if (lateMs <= OVERDUE_MS) return ok({ code: 'clock_watched' }, 'The clock is watched: the next run starts at its time.')
    const minutes = Math.round(lateMs / 60_000)
    return problem({ code: 'overdue', minutes }, `A run has been due for ${minutes} minutes.`, 'restart_or_logs')
  },

  channels({ db }) {
    const channels = listChannels(db).filter(({ enabled }) => enabled)
    const pending = countPending(db)
    const waiting = pending === 0 ? '' : ` ${pending} ${pending === 1 ? 'message waits' : 'messages wait'} to be sent.`
    if (channels.length === 0) return ok({ code: 'no_channel', waiting: pending }, `No channel is on.${waiting}`)
    const broken = channels.filter(({ status }) => status !== 'open')
    if (broken.length === 0) {
      const names = channels.map(({ name }) => name)
      return ok({ code: 'channels_work', names, waiting: pending }, `${names.join(', ')}: the last round trip worked.${waiting}`)
    }
    const found =
      broken.map(({ name, problem: why, status }) => `${name}: ${why === null ? STATUS_WORDS[status] : englishText(why)}`).join(' ') +
      waiting
    const failures = broken.map(({ name, problem: why, status }) => ({ name, status, why }))
    const finding = { code: 'channels_fail', failures, waiting: pending } as const
    const isOut = broken.some(({ status }) => status === 'logged_out')
    return isOut ? problem(finding, found, 'new_token') : warning(finding, found, 'waits_by_itself')
  },

  public_address({ publicAddress }) {
    const address = publicAddress()
    if (address === null || address.url === null) {
      return ok({ code: 'only_here' }, 'Only this machine reaches webhooks. That is all right for programs on it.')
    }
    const { url } = address
    const { state, problem: why } = address.check
    if (state === 'unreachable' || state === 'exposed')
      return problem({ code: 'address_unreachable', why }, why === null ? '' : englishText(why), 'look_at_address')
    if (state === 'reachable') return ok({ code: 'address_works', url }, `A delivery to ${url} comes in here.`)
    return warning({ code: 'address_unchecked', url }, `${url} has not been checked yet.`, 'check_address')
  },
}

const STATUS_WORDS = {
  off: 'it is off.',
  connecting: 'it is being connected.',
  open: 'it works.',
  failing: 'it does not answer.',
  logged_out: 'its token is refused.',
} as const

function sizeOf(bytes: number): string {
  if (bytes >= GIGABYTE) return `${(bytes / GIGABYTE).toFixed(1)} GB`
  return bytes >= MEGABYTE ? `${(bytes / MEGABYTE).toFixed(1)} MB` : `${Math.ceil(bytes / 1000)} kB`
}

type Fix = Exclude<HealthFix, 'sandbox'> | { advice: Message | null }

function fixOf(fix: Fix): Pick<Finding, 'fix' | 'fixKind' | 'advice'> {
  if (typeof fix === 'string') return { fix: DOCTOR_FIXES[fix], fixKind: fix }
  return fix.advice === null ? { fix: '' } : { fix: englishText(fix.advice), fixKind: 'sandbox', advice: fix.advice }
}

function ok(finding: HealthFinding, found: string): Finding {
  return { state: 'ok', found, fix: '', finding }
}

function warning(finding: HealthFinding, found: string, fix: Fix): Finding {
  return { state: 'warning', found, finding, ...fixOf(fix) }
}

function problem(finding: HealthFinding, found: string, fix: Fix): Finding {
  return { state: 'problem', found, finding, ...fixOf(fix) }
}
