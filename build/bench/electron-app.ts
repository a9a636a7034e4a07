import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { hasChromiumSandbox } from '../chromium-sandbox.mjs'
import { callJson } from './http-client.ts'
import { cpuSeconds, makeFolder, ROOT, startProgram } from './processes.ts'

/** The only agent of a used folder. Home shows it as soon as the runner has told the page of it. */
export const AGENT = 'Harbour master'
/** More than any start takes: past it, something is broken. */
const LIMIT_MS = 30_000

export type ElectronApp = {
  /** Resolves once the expression, a promise, resolves in the page. */
  evaluate(expression: string): Promise<void>
  /** All of its processes together: memory (PSS), how many there are, and the processor time used so far. */
  usage(): { memoryMb: number; processes: number; cpuSeconds: number }
  stop(): Promise<void>
}

/** Where a Deckhand that is measured listens and keeps its data. */
export function environmentOf(dataDir: string): Record<string, string> {
  return { DECKHAND_DATA_DIR: dataDir, DECKHAND_VAULT: 'file', RUNNER_PORT: '3961', DASHBOARD_PORT: '3960' }
}

/** A data folder as somebody has it who uses Deckhand: set up, with an agent. `fill` adds to it before the first start. */
export async function makeUsedFolder(fill?: (dataDir: string) => void): Promise<string> {
  const dataDir = makeFolder()
  fill?.(dataDir)
  const headless = await startProgram<{ dashboardUrl: string }>(join(ROOT, 'out/main/headless.js'), [], environmentOf(dataDir))
  const { dashboardUrl } = headless.line
  const model = { providerId: 'demo', model: 'demo' }
  await callJson('POST', `${dashboardUrl}/api/agents`, { name: AGENT, model })
  await callJson('PATCH', `${dashboardUrl}/api/settings`, { firstStart: 'done', defaultModel: model })
  await headless.stop()
  return dataDir
}

/** Resolves in the page when the text has been painted. */
export function seen(selector: string, text: string): string {
  return painted(`document.querySelector('${selector}')?.innerText.includes('${text}')`)
}

/** Resolves in the page when the field for a new job has been painted and takes text. */
export function writable(): string {
  return painted(`document.querySelector('main textarea:enabled')`)
}

function painted(condition: string): string {
  return `new Promise((resolve) => {
    const look = () => ${condition} ? requestAnimationFrame(() => resolve(true)) : setTimeout(look, 4)
    look()
  })`
}

/** Starts Electron with a debugging port; resolves when there is a page. Needs a display. */
export async function startElectron(args: string[], env: Record<string, string>): Promise<ElectronApp> {
  const sandbox = hasChromiumSandbox() ? [] : ['--no-sandbox']
  const child = spawn(join(ROOT, 'node_modules/electron/dist/electron'), ['--remote-debugging-port=0', ...sandbox, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that its helpers end with it.
    detached: true,
  })
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 8000)
    await ended
    clearTimeout(late)
  }
  try {
    const page = await findPage(child)
    return {
      evaluate: (expression) => evaluate(page, expression),
      usage() {
        const pids = familyOf(child.pid!)
        const sum = (of: (pid: number) => number) => pids.reduce((total, pid) => total + of(pid), 0)
        return { memoryMb: sum(pssKb) / 1024, processes: pids.length, cpuSeconds: sum(cpuSeconds) }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
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
    const ask = () => socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression, awaitPromise: true } }))
    socket.onopen = ask
    socket.onerror = () => reject(new Error('the debugging port closed'))
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as { id?: number; error?: unknown; result?: { exceptionDetails?: unknown } }
      if (message.id !== 1) return
      // Asked of the empty document that a window has before its page: it is gone, and its promise with it.
      if (message.error !== undefined) return ask()
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
