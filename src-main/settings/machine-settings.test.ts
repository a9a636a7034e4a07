import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MACHINE_SETTINGS, openMachineSettings } from './machine-settings.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-settings-'))
  file = join(folder, 'settings.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('machine settings', () => {
  it('start with the defaults, without a file', () => {
    const settings = openMachineSettings(file)
    expect(settings.current()).toEqual(DEFAULT_MACHINE_SETTINGS)
    expect(settings.notice).toBeNull()
    expect(readdirSync(folder)).toEqual([])
  })

  it('are saved in a file that only its owner can read', async () => {
    const settings = openMachineSettings(file)
    const heard: number[] = []
    settings.onChange((next) => heard.push(next.runnerPort))
    await Promise.all([settings.change({ runnerPort: 4001 }), settings.change({ theme: 'dark' })])
    expect(heard).toEqual([4001, 4001])
    expect(openMachineSettings(file).current()).toEqual({ ...DEFAULT_MACHINE_SETTINGS, runnerPort: 4001, theme: 'dark' })
    expect(readdirSync(folder)).toEqual(['settings.json'])
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('refuse an invalid value', async () => {
    const settings = openMachineSettings(file)
    await expect(settings.change({ runnerPort: 0 })).rejects.toThrow()
    expect(settings.current().runnerPort).toBe(3001)
    await settings.change({ runnerPort: 4002 })
    expect(settings.current().runnerPort).toBe(4002)
  })

  it('have defaults for fields that an older version did not write', () => {
    writeFileSync(file, JSON.stringify({ version: 1, settings: { runnerPort: 5001 } }))
    expect(openMachineSettings(file).current()).toEqual({ ...DEFAULT_MACHINE_SETTINGS, runnerPort: 5001 })
  })

  it.each([
    ['cut short', '{"version":1,"settings":{"runnerPo'],
    ['empty', ''],
    ['another shape', '[]'],
    ['a wrong value', '{"version":1,"settings":{"runnerPort":"x"}}'],
    ['a later version', '{"version":2,"settings":{}}'],
  ])('are renamed if damaged (%s), with a warning', async (_case, text) => {
    writeFileSync(file, text)
    const settings = openMachineSettings(file, () => 42)
    expect(settings.current()).toEqual(DEFAULT_MACHINE_SETTINGS)
    expect(settings.notice).toEqual({ code: 'settings_damaged', params: { file: `${file}.damaged-42` } })
    expect(readFileSync(`${file}.damaged-42`, 'utf8')).toBe(text)
    await settings.change({ theme: 'light' })
    expect(openMachineSettings(file).notice).toBeNull()
  })
})
