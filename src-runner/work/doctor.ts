import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { BoxState } from '../base/box/box-types.ts'
import type { Database } from '../base/db/database.ts'
import { DATABASE_TROUBLE_WORDS } from '../contract/database.ts'
import {
  DOCTOR_FIXES,
  LEFT_OUT_WORDS,
  type DoctorCheck,
  type DoctorFinding,
  type DoctorFix,
  type LeftOutFolder,
} from '../contract/doctor.ts'
import type { PublicAddress } from '../contract/public-address.ts'
import type { Clock } from '../kit/clock.ts'
import { messageOf } from '../kit/errors.ts'
import { saidAs } from '../kit/said.ts'
import type { Vault } from '../kit/vault.ts'
import { listAgentsUsingProvider } from '../records/agents/agents.ts'
import { listChannels } from '../records/channels/channels.ts'
import { countPending } from '../records/outbox/outbox.ts'
import { listProviders } from '../records/providers/providers.ts'
import { isBrakeOn, readSettings } from '../records/settings/settings.ts'
import type { Models } from '../thinking/models/model-source.ts'

export type DoctorDeps = {
  db: Database
  clock: Clock
  dataDir: string
  vault: Pick<Vault, 'get'>
  findBox(): Promise<BoxState>
  findPrograms(): Promise<FoundPrograms>
  hasTrash: boolean
  models: Pick<Models, 'listModels'>
  /** When a schedule is due next, which may be past; null: never. */
  nextDueAt(): number | null
  safeMode: boolean
  publicAddress(): PublicAddress | null
}

/** `unasked`: the person's shell did not say where they are; it is called that. `agentsWrite`: it was not asked. */
export type FoundPrograms = {
  names: readonly string[]
  used: readonly string[]
  leftOut: readonly LeftOutFolder[]
  isOn: boolean
  unasked: { shell: string | null; agentsWrite?: boolean } | null
}

type Finding = Omit<DoctorCheck, 'name'>
type Look = (deps: DoctorDeps) => Finding | Promise<Finding>

/** Nobody waits longer for a page that says what is wrong. */
const PATIENCE_MS = 1800
const GIGABYTE = 1_000_000_000
const MEGABYTE = 1_000_000
const LITTLE_SPACE = 2 * GIGABYTE
const NO_SPACE = 200 * MEGABYTE
/** After each checkpoint the log is cut back to 16 MB: one that is many times larger finds no moment for it. */
const LARGE_LOG = 256 * MEGABYTE
/** A due time is looked at within half a minute, whatever happens. */
const OVERDUE_MS = 120_000
/** Nothing is ever kept there: that it can be asked for is all that is to be known. */
const UNUSED_KEY = 'doctor'

/** Looks at what Deckhand needs of this machine, at everything at once, and changes nothing. */
export async function examine(deps: DoctorDeps): Promise<DoctorCheck[]> {
  const names = Object.keys(LOOKS) as DoctorCheck['name'][]
  return Promise.all(names.map(async (name) => ({ name, ...(await inTime(deps, LOOKS[name])) })))
}

async function inTime(deps: DoctorDeps, look: Look): Promise<Finding> {
  const over = new AbortController()
  const late = deps.clock.sleep(PATIENCE_MS, over.signal).then(
    () => warning({ code: 'no_answer' }, 'This did not answer within two seconds.', 'look_again'),
    () => ok({ code: 'no_answer' }, ''),
  )
  try {
    return await Promise.race([Promise.resolve().then(() => look(deps)), late])
  } catch (error) {
    return problem({ code: 'broke', ...wordsOf(messageOf(error)) }, messageOf(error), 'look_again')
  } finally {
    over.abort(new Error('this has been looked at'))
  }
}

const LOOKS: Record<DoctorCheck['name'], Look> = {
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

  async box({ findBox }) {
    const { kind, works, reason, advice, network } = await findBox()
    if (kind === 'none' || !works) {
      const found = `Agents cannot run programs: ${reason ?? 'this machine cannot hold them in.'}`
      return warning({ code: 'box_missing', words: reason, ...saidAs('said', reason) }, found, { advice })
    }
    const found = `Programs of agents are held in by ${kind === 'seatbelt' ? 'Seatbelt' : 'bubblewrap'}.`
    if (network.works) {
      const more = "They reach the internet where a rule opens it, and never this machine's own servers."
      return ok({ code: 'box_works', box: kind }, `${found} ${more}`)
    }
    return warning(
      { code: 'box_without_network', box: kind, words: network.reason, ...saidAs('said', network.reason) },
      `${found} They have no network: ${network.reason ?? 'it could not be fenced in.'}`,
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
    const found = problems.map(({ providerName, message }) => `${providerName}: ${message}`).join(' ')
    const failures = problems.map(({ providerName, message }) => ({ name: providerName, ...wordsOf(message) }))
    const finding = { code: 'models_fail', failures } as const
    return problems.length === providers.length ? problem(finding, found, 'look_at_provider') : warning(finding, found, 'look_at_provider')
  },

  schedules({ db, clock, nextDueAt, safeMode }) {
    const at = nextDueAt()
    if (safeMode) return warning({ code: 'safe_mode' }, 'Safe mode: nothing runs by the clock.', 'leave_safe_mode')
    if (isBrakeOn(db)) return warning({ code: 'brake_on' }, 'The emergency brake is on: due runs wait.', 'release_brake')
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
    const found = broken.map(({ name, problem: why, status }) => `${name}: ${why === '' ? STATUS_WORDS[status] : why}`).join(' ') + waiting
    const failures = broken.map(({ name, problem: why, status }) => ({ name, status, ...wordsOf(why) }))
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
      return problem({ code: 'address_unreachable', ...wordsOf(why) }, why, 'look_at_address')
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

/** The box's own advice is a sentence that it made. */
type Fix = Exclude<DoctorFix, 'box'> | { advice: string | null }

function fixOf(fix: Fix): Pick<Finding, 'fix' | 'fixKind' | 'fixSaid'> {
  if (typeof fix === 'string') return { fix: DOCTOR_FIXES[fix], fixKind: fix }
  return fix.advice === null ? { fix: '' } : { fix: fix.advice, fixKind: 'box', ...saidAs('fixSaid', fix.advice) }
}

function wordsOf(words: string) {
  return { words, ...saidAs('said', words) }
}

function ok(finding: DoctorFinding, found: string): Finding {
  return { state: 'ok', found, fix: '', finding }
}

function warning(finding: DoctorFinding, found: string, fix: Fix): Finding {
  return { state: 'warning', found, finding, ...fixOf(fix) }
}

function problem(finding: DoctorFinding, found: string, fix: Fix): Finding {
  return { state: 'problem', found, finding, ...fixOf(fix) }
}
