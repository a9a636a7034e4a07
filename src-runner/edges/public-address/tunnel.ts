import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProgram } from '../../base/programs/start-program.ts'
import type { Tunnel, TunnelProgram } from '../../contract/public-address.ts'
import type { Clock } from '../../kit/clock.ts'
import { messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import { say } from '../../kit/said.ts'
import { environmentOf, said, TUNNEL_PROGRAMS, type Heard } from './tunnel-programs.ts'

export type TunnelTimings = {
  /** From the start of a program until it has said its address. */
  addressWithinMs: number
  /** Before each next start of one that ended; after the last there is none. */
  restartAfterMs: readonly number[]
  /** One that ran for this long is counted as new when it ends. */
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
  /** For files of ours that programs read. */
  folder: string
  timings: TunnelTimings
  onChange(): void
}

/** `find`: where the program is at the moment; null: nowhere any more. */
export type TunnelRun = { program: TunnelProgram; find: () => string | null; port: number }

export type TunnelKeeper = {
  /** The one that was started last; null: none was. */
  state(): Tunnel | null
  /** It failed, for a reason that may be gone later: no network, a port that was taken. */
  mayWorkLater(): boolean
  /** In place of the one that runs. */
  start(run: TunnelRun): Promise<void>
  /** There is something that could not even be tried. */
  fail(program: TunnelProgram, problem: string): Promise<void>
  /** Resolves when its processes are gone. */
  stop(): Promise<void>
}

/** Keeps one tunnel program running: started again, after ever longer breaks, when it ends by itself, and given up after a few. */
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

  /** Resolves when the program has ended, by itself or because it was told to. */
  async function runOnce({ program, find, port }: TunnelRun, stopping: AbortSignal): Promise<{ problem: string; isFinal: boolean }> {
    const file = find()
    if (file === null) return { problem: say('tunnel_gone', { program }), isFinal: true }
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
        // What cannot be helped explains the end, whatever else is said on the way there.
        if (trouble?.isFinal !== true) trouble = heard
        // Some wait for ever once they have said why they cannot go on.
        if (heard.isFinal && tunnel?.state !== 'running') void running.stop(timings.stopGraceMs)
      },
    })
    log.info({ program, file, port, pid: running.pid }, 'a tunnel program was started')
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
    log.info({ program, code, signal }, 'a tunnel program has ended')
    const how = isLate
      ? say('tunnel_no_address', { seconds: Math.round(timings.addressWithinMs / 1000) })
      : error !== null
        ? say('tunnel_not_started', { program, words: messageOf(error) })
        : signal === null
          ? say('tunnel_ended', { program, exit: String(code ?? '?') })
          : say('tunnel_killed', { program, signal })
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
        log.error({ error }, 'the tunnel broke off')
        if (!stopping.signal.aborted) become({ ...at(run.program, 'failed'), problem: said(run.program, messageOf(error)) })
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
  return { program, state, url: null, problem: '', startedAt: null }
}
