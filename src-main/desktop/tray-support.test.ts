import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hasTray, hasTraySoon } from './tray-support.ts'

/** Stand-ins for the programs that query the session bus. */
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-tray-'))
  vi.stubEnv('PATH', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}

describe.skipIf(process.platform === 'win32')('whether a tray icon would be seen', () => {
  it('is there on macOS and Windows', async () => {
    expect(await hasTray('darwin')).toBe(true)
    expect(await hasTray('win32')).toBe(true)
  })

  it('is not assumed on Linux without an answer', async () => {
    expect(await hasTray('linux')).toBe(false)
  })

  it.each([
    ['gdbus', "echo '(true,)'", true],
    ['gdbus', "echo '(false,)'", false],
    ['dbus-send', "echo '   boolean true'", true],
    ['busctl', "echo 'b false'", false],
    ['busctl', "echo 'b true'", true],
  ])('follows the answer of %s: %s', async (name, script, expected) => {
    program(name, script)
    expect(await hasTray('linux')).toBe(expected)
  })

  it('is asked again while the desktop starts, but not for ever', async () => {
    const pauses: number[] = []
    const ask = () => hasTray('linux')
    const pause = async (ms: number) => void pauses.push(ms)
    program('gdbus', "echo '(false,)'")
    expect(await hasTraySoon(ask, pause)).toBe(false)
    expect(pauses.reduce((sum, ms) => sum + ms)).toBe(30_000)
    const starts = async () => program('gdbus', "echo '(true,)'")
    expect(await hasTraySoon(ask, starts)).toBe(true)
    expect(await hasTraySoon(ask, () => expect.fail('it is there already'))).toBe(true)
  })

  it('is queried with the next program when one fails', async () => {
    program('gdbus', 'exit 1')
    program('dbus-send', "echo '   boolean true'")
    expect(await hasTray('linux')).toBe(true)
  })
})
