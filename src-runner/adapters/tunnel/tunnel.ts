import type { Message } from '../../contract/messages.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProgram } from '../../platform/programs/start-program.ts'
import type { Tunnel, TunnelProgram } from '../../contract/public-address.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'
import { environmentOf, quoteProgram, TUNNEL_PROGRAMS, type Heard } from './tunnel-programs.ts'

export type TunnelTimings = {
  /** From the start of a program until it has printed its address. */
  addressWithinMs: number
  /** Before each restart. After the last one the program is given up. */
  restartAfterMs: readonly number[]
  /** After running for this long, the restarts are counted from the beginning. */
  settledAfterMs: number
  stopGraceMs: number
}

export const TUNNEL_TIMINGS: TunnelTimings = {
  addressWithinMs: 60_000,
  restartAfterMs: [1_000, 5_000, 20_000, 60_000, 180_000],
  settledAfterMs: 10 * 60_000,
  stopGraceMs: 3_000,
}

export type TunnelDeps = {
  clock: Clock
  log: Log
  /** For configuration files of ours. */
  folder: string
  timings: TunnelTimings
  onChange(): void
}

/** `find`: where the program is now; null: it is gone. */
export type TunnelRun = { program: TunnelProgram; find: () => string | null; port: number }

export type TunnelKeeper = {
  /** Of the last tunnel; null: none was started. */
  state(): Tunnel | null
  /** It failed for a reason that may pass: no network, a port that was taken. */
  mayWorkLater(): boolean
  /** Replaces the running one. */
  start(run: TunnelRun): Promise<void>
  /** Records a tunnel that could not be started. */
  fail(program: TunnelProgram, problem: Message): Promise<void>
  /** Resolves when its processes are gone. */
  stop(): Promise<void>
}

/** Keeps one tunnel program running. Restarts it after growing pauses when it ends, and gives it up after a few. */
export function createTunnel({ clock, log, folder, timings, onChange }: TunnelDeps): TunnelKeeper {
  let tunnel: Tunnel | null = null
  let isHopeless = false
  let present: { stopping: AbortController; done: Promise<void> } | null = null

  function become(next: Tunnel): void {
    tunnel = next
    log.info({ ...next }, `tunnel ${next.state}`)
    onChange()
  }

  async function keep(run: TunnelRun, stopping: AbortSignal): Promise<void> {
    const { program } = run
    let ends = 0
    for (;;) {
      const startedAt = clock.monotonic()
      const { problem, isFinal } = await runOnce(run, stopping)
      if (stopping.aborted) return
      if (clock.monotonic() - startedAt >= timings.settledAfterMs) ends = 0
      const pause = timings.restartAfterMs[ends++]
      isHopeless = isFinal
      if (isFinal || pause === undefined) return become({ ...at(program, 'failed'), problem })
      become({ ...at(program, 'starting'), problem })
      await clock.sleep(pause, stopping).catch(() => {})
      if (stopping.aborted) return
    }
  }

  async function runOnce({ program, find, port }: TunnelRun, stopping: AbortSignal): Promise<{ problem: Message; isFinal: boolean }> {
    const file = find()
    if (file === null) return { problem: createMessage('tunnel_gone', { program }), isFinal: true }
    const kind = TUNNEL_PROGRAMS[program]
    const configFile = join(folder, `${program}.yml`)
    if (kind.config !== null) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(configFile, kind.config, { mode: 0o600 })
    }
    const hear = kind.listen()
    const given = Promise.withResolvers<void>()
    let trouble: Exclude<Heard, { url: string } | null> | null = null
    const running = startProgram({
      file,
      args: kind.args({ port, configFile }),
      env: environmentOf(program),
      onLine(line) {
        const heard = hear(line)
        if (heard === null || stopping.aborted) return
        if ('url' in heard) {
          given.resolve()
          if (tunnel?.url !== heard.url) become({ ...at(program, 'running'), url: heard.url, startedAt: clock.now() })
          return
        }
        // A final problem explains the end better than what is printed later.
        if (trouble?.isFinal !== true) trouble = heard
        // Some programs print why they cannot go on, and then wait forever.
        if (heard.isFinal && tunnel?.state !== 'running') void running.stop(timings.stopGraceMs)
      },
    })
    log.info({ program, file, port, pid: running.pid }, 'started a tunnel program')
    const stop = () => void running.stop(timings.stopGraceMs)
    stopping.addEventListener('abort', stop, { once: true })
    if (stopping.aborted) stop()
    const over = new AbortController()
    let isLate = false
    const limit = clock.sleep(timings.addressWithinMs, over.signal).then(
      () => {
        isLate = true
        stop()
      },
      () => {},
    )
    void given.promise.then(() => over.abort())
    const { code, signal, error } = await running.ended
    over.abort()
    await limit
    stopping.removeEventListener('abort', stop)
    log.info({ program, code, signal }, 'a tunnel program ended')
    const how = isLate
      ? createMessage('tunnel_no_address', { seconds: Math.round(timings.addressWithinMs / 1000) })
      : error !== null
        ? createMessage('tunnel_not_started', { program, words: messageOf(error) })
        : signal === null
          ? createMessage('tunnel_ended', { program, exit: String(code ?? '?') })
          : createMessage('tunnel_killed', { program, signal })
    return trouble ?? { problem: how, isFinal: false }
  }

  async function stopPresent(): Promise<void> {
    const running = present
    present = null
    running?.stopping.abort(new Error('the tunnel is stopped'))
    await running?.done
  }

  return {
    state: () => tunnel,
    mayWorkLater: () => tunnel?.state === 'failed' && !isHopeless,
    async start(run) {
      await stopPresent()
      const stopping = new AbortController()
      become(at(run.program, 'starting'))
      const done = keep(run, stopping.signal).catch((error: unknown) => {
        log.error({ error }, 'the tunnel failed')
        if (!stopping.signal.aborted) become({ ...at(run.program, 'failed'), problem: quoteProgram(run.program, messageOf(error)) })
      })
      present = { stopping, done }
    },
    async fail(program, problem) {
      await stopPresent()
      isHopeless = false
      become({ ...at(program, 'failed'), problem })
    },
    async stop() {
      const was = tunnel
      await stopPresent()
      if (was !== null && was.state !== 'stopped') become(at(was.program, 'stopped'))
    },
  }
}

function at(program: TunnelProgram, state: Tunnel['state']): Tunnel {
  return { program, state, url: null, problem: null, startedAt: null }
}
