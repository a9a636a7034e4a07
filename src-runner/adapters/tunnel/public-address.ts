import type { Message } from '../../contract/messages.ts'
import { join } from 'node:path'
import type { Database } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/transact.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import { readPublicBase } from '../../platform/net/web-address.ts'
import type { RunnerConfig, WebhookReach } from '../../contract/port.ts'
import { FIRST_INGRESS_PORT, TunnelProgram, type PublicAddress, type UpdatePublicAddress } from '../../contract/public-address.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, issueAt, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'
import { changeSettings, readSettings } from '../../domain/settings/settings.ts'
import { createAddressCheck } from './address-check.ts'
import { createProbe } from './probe.ts'
import { createTunnel, TUNNEL_TIMINGS, type TunnelTimings } from './tunnel.ts'
import { findTunnelProgram } from './tunnel-programs.ts'
import { createListenerKeeper, portProblem, type WebhookListener } from './webhook-listener.ts'

export type PublicAddressTimings = TunnelTimings & {
  checkEveryMs: number
  /** A new tunnel's name takes a while to spread. A resolver that is asked too early remembers for minutes that it does not exist. */
  freshChecksAfterMs: readonly number[]
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
  fetch: OutboundFetch
  config: Pick<RunnerConfig, 'ingressPort' | 'publicRunnerUrl' | 'dataDir' | 'safeMode'>
  /** Folders in which agents write. No program is started from there. */
  agentFolders(): readonly string[]
  /** Opens a webhook-only server on 127.0.0.1; 0: any port. Rejects with the system's error. */
  openServer(port: number): Promise<WebhookListener>
  timings?: Partial<PublicAddressTimings>
  /** What the tray shows has changed. */
  onChange(): void
}

/**
 * How webhooks of this machine are reached from outside: the address, the webhook-only listener, a tunnel to it, and the
 * check of the address. The environment wins over the settings and is never changed from here.
 */
export function createPublicAddresses(deps: PublicAddressDeps) {
  const { db, clock, log, config } = deps
  const timings = { ...TIMINGS, ...deps.timings }
  const fixedUrl = config.publicRunnerUrl?.replace(/\/+$/, '') ?? null
  let runnerUrl = ''
  let wantsTunnel = false
  /** The tunnel was up, or should be since the start, so its failure makes the address unreachable. */
  let isTunnelMissed = false
  let told = ''
  let isOpen = false
  let stopChecking = () => {}
  const inTurn = createTurns()

  const probe = createProbe({ fetch: deps.fetch, clock })
  const listener = createListenerKeeper({
    log,
    open: deps.openServer,
    fixedPort: config.ingressPort,
    portSetting: () => readSettings(db).ingressPort,
  })
  const tunnel = createTunnel({ clock, log, folder: join(config.dataDir, 'tunnel'), timings, onChange: settle })
  const check = createAddressCheck({
    ...{ probe, clock, log, localUrl },
    portProblem: listener.problem,
    secondLookAfterMs: timings.secondLookAfterMs,
    onChange: () => isOpen && tell(),
  })

  function base(): Pick<PublicAddress, 'url' | 'source'> {
    if (fixedUrl !== null) return { url: fixedUrl, source: 'environment' }
    const running = tunnel.state()
    if (running?.state === 'running') return { url: running.url, source: 'tunnel' }
    const { publicUrl } = readSettings(db)
    return publicUrl === null ? { url: null, source: 'none' } : { url: publicUrl, source: 'setting' }
  }

  function localUrl(): string {
    // A public address may never lead to the runner's own port, not even while the listener has no port.
    const port = listener.port() ?? (base().url === null ? null : (listener.wantedPort(wantsTunnel) ?? FIRST_INGRESS_PORT))
    return port === null ? runnerUrl : `http://127.0.0.1:${port}`
  }

  function findProgram(program: TunnelProgram): string | null {
    return findTunnelProgram(program, { closed: [config.dataDir, ...deps.agentFolders()] })
  }

  function read(): PublicAddress {
    const ingressProblem = listener.problem()
    return {
      ...base(),
      localUrl: localUrl(),
      ingressPort: listener.port() ?? (ingressProblem === null ? null : listener.chosenPort()),
      ...(ingressProblem === null ? {} : { ingressProblem }),
      check: check.state(),
      programs: TunnelProgram.options.map((program) => {
        const path = findProgram(program)
        return { program, installed: path !== null, path }
      }),
      tunnel: tunnel.state(),
    }
  }

  /** After any change: checks an address that is new and reports what is different. */
  function settle(): void {
    if (!isOpen) return
    const { url, source } = base()
    check.watch(url, source === 'tunnel' ? timings.freshChecksAfterMs : [0])
    const { state, problem } = tunnel.state() ?? {}
    if (state === 'running' || state === 'stopped') isTunnelMissed = state === 'running'
    if (state === 'stopped' && url === null) check.conclude(null)
    if (state === 'failed' && isTunnelMissed && url === null) check.conclude(problem!)
    tell()
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
      log.warn({ error }, 'could not record a change of the public address')
    }
  }

  /** A tunnel leads to the webhook-only listener or nowhere: the runner's port would publish everything. */
  async function launchTunnel(program: TunnelProgram): Promise<void> {
    wantsTunnel = true
    const port = listener.wantedPort(true)
    try {
      await listener.arrange(port).catch((error: unknown) => {
        // A chosen port must be that one. The last port is only a preference.
        if (listener.chosenPort() !== null) throw error
        return listener.arrange(0)
      })
    } catch (error) {
      return tunnel.fail(program, createMessage('tunnel_needs_port', { problem: portProblem(port ?? 0, error) }))
    }
    await tunnel.start({ program, find: () => findProgram(program), port: listener.port()! })
  }

  /** Retries what failed for want of a network or a port. */
  async function tryAgain(): Promise<void> {
    if (!isOpen) return
    if (listener.problem() !== null) await listener.arrange(listener.wantedPort(wantsTunnel)).then(settle, () => {})
    const failed = tunnel.state()
    const mayWork = failed !== null && wantsTunnel && tunnel.mayWorkLater() && findProgram(failed.program) !== null
    if (mayWork) await launchTunnel(failed.program)
  }

  function lookAgain(): void {
    inTurn(tryAgain)
      .then(async () => isOpen && (await check.again(base().url)))
      .catch((error: unknown) => log.warn({ error }, 'could not check the public address'))
  }

  async function update(change: UpdatePublicAddress): Promise<PublicAddress> {
    if (change.url !== undefined && fixedUrl !== null) throw fixed('PUBLIC_RUNNER_URL')
    if (change.ingressPort !== undefined && config.ingressPort !== null) throw fixed('INGRESS_PORT')
    const publicUrl = change.url == null ? change.url : requireBase(change.url)
    const before = listener.port()
    const willHaveAddress = fixedUrl !== null || (publicUrl === undefined ? readSettings(db).publicUrl : publicUrl) !== null
    if (change.ingressPort === null && willHaveAddress) throw invalid('ingressPort', createMessage('outside_needs_port'))
    const needsPort = change.ingressPort === undefined && willHaveAddress && listener.chosenPort() === null
    const ingressPort = needsPort ? await listener.openFirst() : change.ingressPort
    if (ingressPort !== undefined) {
      await listener.arrange(listener.wantedPort(wantsTunnel, ingressPort)).catch((error: unknown) => {
        throw invalid('ingressPort', portProblem(ingressPort ?? 0, error))
      })
    }
    try {
      const settings = { ...(publicUrl === undefined ? {} : { publicUrl }), ...(ingressPort === undefined ? {} : { ingressPort }) }
      transact(db, (tx) => changeSettings(tx, { clock }, settings))
    } catch (error) {
      await listener.arrange(listener.wantedPort(wantsTunnel))
      throw error
    }
    const running = tunnel.state()
    // The running tunnel leads to a port that is closed now.
    if (running !== null && wantsTunnel && listener.port() !== before && findProgram(running.program) !== null)
      await launchTunnel(running.program)
    settle()
    return read()
  }

  async function startTunnel(program: TunnelProgram): Promise<PublicAddress> {
    if (fixedUrl !== null) throw fixed('PUBLIC_RUNNER_URL')
    if (findProgram(program) === null) throw new AppError('tunnel_not_installed', createMessage('tunnel_not_installed', { program }))
    transact(db, (tx) => changeSettings(tx, { clock }, { tunnel: program }))
    await launchTunnel(program)
    settle()
    return read()
  }

  async function stopTunnel(): Promise<PublicAddress> {
    transact(db, (tx) => changeSettings(tx, { clock }, { tunnel: null }))
    wantsTunnel = false
    await tunnel.stop()
    await listener
      .arrange(listener.wantedPort(false))
      .catch((error: unknown) => log.warn({ error }, 'could not arrange the webhook-only listener'))
    settle()
    return read()
  }

  async function open(): Promise<void> {
    isOpen = true
    const program = fixedUrl === null && !config.safeMode ? readSettings(db).tunnel : null
    isTunnelMissed = program !== null
    const port = listener.wantedPort(false)
    try {
      if (port !== null) await listener.arrange(port)
      else if (base().url !== null) {
        const ingressPort = await listener.openFirst()
        transact(db, (tx) => changeSettings(tx, { clock }, { ingressPort }))
      }
    } catch (error) {
      listener.failed(port ?? FIRST_INGRESS_PORT, error)
      log.error({ error, port }, 'could not open the webhook-only listener')
    }
    wantsTunnel = isTunnelMissed
    if (program !== null) {
      if (findProgram(program) !== null) await launchTunnel(program)
      else await tunnel.fail(program, createMessage('tunnel_gone', { program }))
    }
    stopChecking = clock.every(timings.checkEveryMs, lookAgain)
    settle()
  }

  return {
    read,
    /** The base of every webhook address. */
    webhookBase: () => base().url ?? localUrl(),
    reach: (): WebhookReach => ({ url: base().url, check: check.state().state, tunnel: tunnel.state() }),
    /** Whether `/webhooks/probe/<nonce>` is one of ours. */
    isProbe: (nonce: string) => probe.accept(nonce),
    /** The runner's gate let this request in. */
    passedGate: (target: string) => probe.passedGate(target),
    /** Throws AppError public_address_fixed or invalid_request. */
    update: (change: UpdatePublicAddress) => inTurn(() => update(change)),
    /** Throws AppError public_address_fixed or tunnel_not_installed. Resolves as soon as the program was started. */
    startTunnel: (program: TunnelProgram) => inTurn(() => startTunnel(program)),
    stopTunnel: () => inTurn(stopTunnel),

    /** Sends a probe now. Throws AppError invalid_request if there is no address. */
    async check(): Promise<PublicAddress> {
      const { url } = base()
      if (url === null) throw new AppError('invalid_request', createMessage('outside_no_address'))
      await check.now(url)
      return read()
    },

    /** After a sleep the network takes a moment. */
    woke(): void {
      void clock.sleep(timings.afterWakeMs, check.signal()).then(lookAgain, () => {})
    },

    /** Opens the listener and starts the tunnel as the settings say. A failure is reported and stops nothing. */
    start(address: string): Promise<void> {
      runnerUrl = address
      return inTurn(open)
    },

    async stop(): Promise<void> {
      isOpen = false
      stopChecking()
      check.stop()
      await inTurn(async () => {
        await tunnel.stop()
        await listener.close()
      }).catch((error: unknown) => log.warn({ error: messageOf(error) }, 'could not close the public address in order'))
    },
  }
}

/** Runs one piece of work after the other, since each reads what the one before it has left. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work, work)
    last = done.catch(() => {})
    return done
  }
}

function requireBase(given: string): string {
  const base = readPublicBase(given)
  if (base.url === null) throw invalid('url', base.problem)
  return base.url
}

function invalid(path: string, problem: Message): AppError {
  return new AppError('invalid_request', problem, { issues: [issueAt(path, problem)] })
}

function fixed(name: string): AppError {
  return new AppError('public_address_fixed', createMessage('outside_fixed', { name }))
}
