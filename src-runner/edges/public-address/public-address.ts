import { join } from 'node:path'
import type { Database } from '../../base/db/database.ts'
import { transact } from '../../base/db/transact.ts'
import type { OutboundFetch } from '../../base/net/outbound.ts'
import { readPublicBase } from '../../base/net/public-base.ts'
import type { RunnerConfig, WebhookReach } from '../../contract/port.ts'
import {
  FIRST_INGRESS_PORT,
  TunnelProgram,
  type PublicAddress,
  type Tunnel,
  type UpdatePublicAddress,
} from '../../contract/public-address.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError, messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import { say, saidAs } from '../../kit/said.ts'
import { changeSettings, readSettings } from '../../records/settings/settings.ts'
import { createProbe, type ProbeResult } from './probe.ts'
import { createTunnel, TUNNEL_TIMINGS, type TunnelTimings } from './tunnel.ts'
import { findTunnelProgram } from './tunnel-programs.ts'

/** The webhook-only listener while it is open. */
export type IngressListener = { port: number; close(): Promise<void> }

export type PublicAddressTimings = TunnelTimings & {
  checkEveryMs: number
  /** A new tunnel is not known everywhere at once; asked too early, some resolvers remember for minutes that there is no such name. */
  freshChecksAfterMs: readonly number[]
  /** One that came in before is asked again before it is called unreachable. */
  secondLookAfterMs: number
  afterWakeMs: number
}

const TIMINGS: PublicAddressTimings = {
  ...TUNNEL_TIMINGS,
  checkEveryMs: 10 * 60_000,
  freshChecksAfterMs: [3_000, 5_000, 10_000, 20_000, 30_000],
  secondLookAfterMs: 30_000,
  afterWakeMs: 10_000,
}

export type PublicAddressDeps = {
  db: Database
  clock: Clock
  log: Log
  /** The way out for addresses that a person typed. */
  fetch: OutboundFetch
  config: Pick<RunnerConfig, 'ingressPort' | 'publicRunnerUrl' | 'dataDir' | 'safeMode'>
  /** Folders in which agents write: no program is started from there. */
  agentFolders(): readonly string[]
  /** Opens a listener on 127.0.0.1 that answers webhooks and nothing else; 0: any port. Rejects with the system's error. */
  openIngress(port: number): Promise<IngressListener>
  timings?: Partial<PublicAddressTimings>
  /** What the tray shows has changed. */
  onChange(): void
}

type Check = PublicAddress['check']
/** `exposed`: an address that leads to more than webhooks. */
type Found = { reached: ProbeResult; exposed: string | null }
const UNKNOWN: Check = { state: 'unknown', checkedAt: null, problem: '' }

/**
 * How webhooks of this machine are reached from outside: the address that counts, the listener that answers webhooks
 * alone, a tunnel that leads there, and whether what is sent to the address really comes in. The environment wins over
 * all of it and is never changed from here.
 */
export function createPublicAddresses(deps: PublicAddressDeps) {
  const { db, clock, log, config } = deps
  const timings = { ...TIMINGS, ...deps.timings }
  const probe = createProbe({ fetch: deps.fetch, clock })
  const fixedUrl = config.publicRunnerUrl?.replace(/\/+$/, '') ?? null
  let runnerUrl = ''
  let listener: IngressListener | null = null
  let ingressProblem: string | null = null
  /** Where tunnels led last: the next one finds the same port. */
  let lastPort = 0
  let wantsTunnel = false
  let check = UNKNOWN
  /** Which address the present checks are of; a result for another one is void. */
  let round = new AbortController()
  let checkedUrl: string | null = null
  /** The tunnel was up, or should be since the start: somebody relies on it when it cannot be got up. */
  let isTunnelMissed = false
  let told = ''
  let isOpen = false
  let stopChecking = () => {}
  let queue: Promise<unknown> = Promise.resolve()

  const tunnel = createTunnel({ clock, log, folder: join(config.dataDir, 'tunnel'), timings, onChange: settle })

  /** One after the other: each reads what the one before has left. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work, work)
    queue = done.catch(() => {})
    return done
  }

  function base(): Pick<PublicAddress, 'url' | 'source'> {
    if (fixedUrl !== null) return { url: fixedUrl, source: 'environment' }
    const running = tunnel.state()
    if (running?.state === 'running') return { url: running.url, source: 'tunnel' }
    const { publicUrl } = readSettings(db)
    return publicUrl === null ? { url: null, source: 'none' } : { url: publicUrl, source: 'setting' }
  }

  function localUrl(): string {
    // The runner's own port is nothing that an address from outside may lead to, not even while the listener has no port.
    const port = listener?.port ?? (base().url === null ? null : (wantedPort() ?? FIRST_INGRESS_PORT))
    return port === null ? runnerUrl : `http://127.0.0.1:${port}`
  }

  function findProgram(program: TunnelProgram): string | null {
    return findTunnelProgram(program, { closed: [config.dataDir, ...deps.agentFolders()] })
  }

  function read(): PublicAddress {
    return {
      ...base(),
      localUrl: localUrl(),
      ingressPort: listener?.port ?? (ingressProblem === null ? null : (config.ingressPort ?? readSettings(db).ingressPort)),
      ...(ingressProblem === null ? {} : { ingressProblem, ...saidAs('ingressProblemSaid', ingressProblem) }),
      check: { ...check, ...saidAs('problemSaid', check.problem) },
      programs: TunnelProgram.options.map((program) => {
        const path = findProgram(program)
        return { program, installed: path !== null, path }
      }),
      tunnel: withSaid(tunnel.state()),
    }
  }

  /** Whatever has changed: an address that is new is checked, and everybody is told. */
  function settle(): void {
    if (!isOpen) return
    const { url, source } = base()
    if (url !== checkedUrl) {
      checkedUrl = url
      round.abort(new Error('there is another address'))
      round = new AbortController()
      check = url === null ? UNKNOWN : { ...UNKNOWN, state: 'checking' }
      if (url !== null) void checkInRounds(url, source === 'tunnel' ? timings.freshChecksAfterMs : [0], round.signal)
    }
    const { state, problem } = tunnel.state() ?? {}
    if (state === 'running' || state === 'stopped') isTunnelMissed = state === 'running'
    if (state === 'stopped' && url === null) check = UNKNOWN
    if (state === 'failed' && isTunnelMissed && url === null) check = { state: 'unreachable', checkedAt: clock.now(), problem: problem! }
    tell()
  }

  async function checkInRounds(url: string, delays: readonly number[], signal: AbortSignal): Promise<void> {
    let last: Found | null = null
    for (const delay of delays) {
      await clock.sleep(delay, signal).catch(() => {})
      if (signal.aborted) return
      last = await ask(url)
      if (signal.aborted) return
      if (last.reached.ok) break
    }
    if (last !== null) conclude(url, last)
  }

  async function ask(url: string): Promise<Found> {
    const [reached, exposed] = await Promise.all([probe.send(url, localUrl()), probe.findExposed(url)])
    return { reached, exposed }
  }

  function conclude(url: string, { reached, exposed }: Found): void {
    const checkedAt = clock.now()
    if (exposed !== null) check = { state: 'exposed', checkedAt, problem: say('outside_exposed', { url: exposed, leadsTo: localUrl() }) }
    else if (reached.ok) check = { state: 'reachable', checkedAt, problem: '' }
    else check = { state: 'unreachable', checkedAt, problem: ingressProblem ?? reached.problem }
    const { problem } = check
    log.info({ url, state: check.state, problem }, 'the public address was checked')
    tell()
  }

  async function checkAgain(): Promise<void> {
    if (!isOpen) return
    const { url } = base()
    if (url === null || check.state === 'checking') return
    const { signal } = round
    await checkInRounds(url, check.state === 'reachable' ? [0, timings.secondLookAfterMs] : [0], signal)
  }

  function tell(): void {
    const { programs: _, check: seen, ...rest } = read()
    const now = JSON.stringify([rest, seen.state, seen.problem])
    if (now === told) return
    told = now
    deps.onChange()
    try {
      transact(db, (tx) => tx.emit({ type: 'public_address.changed', payload: {} }))
    } catch (error) {
      log.warn({ error }, 'a change of the public address could not be recorded')
    }
  }

  /** Opens or closes the listener so that it is where it should be. Throws the system's error, and then leaves things as they are. */
  async function arrangeListener(wanted: number | null): Promise<void> {
    if (wanted === null) {
      const open = listener
      listener = null
      await open?.close()
    } else if (listener === null || (wanted !== 0 && listener.port !== wanted)) {
      const opened = await deps.openIngress(wanted)
      const before = listener
      listener = opened
      await before?.close()
    }
    ingressProblem = null
    if (listener !== null) lastPort = listener.port
    log.info(
      { port: listener?.port ?? null },
      listener === null ? 'webhooks come in on the port of the runner' : 'webhooks have a port of their own',
    )
  }

  function wantedPort(setting = readSettings(db).ingressPort): number | null {
    return config.ingressPort ?? setting ?? (wantsTunnel ? lastPort : null)
  }

  /**
   * A tunnel of the person's own has to find the same port every time: the one that was opened first is kept as if they
   * had chosen it. Answers what is to be kept.
   */
  async function openFirstPort(): Promise<{ ingressPort: number }> {
    if (listener === null) await arrangeListener(FIRST_INGRESS_PORT).catch(() => arrangeListener(0))
    return { ingressPort: listener!.port }
  }

  /** A tunnel leads to the webhook-only listener or nowhere: on the port of the runner it would publish everything. */
  async function launchTunnel(program: TunnelProgram): Promise<void> {
    wantsTunnel = true
    try {
      await arrangeListener(wantedPort()).catch((error: unknown) => {
        // The port of the last time is only a preference.
        if (wantedPort() !== lastPort || config.ingressPort !== null || readSettings(db).ingressPort !== null) throw error
        return arrangeListener(0)
      })
    } catch (error) {
      return tunnel.fail(program, `${portProblem(wantedPort() ?? 0, error)} ${say('tunnel_needs_port')}`)
    }
    await tunnel.start({ program, find: () => findProgram(program), port: listener!.port })
  }

  /** What failed for want of a network or a port is tried again, as long as the person wants it. */
  async function tryAgain(): Promise<void> {
    if (!isOpen) return
    if (ingressProblem !== null) await arrangeListener(wantedPort()).then(settle, () => {})
    const failed = tunnel.state()
    const file = failed !== null && wantsTunnel && tunnel.mayWorkLater() ? findProgram(failed.program) : null
    if (file !== null) await launchTunnel(failed!.program)
  }

  function lookAgain(): void {
    inTurn(tryAgain)
      .then(checkAgain)
      .catch((error: unknown) => log.warn({ error }, 'the public address could not be looked at'))
  }

  async function update(change: UpdatePublicAddress): Promise<PublicAddress> {
    if (change.url !== undefined && fixedUrl !== null) throw fixed('PUBLIC_RUNNER_URL')
    if (change.ingressPort !== undefined && config.ingressPort !== null) throw fixed('INGRESS_PORT')
    const publicUrl = change.url == null ? change.url : requireBase(change.url)
    const before = listener?.port
    const willHaveAddress = fixedUrl !== null || (publicUrl === undefined ? readSettings(db).publicUrl : publicUrl) !== null
    if (change.ingressPort === null && willHaveAddress) {
      const message = say('outside_needs_port')
      throw new AppError('invalid_request', message, { issues: [{ path: 'ingressPort', message }] })
    }
    const isChosen = config.ingressPort !== null || readSettings(db).ingressPort !== null
    const needsPort = change.ingressPort === undefined && willHaveAddress && !isChosen
    const { ingressPort } = needsPort ? await openFirstPort() : change
    const settings = { ...(publicUrl === undefined ? {} : { publicUrl }), ...(ingressPort === undefined ? {} : { ingressPort }) }
    if (ingressPort !== undefined) {
      try {
        await arrangeListener(wantedPort(ingressPort))
      } catch (error) {
        const message = portProblem(ingressPort ?? 0, error)
        throw new AppError('invalid_request', message, { issues: [{ path: 'ingressPort', message }] })
      }
    }
    try {
      transact(db, (tx) => changeSettings(tx, { clock }, settings))
    } catch (error) {
      await arrangeListener(wantedPort())
      throw error
    }
    const running = tunnel.state()
    const file = running === null ? null : findProgram(running.program)
    // It led to where nobody listens any more.
    if (running !== null && file !== null && wantsTunnel && listener?.port !== before) await launchTunnel(running.program)
    settle()
    return read()
  }

  async function startTunnel(program: TunnelProgram): Promise<PublicAddress> {
    if (fixedUrl !== null) throw fixed('PUBLIC_RUNNER_URL')
    const file = findProgram(program)
    if (file === null) throw new AppError('tunnel_not_installed', say('tunnel_not_installed', { program }))
    transact(db, (tx) => changeSettings(tx, { clock }, { tunnel: program }))
    await launchTunnel(program)
    settle()
    return read()
  }

  async function stopTunnel(): Promise<PublicAddress> {
    transact(db, (tx) => changeSettings(tx, { clock }, { tunnel: null }))
    wantsTunnel = false
    await tunnel.stop()
    await arrangeListener(wantedPort()).catch((error: unknown) => log.warn({ error }, 'the webhook-only listener could not be arranged'))
    settle()
    return read()
  }

  return {
    read,
    /** What stands in front of `/webhooks/<slug>/<secret>`. */
    webhookBase: () => base().url ?? localUrl(),
    reach: (): WebhookReach => ({ url: base().url, check: check.state, tunnel: withSaid(tunnel.state()) }),
    /** For whoever receives webhooks: whether `/webhooks/probe/<nonce>` is one of ours. */
    isProbe: (nonce: string) => probe.accept(nonce),
    /** For the runner's gate, which tells what it lets in. */
    passedGate: (target: string) => probe.passedGate(target),
    /** Throws AppError public_address_fixed or invalid_request. */
    update: (change: UpdatePublicAddress) => inTurn(() => update(change)),
    /** Throws AppError public_address_fixed or tunnel_not_installed. Resolves as soon as the program was started. */
    startTunnel: (program: TunnelProgram) => inTurn(() => startTunnel(program)),
    stopTunnel: () => inTurn(stopTunnel),

    /** Sends a probe now. Throws AppError invalid_request where there is no address. */
    async check(): Promise<PublicAddress> {
      const { url } = base()
      if (url === null) throw new AppError('invalid_request', say('outside_no_address'))
      const { signal } = round
      const found = await ask(url)
      if (isOpen && !signal.aborted) conclude(url, found)
      return read()
    },

    /** After a sleep the network takes a moment to be there again. */
    woke(): void {
      void clock.sleep(timings.afterWakeMs, round.signal).then(lookAgain, () => {})
    },

    /** Opens the listener and starts the tunnel as the settings say. What cannot be opened is told, and brings nothing down. */
    start(address: string): Promise<void> {
      runnerUrl = address
      return inTurn(async () => {
        isOpen = true
        const program = readSettings(db).tunnel
        // Safe mode: in case the tunnel is what brought the runner down.
        const file = program === null || fixedUrl !== null || config.safeMode ? null : findProgram(program)
        isTunnelMissed = program !== null && fixedUrl === null && !config.safeMode
        const port = wantedPort()
        try {
          if (port !== null) await arrangeListener(port)
          else if (base().url !== null) {
            const opened = await openFirstPort()
            transact(db, (tx) => changeSettings(tx, { clock }, opened))
          }
        } catch (error) {
          ingressProblem = portProblem(port ?? FIRST_INGRESS_PORT, error)
          log.error({ error, port }, 'the webhook-only listener could not be opened')
        }
        wantsTunnel = isTunnelMissed
        if (program !== null && file !== null) await launchTunnel(program)
        else if (program !== null && isTunnelMissed) await tunnel.fail(program, say('tunnel_gone', { program }))
        stopChecking = clock.every(timings.checkEveryMs, lookAgain)
        settle()
      })
    },

    async stop(): Promise<void> {
      isOpen = false
      stopChecking()
      round.abort(new Error('the runner stops'))
      await inTurn(async () => {
        await tunnel.stop()
        await listener?.close()
        listener = null
      }).catch((error: unknown) => log.warn({ error: messageOf(error) }, 'the way for webhooks could not be closed in order'))
    },
  }
}

function withSaid(tunnel: Tunnel | null): Tunnel | null {
  return tunnel === null ? null : { ...tunnel, ...saidAs('problemSaid', tunnel.problem) }
}

function requireBase(given: string): string {
  const { url, problem } = readPublicBase(given)
  if (url === null) throw new AppError('invalid_request', problem, { issues: [{ path: 'url', message: problem }] })
  return url
}

function fixed(name: string): AppError {
  return new AppError('public_address_fixed', say('outside_fixed', { name }))
}

function portProblem(port: number, error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return say('port_taken', { port })
    case 'EACCES':
    case 'EPERM':
      return say('port_not_allowed', { port })
    default:
      return say('port_failed', { port, words: messageOf(error) })
  }
}
