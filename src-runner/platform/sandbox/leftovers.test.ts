import { spawn, type ChildProcess } from 'node:child_process'
import { on, once } from 'node:events'
import { watch } from 'node:fs'
import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { findProtected } from '../protected-places/find-protected.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { keepForRecheck } from './recheck.ts'
import { OWNER_VARIABLE, ownMark, sweepLeftovers, temporaryFolder } from './leftovers.ts'

const { isMissing } = await findSandboxHere('bubblewrap')

const namespace = ownMark().split('.')[2]

async function temporary() {
  const scratch = await scratchFolder()
  vi.stubEnv('TMPDIR', scratch.path)
  onTestFinished(() => void vi.unstubAllEnvs())
  return scratch
}

async function processesOf(mark: RegExp): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')))
  const states = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')))
  return pids.filter((_, at) => mark.test(environments[at]!) && /^State:\s+[^ZX]/m.test(states[at]!))
}

describe.skipIf(process.platform !== 'linux')('a sweep', () => {
  it('ends and removes what dead processes left, and nothing else', async () => {
    const folder = await temporary()
    const gone = spawn('/bin/true')
    await once(gone, 'exit')
    const start = (mark: string) => spawn('/bin/sleep', ['300'], { env: { [OWNER_VARIABLE]: mark }, stdio: 'ignore' })
    const [abandoned, reused, held] = [start(`${gone.pid}.1.${namespace}`), start(`${process.pid}.1.${namespace}`), start(ownMark())]
    onTestFinished(() => [abandoned, reused, held].forEach((child) => void child.kill('SIGKILL')))
    await Promise.all([abandoned, reused, held].map((child) => once(child, 'spawn')))
    const own = await temporaryFolder('output')
    for (const name of [
      `deckhand-output-${gone.pid}.1.${namespace}-abc`,
      `deckhand-skill-${gone.pid}.1.${namespace}-abc`,
      `deckhand-proxy-${process.pid}.1.${namespace}-abc`,
      'deckhand-output-abc',
      `other-${gone.pid}.1.${namespace}-x`,
    ])
      await mkdir(folder.at(name, 'sub'), { recursive: true })
    const ended = Promise.all([once(abandoned, 'exit'), once(reused, 'exit')])
    await sweepLeftovers()
    await ended
    expect(held.exitCode ?? held.signalCode).toBeNull()
    expect(new Set(await readdir(folder.path))).toEqual(
      new Set([own.split('/').at(-1), 'deckhand-output-abc', `other-${gone.pid}.1.${namespace}-x`]),
    )
  })

  it('leaves alone the processes of a container, whose pids mean nothing outside of it', async () => {
    await temporary()
    const gone = spawn('/bin/true')
    await once(gone, 'exit')
    const [theirs, abandoned] = [`${gone.pid}.1.4711`, `${gone.pid}.1.${namespace}`].map((mark) =>
      spawn('/bin/sleep', ['300'], { env: { [OWNER_VARIABLE]: mark }, stdio: 'ignore' }),
    ) as [ChildProcess, ChildProcess]
    onTestFinished(() => [theirs, abandoned].forEach((child) => void child.kill('SIGKILL')))
    await Promise.all([once(theirs, 'spawn'), once(abandoned, 'spawn')])
    const ended = once(abandoned, 'exit')
    await sweepLeftovers()
    await ended
    expect(theirs.exitCode ?? theirs.signalCode).toBeNull()
  })

  it('treats a zombie as dead', async () => {
    const folder = await temporary()
    // The child ends when its parent is a program that never waits for it.
    const parent = spawn('/bin/sh', ['-c', '/bin/sleep 0.2 & echo $!; exec /bin/sleep 300'], { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    let stat = ''
    while (!/\) Z /.test(stat)) stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    await mkdir(folder.at(`deckhand-output-${pid}.${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!}.${namespace}-abc`))
    await sweepLeftovers()
    expect(await readdir(folder.path)).toEqual([])
  })

  it.each([
    ['process', namespace],
    ['container', '4711'],
  ])('rechecks the command of a killed %s, and ignores later changes', async (_what, itsNamespace) => {
    const folder = await temporary()
    const gone = spawn('/bin/true')
    await once(gone, 'exit')
    for (const [name, timeoutMs] of [
      ['during', 60_000],
      ['later', -3_600_000],
    ] as const) {
      await mkdir(folder.at(name, 'own/.vscode'), { recursive: true })
      await keepForRecheck(await temporaryFolder('recheck'), [await findProtected(folder.at(name), Infinity)], timeoutMs)
      await mkdir(folder.at(name, 'planted/.vscode'), { recursive: true })
    }
    for (const own of (await readdir(folder.path)).filter((name) => name.startsWith('deckhand-recheck-')))
      await rename(folder.at(own), folder.at(own.replace(ownMark(), `${gone.pid}.1.${itsNamespace}`)))
    await sweepLeftovers()
    expect(await readdir(folder.at('during/own'))).toEqual(['.vscode'])
    expect(await readdir(folder.at('during/planted'))).toEqual([expect.stringMatching(/^vscode\.set-aside-/)])
    expect(await readdir(folder.at('later/planted'))).toEqual(['.vscode'])
    expect((await readdir(folder.path)).sort()).toEqual(['during', 'later'])
  })

  it.skipIf(isMissing)('removes sandboxes whose Deckhand process was killed while they started', async () => {
    const folder = await temporary()
    await mkdir(folder.at('Work'))
    for (let round = 0; round < 6; round++) {
      const script = fileURLToPath(new URL('../../testing/sandbox-child.ts', import.meta.url))
      const watcher = watch(folder.path)
      const child = spawn(process.execPath, [script, folder.at('Work')], { stdio: ['ignore', 'ignore', 'inherit'], env: process.env })
      onTestFinished(() => void child.kill('SIGKILL'))
      // At another moment each time: as soon as something of the n-th folder can be seen.
      let seen = 0
      for await (const [, name] of on(watcher, 'change') as AsyncIterable<[string, string]>)
        if (/^deckhand-(output|proxy)-/.test(name) && ++seen > round) break
      watcher.close()
      child.kill('SIGKILL')
      await once(child, 'exit')
      await sweepLeftovers()
      const mark = new RegExp(`${OWNER_VARIABLE}=${child.pid}\\.`)
      await expect.poll(() => processesOf(mark)).toEqual([])
      expect(await readdir(folder.path)).toEqual(['Work'])
    }
  })
})
