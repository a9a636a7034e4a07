import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { hasChromiumSandbox } from '../chromium-sandbox.mjs'
import { callJson } from './http-client.ts'
import { makeFolder, median, ROOT, spread, startProgram } from './processes.ts'

/**
 * From the start of the process to a window that can be used, and the memory of all processes at rest, beside a bare
 * Electron window with one empty utility process. Both are started the same way, and both are asked the same way,
 * through Chromium's debugging port, whether what a person waits for has been painted: of the bare window its heading,
 * of Deckhand the home screen with the agent that the runner told it of.
 *
 * Needs a display; `npm run bench` gives it a virtual one.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const REST_MS = Number(process.env['BENCH_REST_MS'] ?? 10_000)
const AGENT = 'Harbour master'
/** More than any start takes: past it, something is broken. */
const LIMIT_MS = 30_000

type Measured = { usableMs: number; memoryMb: number; processes: number }

export async function benchWindow(): Promise<void> {
  const dataDir = await makeUsedFolder()
  const bare: Measured[] = []
  const ours: Measured[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const one = await measure([join(ROOT, 'build/bench/bare-window')], {}, seen('h1', 'Bare window'))
    const other = await measure(
      [ROOT],
      { DECKHAND_DATA_DIR: dataDir, DECKHAND_VAULT: 'file', RUNNER_PORT: '3961', DASHBOARD_PORT: '3960' },
      seen('main', AGENT),
    )
    // The first round fills the caches of the disk.
    if (round === 0) continue
    bare.push(one)
    ours.push(other)
  }
  const starts = [bare, ours].map((all) => all.map((m) => m.usableMs))
  const memory = [bare, ours].map((all) => all.map((m) => m.memoryMb))
  const [bareMs, oursMs] = starts.map(median) as [number, number]
  const [bareMb, oursMb] = memory.map(median) as [number, number]
  console.log(`\nStart to usable window, and memory at rest (PSS of all processes, ${REST_MS / 1000} s after; ${ROUNDS} rounds in turn)`)
  console.log('what | bare window | Deckhand | comparison')
  console.log(
    `start, ms | ${spread(starts[0]!, 0)} | ${spread(starts[1]!, 0)} | ${(oursMs / bareMs).toFixed(2)}x (target: ${(bareMs * 1.5 + 400).toFixed(0)} ms or less)`,
  )
  console.log(
    `memory, MB | ${spread(memory[0]!, 0)} | ${spread(memory[1]!, 0)} | +${(oursMb - bareMb).toFixed(0)} MB (target: +150 or less)`,
  )
  console.log(`processes | ${bare[0]!.processes} | ${ours[0]!.processes} |`)
}

/** A data folder as somebody has it who uses Deckhand: set up, with an agent. */
async function makeUsedFolder(): Promise<string> {
  const dataDir = makeFolder()
  const headless = await startProgram<{ dashboardUrl: string }>(join(ROOT, 'out/main/headless.js'), [], {
    DECKHAND_DATA_DIR: dataDir,
    DECKHAND_VAULT: 'file',
    RUNNER_PORT: '3961',
    DASHBOARD_PORT: '3960',
  })
  const { dashboardUrl } = headless.line
  const model = { providerId: 'demo', model: 'demo' }
  await callJson('POST', `${dashboardUrl}/api/agents`, { name: AGENT, model })
  await callJson('PATCH', `${dashboardUrl}/api/settings`, { firstStart: 'done', defaultModel: model })
  await headless.stop()
  return dataDir
}

function seen(selector: string, text: string): string {
  return `new Promise((resolve) => {
    const look = () => document.querySelector('${selector}')?.innerText.includes('${text}')
      ? requestAnimationFrame(() => resolve(true)) : setTimeout(look, 4)
    look()
  })`
}

async function measure(args: string[], env: Record<string, string>, usable: string): Promise<Measured> {
  const before = performance.now()
  const sandbox = hasChromiumSandbox() ? [] : ['--no-sandbox']
  const child = spawn(join(ROOT, 'node_modules/electron/dist/electron'), ['--remote-debugging-port=0', ...sandbox, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that its helpers end with it.
    detached: true,
  })
  try {
    const page = await findPage(child)
    await evaluate(page, usable)
    const usableMs = performance.now() - before
    await wait(REST_MS)
    const pids = familyOf(child.pid!)
    return { usableMs, memoryMb: pids.reduce((sum, pid) => sum + pssKb(pid), 0) / 1024, processes: pids.length }
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 8000)
    await ended
    clearTimeout(late)
  }
}

/** Where to talk to the page: Chromium says its port on stderr, and its list of targets has the page as soon as there is one. */
async function findPage(child: ChildProcess): Promise<string> {
  const base = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      output += chunk
      const found = /DevTools listening on ws:\/\/([^/]+)/.exec(output)
      if (found) resolve(`http://${found[1]}`)
    })
    child.once('exit', (code) => reject(new Error(`the app ended with ${code}: ${output.slice(-2000)}`)))
  })
  const limit = performance.now() + LIMIT_MS
  while (performance.now() < limit) {
    const targets = (await (await fetch(`${base}/json/list`)).json()) as { type: string; url: string; webSocketDebuggerUrl: string }[]
    const page = targets.find((target) => target.type === 'page' && target.url !== '' && target.url !== 'about:blank')
    if (page !== undefined) return page.webSocketDebuggerUrl
    await wait(5)
  }
  throw new Error('no window appeared')
}

function evaluate(pageUrl: string, expression: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(pageUrl)
    const timer = setTimeout(() => reject(new Error('the window did not become usable')), LIMIT_MS)
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression, awaitPromise: true } }))
    socket.onerror = () => reject(new Error('the debugging port closed'))
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as { id?: number; result?: { exceptionDetails?: unknown } }
      if (message.id !== 1) return
      clearTimeout(timer)
      socket.close()
      if (message.result?.exceptionDetails === undefined) resolve()
      else reject(new Error(JSON.stringify(message.result.exceptionDetails)))
    }
  })
}

/** The process and everything it started, helpers of helpers included. */
function familyOf(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /, '')
      parents.set(Number(name), Number(stat.split(' ')[1]))
    } catch {
      // It ended while we looked.
    }
  }
  const family = new Set([root])
  for (let grown = -1; grown !== family.size;) {
    grown = family.size
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid)
  }
  return [...family]
}

function pssKb(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
