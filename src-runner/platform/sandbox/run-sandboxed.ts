import { spawn, type ChildProcess, type IOType } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { constants as osConstants, freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import {
  SandboxFailed,
  type SandboxedOutcome,
  type SandboxedProcess,
  type SandboxLimits,
  type SandboxOptions,
  type ReachedLimit,
} from './sandbox-types.ts'
import { createCapturedOutput } from './captured-output.ts'
import { launchInBubblewrap, launchInSeatbelt, launchUnsandboxed, type Launch } from './launch.ts'
import type { SetAside } from '../protected-places/set-aside.ts'
import { createOutputPipe, type OutputPipe } from './output-pipe.ts'
import { watchPlaces } from './place-watch.ts'
import { isRunning, processesUnder, sendSignal } from './process-tree.ts'

const MB = 1024 * 1024
export const DEFAULT_LIMITS: SandboxLimits = {
  processes: 512,
  memoryBytesEach: 4096 * MB,
  memoryBytes: Math.max(2048 * MB, Math.floor(totalmem() / 2)),
  fileBytes: 1024 * MB,
  diskBytes: 10_240 * MB,
  diskFiles: 500_000,
  temporaryBytes: 512 * MB,
  outputBytes: 64 * MB,
}
const DEFAULT_KEEP_BYTES = 64 * 1024

/** Between SIGTERM and SIGKILL. A stopped job waits for one second only. */
export const TERM_GRACE_MS = 600
/** A background process may hold the output open. */
const DRAIN_MS = 250
const WATCH_MS = 100
const SHOW_EVERY_MS = 80
/** Kept free for the rest of the machine. */
const SPARE_MEMORY_BYTES = Math.min(512 * MB, totalmem() * 0.05)
const SPARE_DISK_BYTES = 256 * MB
/** In which a disk may lose what the limits say. The person fills it as well, and programs may run for days. */
const DISK_PERIOD_MS = 60_000
/** How much of bubblewrap's own errors is read. */
const MAX_COMPLAINT_BYTES = 16_384

/** Runs a command in the sandbox, or without one if there is none. It has no input. When it ends, so do all processes that it started. */
export function runSandboxed(options: SandboxOptions): SandboxedProcess {
  const stopped = new AbortController()
  const signal = options.signal === undefined ? stopped.signal : AbortSignal.any([options.signal, stopped.signal])
  return { outcome: run(options, signal), stop: () => stopped.abort() }
}

async function run(options: SandboxOptions, signal: AbortSignal): Promise<SandboxedOutcome> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const launch = await prepare(options, limits)
  try {
    if (signal.aborted) return NOT_BEGUN
    const pipe = await createOutputPipe()
    const started = start(launch, pipe)
    const setAside: SetAside[] = []
    const places = watchPlaces(launch.recheck, (found) => {
      setAside.push(...found)
      options.onSetAside?.(found)
    })
    // The last recheck must happen however the command ends.
    const outcome = await supervise(started, options, limits, signal).catch((thrown: Error) => thrown)
    await places.stop()
    if (outcome instanceof Error) throw outcome
    return { ...outcome, setAside }
  } finally {
    await launch.cleanUp()
  }
}

const NOT_BEGUN: SandboxedOutcome = {
  ended: 'cancelled',
  exitCode: null,
  signal: null,
  limit: null,
  output: '',
  outputBytes: 0,
  durationMs: 0,
  setAside: [],
}

export async function prepare(options: SandboxOptions, limits: SandboxLimits): Promise<Launch> {
  for (const word of [...options.command, options.folder])
    if (word.includes('\0')) throw new SandboxFailed('A command cannot hold a NUL character.')
  switch (options.sandbox.setup?.kind) {
    case 'bubblewrap':
      return launchInBubblewrap(options.sandbox.setup, options, limits)
    case 'seatbelt':
      return launchInSeatbelt(options.sandbox.setup, options)
    default:
      return launchUnsandboxed(options)
  }
}

type Started = {
  child: ChildProcess
  output: Readable
  /** Errors of the sandbox itself. The command's own errors are part of the output. */
  complaints: Readable
  status: Readable | null
}

function start(launch: Launch, output: OutputPipe | null): Started {
  let child: ChildProcess
  try {
    child = spawnLaunch(launch, ['ignore', output?.writer ?? 'pipe', 'pipe'])
  } finally {
    output?.closeWriter()
  }
  return { child, output: output?.reader ?? child.stdout!, complaints: child.stderr!, status: giveDescriptors(child, launch) }
}

export function spawnLaunch(launch: Launch, streams: (IOType | number)[]): ChildProcess {
  return spawn(launch.file, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    stdio: [...streams, ...launch.descriptors.map(() => 'pipe' as const)],
    // In a separate process group, so that one signal reaches all of it.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

/** Returns where bubblewrap reports. */
export function giveDescriptors(child: ChildProcess, { descriptors }: Launch): Readable | null {
  let status: Readable | null = null
  descriptors.forEach((content, index) => {
    const pipe = child.stdio[index + 3] as (Readable & Writable) | null | undefined
    if (!pipe) return
    // A sandbox that fails early does not read it.
    pipe.on('error', () => {})
    if (content === 'status') status = pipe
    else pipe.end(content)
  })
  return status
}

async function supervise(
  started: Started,
  options: SandboxOptions,
  limits: SandboxLimits,
  signal: AbortSignal,
): Promise<Omit<SandboxedOutcome, 'setAside'>> {
  const { child } = started
  const startedAt = performance.now()
  const kept = createCapturedOutput(options.keepBytes ?? DEFAULT_KEEP_BYTES)
  const live = showInPieces(options.onOutput)
  const sandbox = started.status && readStatus(started.status)
  let complaint = ''
  let ended: SandboxedOutcome['ended'] = 'exited'
  let limit: ReachedLimit | null = null
  let killTimer: NodeJS.Timeout | undefined

  const reach = (reached: ReachedLimit) => {
    if (ended !== 'exited') return
    ended = 'limit'
    limit = reached
    void endTree(child, sandbox, 'SIGKILL')
  }
  const end = (how: 'timeout' | 'cancelled') => {
    if (ended !== 'exited') return
    ended = how
    void endTree(child, sandbox, 'SIGTERM')
    killTimer = setTimeout(() => void endTree(child, sandbox, 'SIGKILL'), TERM_GRACE_MS)
  }

  const take = (chunk: Buffer) => {
    kept.add(chunk)
    live.add(chunk)
    if (kept.bytes() > limits.outputBytes) reach('output')
  }
  started.output.on('data', take).on('error', () => {})
  started.complaints
    .on('data', (chunk: Buffer) => {
      // There is no shell that joins the streams.
      if (sandbox === null && process.platform === 'win32') take(chunk)
      else if (complaint.length < MAX_COMPLAINT_BYTES) complaint += chunk.toString('utf8')
    })
    .on('error', () => {})

  const stop = () => end('cancelled')
  signal.addEventListener('abort', stop, { once: true })
  const timeout = setTimeout(() => end('timeout'), options.timeoutMs)
  const watch = watchLimits(() => sandbox?.firstProcess() ?? child.pid, options, limits, reach)
  try {
    const [code, by] = await exitOf(child)
    watch.stop()
    if (sandbox === null) await endTree(child, null, 'SIGKILL')
    else await sandboxIsEmpty(sandbox.firstProcess())
    await drained(started, sandbox === null ? DRAIN_MS : 5_000)
    if (sandbox !== null && ended === 'exited' && !sandbox.ran()) throw couldNotStart(complaint)
    // The command's own errors go to the output, so this comes from the preparation.
    if (code === 125 && sandbox !== null && /^sandbox: /m.test(complaint)) throw couldNotStart(complaint)
    const output = kept.text() + (sandbox === null && process.platform !== 'win32' ? complaint : '')
    return {
      ended,
      exitCode: ended === 'exited' ? exitCodeOf(code, by) : null,
      signal: ended === 'exited' ? signalOf(code, by, sandbox !== null) : null,
      limit,
      output,
      outputBytes: kept.bytes(),
      durationMs: Math.round(performance.now() - startedAt),
    }
  } finally {
    clearTimeout(timeout)
    clearTimeout(killTimer)
    watch.stop()
    signal.removeEventListener('abort', stop)
    live.end()
  }
}

function couldNotStart(complaint: string): SandboxFailed {
  return new SandboxFailed(`The sandbox could not be built: ${complaint.trim() || 'no error was reported'}`)
}

function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', (thrown) => reject(new SandboxFailed(`The command could not be started: ${thrown.message}`, { cause: thrown })))
    child.once('exit', (code, by) => resolve([code, by]))
  })
}

async function drained({ output, complaints, status }: Started, atMostMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const isOver = new Promise<void>((resolve) => void (timer = setTimeout(resolve, atMostMs)))
  await Promise.race([Promise.all([endOf(output), endOf(complaints)]), isOver])
  clearTimeout(timer)
  output.destroy()
  complaints.destroy()
  status?.destroy()
}

/**
 * bubblewrap ends with the command, and the kernel then ends the rest. The first process ends last: after that nothing can write
 * to the folder.
 */
export async function sandboxIsEmpty(firstProcess: number | undefined): Promise<void> {
  if (firstProcess === undefined) return
  for (let waitMs = 1; waitMs < 1_000 && isRunning(firstProcess); waitMs *= 2) await new Promise((resolve) => setTimeout(resolve, waitMs))
}

export function endOf(stream: Readable): Promise<void> {
  return stream.readableEnded || stream.closed
    ? Promise.resolve()
    : new Promise((resolve) => void stream.once('end', resolve).once('close', resolve))
}

function exitCodeOf(code: number | null, by: NodeJS.Signals | null): number | null {
  return by === null ? code : 128 + osConstants.signals[by]
}

/** Like a shell, bubblewrap reports a signal as 128 plus its number. */
function signalOf(code: number | null, by: NodeJS.Signals | null, sandboxed: boolean): NodeJS.Signals | null {
  if (by !== null || !sandboxed || code === null || code <= 128) return by
  return (Object.entries(osConstants.signals).find(([, number]) => number === code - 128)?.[0] as NodeJS.Signals | undefined) ?? null
}

export type SandboxStatus = {
  /** The pid outside of the first process in the sandbox. */
  firstProcess(): number | undefined
  ran(): boolean
}

export function readStatus(status: Readable): SandboxStatus {
  let text = ''
  status.on('data', (chunk: Buffer) => void (text += chunk.toString('latin1')))
  return {
    firstProcess() {
      const pid = /"child-pid": (\d+)/.exec(text)?.[1]
      return pid === undefined ? undefined : Number(pid)
    },
    ran: () => text.includes('"exit-code"'),
  }
}

/**
 * In a sandbox of namespaces, killing the first process kills all. Elsewhere this reaches the group and all descendants that still
 * have their parents.
 */
export async function endTree(child: ChildProcess, sandbox: SandboxStatus | null, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.pid === undefined) return
  if (process.platform === 'win32') {
    spawn(join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe'), ['/pid', String(child.pid), '/T', '/F'], {
      windowsHide: true,
    })
    return
  }
  const first = sandbox?.firstProcess()
  if (sandbox !== null && (signal === 'SIGKILL' || first === undefined)) {
    if (first !== undefined) sendSignal(first, 'SIGKILL')
    sendSignal(-child.pid, 'SIGKILL')
    return
  }
  // Parents first: a shell whose command ended would start the next one.
  const processes = await processesUnder(first ?? child.pid).catch(() => [])
  if (sandbox === null) sendSignal(-child.pid, signal)
  for (const { pid } of processes) sendSignal(pid, signal)
}

/**
 * Watches from outside what no limit of a single process covers: their number and what they use together. Also stops the command
 * when the machine runs out of memory or disk.
 */
export function watchLimits(
  root: () => number | undefined,
  options: SandboxOptions,
  limits: SandboxLimits,
  reach: (limit: ReachedLimit) => void,
): { stop(): void } {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const isDiskUsedUp = createDiskMeter(limits)
  const measure = async () => isDiskUsedUp(await roomOn(options.folder), performance.now())
  const first = measure()
  const look = async () => {
    const began = performance.now()
    const pid = root()
    if (pid !== undefined) {
      const processes = await processesUnder(pid, limits.processes + 1).catch(() => [])
      if (processes.length > limits.processes) reach('processes')
      const resident = processes.reduce((sum, one) => sum + one.residentBytes, 0)
      if (resident > limits.memoryBytes || (freemem() < SPARE_MEMORY_BYTES && resident > SPARE_MEMORY_BYTES)) reach('memory')
      await first
      if (await measure()) reach('disk')
    }
    // Watching takes at most a tenth of the time, however many processes there are.
    if (!stopped) timer = setTimeout(() => void look(), Math.max(WATCH_MS, (performance.now() - began) * 9))
  }
  timer = setTimeout(() => void look(), WATCH_MS / 2)
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

type Room = { bytes: number; files: number }

/** null: unknown. Some file systems report 0 files. */
async function roomOn(folder: string): Promise<Room | null> {
  const stats = await statfs(folder).catch(() => null)
  return stats === null ? null : { bytes: stats.bavail * stats.bsize, files: stats.ffree }
}

/**
 * Says at each look whether the disk lost too much in this period, or is nearly full and lost some since the first look. Counts what
 * other programs write as well: a disk that fills up that fast must be saved.
 */
export function createDiskMeter({ diskBytes, diskFiles }: Pick<SandboxLimits, 'diskBytes' | 'diskFiles'>) {
  let first: Room | null = null
  let before: { room: Room; at: number } | null = null
  return (now: Room | null, at: number): boolean => {
    if (now === null) return false
    first ??= now
    before ??= { room: now, at }
    const { bytes, files } = before.room
    const isNearlyFull = now.bytes < SPARE_DISK_BYTES && first.bytes - now.bytes > SPARE_DISK_BYTES / 4
    const lostBytes = bytes - now.bytes > Math.min(diskBytes, bytes / 2)
    const lostFiles = files > 0 && files - now.files > Math.min(diskFiles, files / 2)
    if (at - before.at >= DISK_PERIOD_MS) before = { room: now, at }
    return isNearlyFull || lostBytes || lostFiles
  }
}

/** Passes output on in few, larger pieces, since each costs a message. */
function showInPieces(show: ((text: string) => void) | undefined): { add(chunk: Buffer): void; end(): void } {
  if (show === undefined) return { add() {}, end() {} }
  const decoder = new StringDecoder('utf8')
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (waiting !== '') show(waiting)
    waiting = ''
  }
  return {
    add(chunk) {
      waiting += decoder.write(chunk)
      timer ??= setTimeout(flush, SHOW_EVERY_MS)
    },
    end() {
      waiting += decoder.end()
      flush()
    },
  }
}
