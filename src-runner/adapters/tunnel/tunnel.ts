import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProgram } from '../../platform/programs/start-program.ts'
import type { Services } from '../../platform/services.ts'
import type { Message } from '../../contract/messages.ts'
import type { Tunnel, TunnelProgram } from '../../contract/public-address.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { environmentOf, quoteProgram, TUNNEL_PROGRAMS, type Heard } from './tunnel-programs.ts'

export const TUNNEL_TIMINGS = {
  /** From the start of a program until it has printed its address. */
  addressWithinMs: 60_000,
  /** Before each restart. After the last one the program is given up. */
  restartAfterMs: [1_000, 5_000, 20_000, 60_000, 180_000],
  /** After running for this long, the restarts are counted from the beginning. */
  settledAfterMs: 10 * 60_000,
  stopGraceMs: 3_000,
}

export type TunnelDeps = Pick<Services, 'clock' | 'log'> & {
  /** For configuration files of ours. */
  folder: string
  timings: typeof TUNNEL_TIMINGS
  onChange(): void
}

/** `find`: where the program is now; null: it is gone. */
export type TunnelRun = { program: TunnelProgram; find: () => string | null; port: number }

type RunEnd = { problem: Message; isFinal: boolean }

/** Keeps one tunnel program running. Restarts it after growing pauses when it ends, and gives it up after a few. */
export function createTunnel({ clock, log, folder, timings, onChange }: TunnelDeps) {
  let tunnel: Tunnel | null = null
  let isHopeless = false
  let current: { stopping: AbortController; done: Promise<void> } | null = null

  function become(program: TunnelProgram, state: Tunnel['state'], more: Partial<Tunnel> = {}): void {
    tunnel = { program, state, url: null, problem: null, startedAt: null, ...more }
    log.info({ ...tunnel }, `tunnel ${state}`)
    onChange()
  }

  async function keep(run: TunnelRun, stopping: AbortSignal): Promise<void> {
    let ends = 0
    for (;;) {
      const startedAt = clock.monotonic()
      const { problem, isFinal } = await runOnce(run, stopping)
      if (stopping.aborted) return
      if (clock.monotonic() - startedAt >= timings.settledAfterMs) ends = 0
      const pause = timings.restartAfterMs[ends++]
      isHopeless = isFinal
      if (isFinal || pause === undefined) return become(run.program, 'failed', { problem })
      become(run.program, 'starting', { problem })
      await clock.sleep(pause, stopping).catch(() => {})
      if (stopping.aborted) return
    }
  }

  async function runOnce({ program, find, port }: TunnelRun, stopping: AbortSignal): Promise<RunEnd> {
    const file = find()
    if (file === null) return { problem: createMessage('tunnel_gone', { program }), isFinal: true }
    const { config, args, listen } = TUNNEL_PROGRAMS[program]
    const configFile = join(folder, `${program}.yml`)
    if (config !== null) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(configFile, config, { mode: 0o600 })
    }
    const hear = listen()
    const hasAddress = new AbortController()
    let trouble: RunEnd | null = null
    let isLate = false

    function onHeard(heard: Heard): void {
      if (heard === null || stopping.aborted) return
      if ('url' in heard) {
        hasAddress.abort()
        if (tunnel?.url !== heard.url) become(program, 'running', { url: heard.url, startedAt: clock.now() })
        return
      }
      // A final problem explains the end better than what is printed later.
      if (trouble?.isFinal !== true) trouble = heard
      // Some programs print why they cannot continue, and then wait forever.
      if (heard.isFinal && tunnel?.state !== 'running') stop()
    }

    const env = environmentOf(program)
    const running = startProgram({ file, args: args({ port, configFile }), env, onLine: (line) => onHeard(hear(line)) })
    const stop = () => void running.stop(timings.stopGraceMs)
    log.info({ program, file, port, pid: running.pid }, 'started a tunnel program')
    stopping.addEventListener('abort', stop, { once: true })
    if (stopping.aborted) stop()
    clock.sleep(timings.addressWithinMs, hasAddress.signal).then(
      () => {
        isLate = true
        stop()
      },
      () => {},
    )
    const { code, signal, error } = await running.ended
    hasAddress.abort()
    stopping.removeEventListener('abort', stop)
    log.info({ program, code, signal }, 'a tunnel program ended')
    const problem = isLate
      ? createMessage('tunnel_no_address', { seconds: Math.round(timings.addressWithinMs / 1000) })
      : error !== null
        ? createMessage('tunnel_not_started', { program, words: messageOf(error) })
        : signal === null
          ? createMessage('tunnel_ended', { program, exit: String(code ?? '?') })
          : createMessage('tunnel_killed', { program, signal })
    return trouble ?? { problem, isFinal: false }
  }

  async function stopCurrent(): Promise<void> {
    const running = current
    current = null
    running?.stopping.abort(new Error('the tunnel is stopped'))
    await running?.done
  }

  return {
    /** The state of the last tunnel; null: none was started. */
    state: () => tunnel,
    /** It failed for a reason that may pass: no network, a port that was taken. */
    mayWorkLater: () => tunnel?.state === 'failed' && !isHopeless,
    /** Replaces the running one. */
    async start(run: TunnelRun): Promise<void> {
      await stopCurrent()
      const stopping = new AbortController()
      become(run.program, 'starting')
      const done = keep(run, stopping.signal).catch((error: unknown) => {
        log.error({ error }, 'the tunnel failed')
        if (!stopping.signal.aborted) become(run.program, 'failed', { problem: quoteProgram(run.program, messageOf(error)) })
      })
      current = { stopping, done }
    },
    /** Records a tunnel that could not be started. */
    async fail(program: TunnelProgram, problem: Message): Promise<void> {
      await stopCurrent()
      isHopeless = false
      become(program, 'failed', { problem })
    },
    /** Resolves when its processes are gone. */
    async stop(): Promise<void> {
      await stopCurrent()
      if (tunnel !== null && tunnel.state !== 'stopped') become(tunnel.program, 'stopped')
    },
  }
}
