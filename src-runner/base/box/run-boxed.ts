import { spawn, type ChildProcess } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { constants as osConstants, freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { BoxFailed, type BoxedEnding, type BoxedProcess, type BoxLimits, type BoxOptions, type ReachedLimit } from './box-types.ts'
import { createKeptOutput } from './kept-output.ts'
import { launchInBubblewrap, launchInSeatbelt, launchUnboxed, type Launch } from './launch.ts'
import { createOutputPipe, type OutputPipe } from './output-pipe.ts'
import { isRunning, processesUnder, sendSignal } from './process-tree.ts'

const MB = 1024 * 1024
export const DEFAULT_LIMITS: BoxLimits = {
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

/** Between SIGTERM and SIGKILL. A stopped job is left behind after one second. */
const TERM_GRACE_MS = 600
/** A process that was left in the background may hold the output open; what it still says is of no interest. */
const DRAIN_MS = 250
const WATCH_MS = 100
const SHOW_EVERY_MS = 80
/** What the machine needs for itself, whoever took the rest. */
const SPARE_MEMORY_BYTES = Math.min(512 * MB, totalmem() * 0.05)
const SPARE_DISK_BYTES = 256 * MB
/** Of what bubblewrap itself says when it fails. */
const MAX_COMPLAINT_BYTES = 16_384

/**
 * Starts a command in the box, or without one where there is none. It has no input. When it ends, or is stopped, or
 * reaches a limit, everything that it has started ends with it.
 */
export function runBoxed(options: BoxOptions): BoxedProcess {
  const stopped = new AbortController()
  const signal = options.signal === undefined ? stopped.signal : AbortSignal.any([options.signal, stopped.signal])
  return { ending: run(options, signal), stop: () => stopped.abort() }
}

async function run(options: BoxOptions, signal: AbortSignal): Promise<BoxedEnding> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  for (const word of [...options.command, options.folder])
    if (word.includes('\0')) throw new BoxFailed('A command cannot hold a NUL character.')
  const launch = await prepare(options, limits)
  try {
    if (signal.aborted) return NOT_BEGUN
    const pipe = await createOutputPipe()
    // Whatever becomes of the command, what it left behind is looked at.
    const ending = await supervise(start(launch, pipe), options, limits, signal).catch((thrown: Error) => thrown)
    const setAside = await launch.lookAfter()
    if (ending instanceof Error) throw ending
    return { ...ending, setAside }
  } finally {
    await launch.cleanUp()
  }
}

const NOT_BEGUN: BoxedEnding = {
  ...{ ended: 'cancelled', exitCode: null, signal: null, limit: null },
  ...{ output: '', outputBytes: 0, durationMs: 0, setAside: [] },
}

function prepare(options: BoxOptions, limits: BoxLimits): Promise<Launch> {
  switch (options.box.setup?.kind) {
    case 'bubblewrap':
      return launchInBubblewrap(options.box.setup, options, limits)
    case 'seatbelt':
      return launchInSeatbelt(options.box.setup, options)
    default:
      return launchUnboxed(options)
  }
}

type Started = {
  child: ChildProcess
  output: Readable
  /** What the box itself has to say; the command's own errors are part of the output. */
  complaints: Readable
  status: Readable | null
}

function start(launch: Launch, pipe: OutputPipe | null): Started {
  try {
    return spawnWith(launch, pipe)
  } finally {
    pipe?.closeWriter()
  }
}

function spawnWith(launch: Launch, output: OutputPipe | null): Started {
  const child = spawn(launch.file, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    stdio: ['ignore', output?.writer ?? 'pipe', 'pipe', ...launch.descriptors.map(() => 'pipe' as const)],
    // Its own process group, so that all of it can be reached at once.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  let status: Readable | null = null
  launch.descriptors.forEach((content, index) => {
    const pipe = child.stdio[index + 3] as (Readable & Writable) | null | undefined
    if (!pipe) return
    // A box that fails early reads none of it; how it failed is told by its ending.
    pipe.on('error', () => {})
    if (content === 'status') status = pipe
    else pipe.end(content)
  })
  return { child, output: output?.reader ?? child.stdout!, complaints: child.stderr!, status }
}

async function supervise(
  started: Started,
  options: BoxOptions,
  limits: BoxLimits,
  signal: AbortSignal,
): Promise<Omit<BoxedEnding, 'setAside'>> {
  const { child } = started
  const startedAt = performance.now()
  const kept = createKeptOutput(options.keepBytes ?? DEFAULT_KEEP_BYTES)
  const live = showInPieces(options.onOutput)
  const box = options.box.setup?.kind === 'bubblewrap' ? readStatus(started.status!) : null
  let complaint = ''
  let ended: BoxedEnding['ended'] = 'exited'
  let limit: ReachedLimit | null = null
  let killTimer: NodeJS.Timeout | undefined

  const reach = (reached: ReachedLimit) => {
    if (ended !== 'exited') return
    ended = 'limit'
    limit = reached
    // Whoever takes all it can get is not asked first.
    void endTree(child, box, 'SIGKILL')
  }
  const end = (how: 'timeout' | 'cancelled') => {
    if (ended !== 'exited') return
    ended = how
    void endTree(child, box, 'SIGTERM')
    killTimer = setTimeout(() => void endTree(child, box, 'SIGKILL'), TERM_GRACE_MS)
  }

  const take = (chunk: Buffer) => {
    kept.add(chunk)
    live.add(chunk)
    if (kept.bytes() > limits.outputBytes) reach('output')
  }
  started.output.on('data', take).on('error', () => {})
  started.complaints
    .on('data', (chunk: Buffer) => {
      // Without a shell to join them the streams are joined here, in the order of their arrival.
      if (box === null && process.platform === 'win32') take(chunk)
      else if (complaint.length < MAX_COMPLAINT_BYTES) complaint += chunk.toString('utf8')
    })
    .on('error', () => {})

  const stop = () => end('cancelled')
  signal.addEventListener('abort', stop, { once: true })
  const timeout = setTimeout(() => end('timeout'), options.timeoutMs)
  const watch = watchLimits(() => box?.firstProcess() ?? child.pid, options, limits, reach)
  try {
    const [code, by] = await exitOf(child)
    watch.stop()
    if (box === null) await endTree(child, null, 'SIGKILL')
    else await boxIsEmpty(box.firstProcess())
    await drained(started, box === null ? DRAIN_MS : 5_000)
    if (box !== null && ended === 'exited' && !box.ran()) throw couldNotStart(complaint)
    // Only what runs before the command can complain here: the command itself has the output for both of its streams.
    if (code === 125 && box !== null && /^box: /m.test(complaint)) throw couldNotStart(complaint)
    const output = kept.text() + (box === null && process.platform !== 'win32' ? complaint : '')
    return {
      ended,
      exitCode: ended === 'exited' ? exitCodeOf(code, by) : null,
      signal: ended === 'exited' ? signalOf(code, by, box !== null) : null,
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

function couldNotStart(complaint: string): BoxFailed {
  return new BoxFailed(`The box could not be built: ${complaint.trim() || 'it said nothing'}`)
}

function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', (thrown) => reject(new BoxFailed(`The command could not be started: ${thrown.message}`, { cause: thrown })))
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
 * bubblewrap ends with the command, and the kernel then ends the rest. The first process in the box is the last to go:
 * when it has gone, there is nobody left who could still write to the folder.
 */
async function boxIsEmpty(firstProcess: number | undefined): Promise<void> {
  if (firstProcess === undefined) return
  for (let waitMs = 1; waitMs < 1_000 && isRunning(firstProcess); waitMs *= 2) await new Promise((resolve) => setTimeout(resolve, waitMs))
}

function endOf(stream: Readable): Promise<void> {
  return stream.readableEnded || stream.closed
    ? Promise.resolve()
    : new Promise((resolve) => void stream.once('end', resolve).once('close', resolve))
}

function exitCodeOf(code: number | null, by: NodeJS.Signals | null): number | null {
  return by === null ? code : 128 + osConstants.signals[by]
}

/** bubblewrap passes on how the command ended as shells do: 128 and the number of the signal. */
function signalOf(code: number | null, by: NodeJS.Signals | null, boxed: boolean): NodeJS.Signals | null {
  if (by !== null || !boxed || code === null || code <= 128) return by
  return (Object.entries(osConstants.signals).find(([, number]) => number === code - 128)?.[0] as NodeJS.Signals | undefined) ?? null
}

type BoxStatus = {
  /** Number of the first process in the box, as it is called outside. */
  firstProcess(): number | undefined
  /** The command was started. */
  ran(): boolean
}

function readStatus(status: Readable): BoxStatus {
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
 * In a box of namespaces the death of the first process is the death of all. Elsewhere the group and all that still
 * have their parents are reached.
 */
async function endTree(child: ChildProcess, box: BoxStatus | null, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.pid === undefined) return
  if (process.platform === 'win32') {
    spawn(join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe'), ['/pid', String(child.pid), '/T', '/F'], {
      windowsHide: true,
    })
    return
  }
  const first = box?.firstProcess()
  if (box !== null && (signal === 'SIGKILL' || first === undefined)) {
    if (first !== undefined) sendSignal(first, 'SIGKILL')
    sendSignal(-child.pid, 'SIGKILL')
    return
  }
  // Parents before their children: a shell whose command was ended would go on with the next one.
  const processes = await processesUnder(first ?? child.pid).catch(() => [])
  if (box === null) sendSignal(-child.pid, signal)
  for (const { pid } of processes) sendSignal(pid, signal)
}

/**
 * Looks from outside at what no limit of a single process holds: how many there are, and what they take together. A
 * machine without memory or disk to spare stops the command as well: it is the one thing that can be spared.
 */
function watchLimits(
  root: () => number | undefined,
  options: BoxOptions,
  limits: BoxLimits,
  reach: (limit: ReachedLimit) => void,
): { stop(): void } {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const room = roomOn(options.folder)
  const look = async () => {
    const began = performance.now()
    const pid = root()
    if (pid !== undefined) {
      const processes = await processesUnder(pid, limits.processes + 1).catch(() => [])
      if (processes.length > limits.processes) reach('processes')
      const resident = processes.reduce((sum, one) => sum + one.residentBytes, 0)
      if (resident > limits.memoryBytes || (freemem() < SPARE_MEMORY_BYTES && resident > SPARE_MEMORY_BYTES)) reach('memory')
      const [before, now] = await Promise.all([room, roomOn(options.folder)])
      if (isUsedUp(before, now, limits)) reach('disk')
    }
    // Looking takes at most a tenth of the time, however many there are to look at.
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

/** Null: nobody tells. Of files some systems tell none. */
async function roomOn(folder: string): Promise<Room | null> {
  const stats = await statfs(folder).catch(() => null)
  return stats === null ? null : { bytes: stats.bavail * stats.bsize, files: stats.ffree }
}

/** What others write meanwhile counts as well: a disk that fills up that fast has to be spared, whoever it is. */
function isUsedUp(before: Room | null, now: Room | null, { diskBytes, diskFiles }: BoxLimits): boolean {
  if (before === null || now === null) return false
  const used = { bytes: before.bytes - now.bytes, files: before.files - now.files }
  if (now.bytes < SPARE_DISK_BYTES && used.bytes > SPARE_DISK_BYTES / 4) return true
  return used.bytes > Math.min(diskBytes, before.bytes / 2) || (before.files > 0 && used.files > Math.min(diskFiles, before.files / 2))
}

/** Hands output on in few, larger pieces: a page cannot read faster, and each piece costs a message. */
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
