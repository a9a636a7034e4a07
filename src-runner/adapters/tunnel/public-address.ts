import { join } from 'node:path'
import { transact } from '../../platform/db/database.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import { readPublicBase } from '../../platform/net/web-address.ts'
import type { Services } from '../../platform/services.ts'
import type { RunnerConfig, WebhookReach } from '../../contract/port.ts'
import {
  FIRST_INGRESS_PORT,
  TunnelProgram,
  type PublicAddress,
  type PublicAddressState,
  type UpdatePublicAddress,
} from '../../contract/public-address.ts'
import { AppError, invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { changeSettings, readSettings } from '../../domain/settings/settings.ts'
import { createAddressCheck } from './address-check.ts'
import { createProbe } from './probe.ts'
import { createTunnel, TUNNEL_TIMINGS } from './tunnel.ts'
import { findTunnelProgram } from './tunnel-programs.ts'
import { createListenerKeeper, type WebhookListener } from './webhook-listener.ts'

const TIMINGS = {
  ...TUNNEL_TIMINGS,
  checkEveryMs: 10 * 60_000,
  /** A new tunnel's name takes a while to spread. A resolver that is asked too early remembers for minutes that it does not exist. */
  freshChecksAfterMs: [3_000, 5_000, 10_000, 20_000, 30_000],
  secondCheckAfterMs: 30_000,
  afterWakeMs: 10_000,
}
export type PublicAddressTimings = typeof TIMINGS

export type PublicAddressDeps = Pick<Services, 'db' | 'clock' | 'log'> & {
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
  const { clock, log } = deps
  const parts = createParts(deps)
  const { probe, listener, tunnel, check, timings, base, readState, read } = parts
  const inTurn = createQueue()
  let stopChecking = () => {}

  function checkAgain(): void {
    inTurn(() => retryFailed(parts))
      .then(async () => parts.isOpen && (await check.again(base().url)))
      .catch((error: unknown) => log.warn({ error }, 'could not check the public address'))
  }

  /** Changes one after another, because each starts from what the one before it has left. */
  function change(work: () => Promise<void>): Promise<PublicAddress> {
    return inTurn(async () => {
      await work()
      parts.refresh()
      return read()
    })
  }

  return {
    read,
    readState,
    /** The base of every webhook address. */
    webhookBase: () => base().url ?? parts.localUrl(),
    /** That stays as long as the person wants. null: there is none, or a tunnel's. */
    chosenUrl(): string | null {
      const { url, source } = base()
      return source === 'tunnel' ? null : url
    },
    /** The runner's own address, for programs of this machine. */
    runnerUrl: () => parts.runnerUrl,
    reach: (): WebhookReach => ({ url: base().url, check: check.state().state, tunnel: tunnel.state() }),
    /** Whether `/webhooks/probe/<nonce>` is one of ours. */
    isProbe: probe.accept,
    /** The runner's gate let this request in. */
    passedGate: probe.passedGate,
    /** Throws AppError public_address_fixed or invalid_request. */
    update: (wanted: UpdatePublicAddress) => change(() => updateSettings(parts, wanted)),
    /** Throws AppError public_address_fixed or tunnel_not_installed. Resolves as soon as the program was started. */
    startTunnel: (program: TunnelProgram) => change(() => startTunnel(parts, program)),
    stopTunnel: () => change(() => stopTunnel(parts)),

    /** Sends a probe now. Throws AppError invalid_request if there is no address. */
    async check(): Promise<PublicAddress> {
      const { url } = base()
      if (url === null) throw new AppError('invalid_request', createMessage('outside_no_address'))
      await check.now(url)
      return read()
    },

    /** After a sleep the network takes a moment. */
    woke(): void {
      void clock.sleep(timings.afterWakeMs, check.signal()).then(checkAgain, () => {})
    },

    /** Opens the listener and starts the tunnel as the settings say. A failure is reported and stops nothing. */
    async start(runnerUrl: string): Promise<void> {
      parts.runnerUrl = runnerUrl
      parts.isOpen = true
      await change(() => openAtStart(parts))
      stopChecking = clock.every(timings.checkEveryMs, checkAgain)
    },

    async stop(): Promise<void> {
      parts.isOpen = false
      stopChecking()
      check.stop()
      await inTurn(async () => {
        await tunnel.stop()
        await listener.close()
      })
    },
  }
}

type Parts = ReturnType<typeof createParts>

/** The parts of a public address, and what they amount to. */
function createParts(deps: PublicAddressDeps) {
  const { db, clock, log, config } = deps
  const timings = { ...TIMINGS, ...deps.timings }
  const fixedUrl = config.publicRunnerUrl?.replace(/\/+$/, '') ?? null
  let lastReported = ''

  const probe = createProbe({ fetch: deps.fetch, clock })
  const listener = createListenerKeeper({
    log,
    open: deps.openServer,
    fixedPort: config.ingressPort,
    portSetting: () => readSettings(db).ingressPort,
    wantsTunnel: () => parts.wantsTunnel,
  })
  const tunnel = createTunnel({ clock, log, folder: join(config.dataDir, 'tunnel'), timings, onChange: refresh })
  const check = createAddressCheck({
    probe,
    clock,
    log,
    localUrl,
    portProblem: listener.problem,
    secondCheckAfterMs: timings.secondCheckAfterMs,
    onChange: report,
  })

  function base(): Pick<PublicAddress, 'url' | 'source'> {
    if (fixedUrl !== null) return { url: fixedUrl, source: 'environment' }
    const running = tunnel.state()
    if (running?.state === 'running') return { url: running.url, source: 'tunnel' }
    const { publicUrl } = readSettings(db)
    return { url: publicUrl, source: publicUrl === null ? 'none' : 'setting' }
  }

  function localUrl(): string {
    // A public address may never lead to the runner's own port, not even while the listener has no port.
    const port = listener.port() ?? (base().url === null ? null : (listener.wantedPort() ?? FIRST_INGRESS_PORT))
    return port === null ? parts.runnerUrl : `http://127.0.0.1:${port}`
  }

  function findProgram(program: TunnelProgram): string | null {
    return findTunnelProgram(program, { closed: [config.dataDir, ...deps.agentFolders()] })
  }

  function readState(): PublicAddressState {
    const ingressProblem = listener.problem()
    return {
      ...base(),
      localUrl: localUrl(),
      ingressPort: listener.port() ?? (ingressProblem === null ? null : listener.chosenPort()),
      ...(ingressProblem === null ? {} : { ingressProblem }),
      check: check.state(),
      tunnel: tunnel.state(),
    }
  }

  function read(): PublicAddress {
    const programs = TunnelProgram.options.map((program) => {
      const path = findProgram(program)
      return { program, installed: path !== null, path }
    })
    return { ...readState(), programs }
  }

  /** After any change: checks an address that is new and reports what is different. */
  function refresh(): void {
    if (!parts.isOpen) return
    const { url, source } = base()
    check.watch(url, source === 'tunnel' ? timings.freshChecksAfterMs : [0])
    const { state, problem } = tunnel.state() ?? {}
    if (state === 'running' || state === 'stopped') parts.isTunnelMissed = state === 'running'
    if (source === 'tunnel' && url !== null) rememberTunnel(url)
    if (url === null && (state === 'stopped' || (state === 'failed' && parts.isTunnelMissed))) check.setMissing(problem ?? null)
    report()
  }

  /** Senders keep the address that they were given, and a tunnel may get another one. */
  function rememberTunnel(url: string): void {
    try {
      transact(db, (tx) => {
        const last = readSettings(tx).tunnelAddress
        if (last?.url === url) return
        changeSettings(tx, { clock }, { tunnelAddress: { url, since: clock.now(), before: last?.url ?? null } })
      })
    } catch (error) {
      log.warn({ error }, 'could not store the address of the tunnel')
    }
  }

  function report(): void {
    if (!parts.isOpen) return
    const { check: checked, ...rest } = readState()
    const now = JSON.stringify([rest, checked.state, checked.problem])
    if (now === lastReported) return
    lastReported = now
    deps.onChange()
    try {
      transact(db, (tx) => tx.emit({ type: 'public_address.changed', payload: {} }))
    } catch (error) {
      log.warn({ error }, 'could not record a change of the public address')
    }
  }

  const parts = {
    db,
    clock,
    log,
    config,
    timings,
    fixedUrl,
    probe,
    listener,
    tunnel,
    check,
    base,
    localUrl,
    findProgram,
    readState,
    read,
    refresh,
    runnerUrl: '',
    isOpen: false,
    wantsTunnel: false,
    /** The tunnel was up, or should be since the start, so its failure makes the address unreachable. */
    isTunnelMissed: false,
  }
  return parts
}

async function openAtStart(parts: Parts): Promise<void> {
  const { db, clock, log, config, fixedUrl, listener, tunnel } = parts
  const program = fixedUrl === null && !config.safeMode ? readSettings(db).tunnel : null
  parts.isTunnelMissed = program !== null
  const needsPort = listener.chosenPort() === null && parts.base().url !== null
  const problem = await (needsPort ? listener.openFirst() : listener.arrange())
  if (problem !== null) {
    listener.setProblem(problem)
    log.error({ problem }, 'could not open the webhook-only listener')
  } else if (needsPort) {
    try {
      transact(db, (tx) => changeSettings(tx, { clock }, { ingressPort: listener.port() }))
    } catch (error) {
      log.error({ error }, 'could not store the port of the webhook-only listener')
    }
  }
  parts.wantsTunnel = program !== null
  if (program === null) return
  if (parts.findProgram(program) !== null) await launchTunnel(parts, program)
  else await tunnel.fail(program, createMessage('tunnel_gone', { program }))
}

async function updateSettings(parts: Parts, { url, ingressPort }: UpdatePublicAddress): Promise<void> {
  const { db, clock, config, fixedUrl, listener, tunnel } = parts
  if (url !== undefined && fixedUrl !== null) throw fixed('PUBLIC_RUNNER_URL')
  if (ingressPort !== undefined && config.ingressPort !== null) throw fixed('INGRESS_PORT')
  const publicUrl = url == null ? url : requireBase(url)
  const willHaveAddress = fixedUrl !== null || (publicUrl === undefined ? readSettings(db).publicUrl : publicUrl) !== null
  if (ingressPort === null && willHaveAddress) throw invalidAt('ingressPort', createMessage('outside_needs_port'))
  const before = listener.port()
  const needsPort = ingressPort === undefined && willHaveAddress && listener.chosenPort() === null
  const problem = await (needsPort ? listener.openFirst() : listener.arrange(ingressPort))
  if (problem !== null && (needsPort || ingressPort !== undefined)) throw invalidAt('ingressPort', problem)
  try {
    transact(db, (tx) => changeSettings(tx, { clock }, { publicUrl, ingressPort: needsPort ? listener.port() : ingressPort }))
  } catch (error) {
    await listener.arrange()
    throw error
  }
  const running = tunnel.state()
  // The running tunnel leads to a port that is closed now.
  if (running !== null && parts.wantsTunnel && listener.port() !== before && parts.findProgram(running.program) !== null)
    await launchTunnel(parts, running.program)
}

async function startTunnel(parts: Parts, program: TunnelProgram): Promise<void> {
  const { db, clock, fixedUrl } = parts
  if (fixedUrl !== null) throw fixed('PUBLIC_RUNNER_URL')
  if (parts.findProgram(program) === null) throw new AppError('tunnel_not_installed', createMessage('tunnel_not_installed', { program }))
  transact(db, (tx) => changeSettings(tx, { clock }, { tunnel: program }))
  await launchTunnel(parts, program)
}

async function stopTunnel(parts: Parts): Promise<void> {
  const { db, clock, log, listener, tunnel } = parts
  transact(db, (tx) => changeSettings(tx, { clock }, { tunnel: null }))
  parts.wantsTunnel = false
  await tunnel.stop()
  const problem = await listener.arrange()
  if (problem !== null) log.warn({ problem }, 'could not move the webhook-only listener')
}

/** A tunnel leads to the webhook-only listener or nowhere: the runner's port would publish everything. */
async function launchTunnel(parts: Parts, program: TunnelProgram): Promise<void> {
  const { listener, tunnel } = parts
  parts.wantsTunnel = true
  const problem = await listener.arrange()
  if (problem !== null) return tunnel.fail(program, createMessage('tunnel_needs_port', { problem }))
  await tunnel.start({ program, find: () => parts.findProgram(program), port: listener.port()! })
}

/** Retries what failed for want of a network or a port. */
async function retryFailed(parts: Parts): Promise<void> {
  const { listener, tunnel } = parts
  if (!parts.isOpen) return
  if (listener.problem() !== null && (await listener.arrange()) === null) parts.refresh()
  const failed = tunnel.state()
  const mayWork = failed !== null && parts.wantsTunnel && tunnel.mayWorkLater() && parts.findProgram(failed.program) !== null
  if (mayWork) await launchTunnel(parts, failed.program)
}

function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

function requireBase(given: string): string {
  const base = readPublicBase(given)
  if (base.url === null) throw invalidAt('url', base.problem)
  return base.url
}

function fixed(name: string): AppError {
  return new AppError('public_address_fixed', createMessage('outside_fixed', { name }))
}
