import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { BoxState } from '../base/box/box-types.ts'
import type { Database } from '../base/db/database.ts'
import type { DoctorCheck } from '../contract/doctor.ts'
import type { PublicAddress } from '../contract/public-address.ts'
import type { Clock } from '../kit/clock.ts'
import { messageOf } from '../kit/errors.ts'
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
  hasTrash: boolean
  models: Pick<Models, 'listModels'>
  /** When a schedule is due next, which may be past; null: never. */
  nextDueAt(): number | null
  safeMode: boolean
  publicAddress(): PublicAddress | null
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
    () => warning('This did not answer within two seconds.', 'Look again in a moment. If it stays like this, restart Deckhand.'),
    () => ok(''),
  )
  try {
    return await Promise.race([Promise.resolve().then(() => look(deps)), late])
  } catch (error) {
    return problem(messageOf(error), 'Look again in a moment. If it stays like this, restart Deckhand.')
  } finally {
    over.abort(new Error('this has been looked at'))
  }
}

const LOOKS: Record<DoctorCheck['name'], Look> = {
  database({ db }) {
    db.ping()
    const bytes = statSync(db.file).size
    const logBytes = statSync(`${db.file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    const found = `Reads and answers. ${sizeOf(bytes)}, and ${sizeOf(logBytes)} of changes on their way into it.`
    return logBytes > LARGE_LOG ? warning(found, 'Restart Deckhand: that lets the changes be put where they belong.') : ok(found)
  },

  async disk({ dataDir }) {
    const { bavail, bsize } = await statfs(dataDir)
    const free = bavail * bsize
    const found = `${sizeOf(free)} are free where Deckhand keeps its data (${dataDir}).`
    const fix = 'Free some space on this disk. Without any, no job can be taken.'
    return free < NO_SPACE ? problem(found, fix) : free < LITTLE_SPACE ? warning(found, fix) : ok(found)
  },

  async box({ findBox }) {
    const { kind, works, reason, advice, network } = await findBox()
    if (kind === 'none' || !works) {
      return warning(`Agents cannot run programs: ${reason ?? 'this machine cannot hold them in.'}`, advice ?? '')
    }
    const found = `Programs of agents are held in by ${kind === 'seatbelt' ? 'Seatbelt' : 'bubblewrap'}.`
    return network.works
      ? ok(`${found} They reach the internet where a rule opens it, and never this machine's own servers.`)
      : warning(`${found} They have no network: ${network.reason ?? 'it could not be fenced in.'}`, network.advice ?? '')
  },

  trash: ({ hasTrash }) =>
    hasTrash
      ? ok('What agents delete goes to the trash of this system.')
      : warning(
          'This system has no trash that Deckhand can use. What agents delete is gone from its folder.',
          'It can be put back from the job that deleted it, as long as that job is kept.',
        ),

  async keychain({ vault }) {
    try {
      await vault.get(UNUSED_KEY)
      return ok('Keys and tokens can be read and written.')
    } catch (error) {
      const fix = 'Unlock the keychain of this system. On a machine without one, start Deckhand with DECKHAND_VAULT=file.'
      return problem(messageOf(error), fix)
    }
  },

  async models({ db, models }) {
    const { defaultModel } = readSettings(db)
    const used = listProviders(db).filter(({ id }) => id === defaultModel?.providerId || listAgentsUsingProvider(db, id).length > 0)
    if (used.length === 0) return problem('No model is chosen, so agents cannot work.', 'Choose a default model on the screen Models.')
    const providers = used.filter(({ kind }) => kind !== 'demo')
    if (providers.length === 0) {
      return warning('Agents work with the demo model, which only plays its part.', 'Add a provider on the screen Models.')
    }
    const { problems } = await models.listModels(providers)
    if (problems.length === 0) {
      const names = providers.map(({ name }) => name).join(', ')
      return ok(providers.length === 1 ? `${names} answers.` : `${names} answer.`)
    }
    const found = problems.map(({ providerName, message }) => `${providerName}: ${message}`).join(' ')
    const fix = 'Look at the provider on the screen Models.'
    return problems.length === providers.length ? problem(found, fix) : warning(found, fix)
  },

  schedules({ db, clock, nextDueAt, safeMode }) {
    const at = nextDueAt()
    if (safeMode) return warning('Safe mode: nothing runs by the clock.', 'Restart Deckhand as usual.')
    if (isBrakeOn(db)) return warning('The emergency brake is on: due runs wait.', 'Release the brake.')
    if (at === null) return ok('Nothing is due: there is no active schedule.')
    const lateMs = clock.now() - at
    return lateMs > OVERDUE_MS
      ? problem(
          `A run has been due for ${Math.round(lateMs / 60_000)} minutes.`,
          'Restart Deckhand. If that does not help, the logs say why.',
        )
      : ok('The clock is watched: the next run starts at its time.')
  },

  channels({ db }) {
    const channels = listChannels(db).filter(({ enabled }) => enabled)
    const pending = countPending(db)
    const waiting = pending === 0 ? '' : ` ${pending} ${pending === 1 ? 'message waits' : 'messages wait'} to be sent.`
    if (channels.length === 0) return ok(`No channel is on.${waiting}`)
    const broken = channels.filter(({ status }) => status !== 'open')
    if (broken.length === 0) return ok(`${channels.map(({ name }) => name).join(', ')}: the last round trip worked.${waiting}`)
    const found = broken.map(({ name, problem: why, status }) => `${name}: ${why === '' ? STATUS_WORDS[status] : why}`).join(' ') + waiting
    const isOut = broken.some(({ status }) => status === 'logged_out')
    return isOut ? problem(found, 'Give the channel a new token on the screen Channels.') : warning(found, 'It is tried again by itself.')
  },

  public_address({ publicAddress }) {
    const address = publicAddress()
    if (address === null || address.url === null) return ok('Only this machine reaches webhooks. That is all right for programs on it.')
    const { state, problem: why } = address.check
    if (state === 'unreachable') return problem(why, 'Look at the public address in the settings, and check it again.')
    if (state === 'reachable') return ok(`A delivery to ${address.url} comes in here.`)
    return warning(`${address.url} has not been checked yet.`, 'Check the public address in the settings.')
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

function ok(found: string): Finding {
  return { state: 'ok', found, fix: '' }
}

function warning(found: string, fix: string): Finding {
  return { state: 'warning', found, fix }
}

function problem(found: string, fix: string): Finding {
  return { state: 'problem', found, fix }
}
