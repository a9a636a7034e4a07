import { readFileSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Message } from '../../src-runner/contract/messages.ts'
import { MachineSettings } from '../contract/desktop-api.ts'
import { createListeners } from '../listeners.ts'
import { messageOf } from '../log/log.ts'
import { makeFolder, writeAtomic } from './write-atomic.ts'

export const DEFAULT_MACHINE_SETTINGS: MachineSettings = {
  runnerPort: 3001,
  dashboardPort: 3000,
  startAtLogin: false,
  shareOnNetwork: false,
  encryptSharing: false,
  closeToTray: true,
  theme: 'system',
  language: 'system',
  logLevel: 'info',
  updateChannel: 'stable',
  updateMode: 'automatic',
  updateOnQuit: false,
}

const VERSION = 1

/** Fields of later versions may be missing. A field that does not parse counts as damage. */
const SettingsFile = z.object({ version: z.literal(VERSION), settings: MachineSettings.partial() })

export type MachineSettingsStore = {
  current(): MachineSettings
  /** Resolves when the change is on disk. If it cannot be written, it is not applied. */
  change(change: Partial<MachineSettings>): Promise<MachineSettings>
  onChange(listener: (settings: MachineSettings) => void): () => void
  /** A warning for the person about the settings file; null if there is none. */
  notice: Message | null
}

/**
 * Settings of this machine, in one file. Read synchronously, because the window's colour and the ports depend on them.
 * A damaged file is renamed, never overwritten.
 */
export function openMachineSettings(file: string, now: () => number = Date.now): MachineSettingsStore {
  const found = read(file, now)
  let current: MachineSettings = { ...DEFAULT_MACHINE_SETTINGS, ...found.settings }
  let last: Promise<unknown> = Promise.resolve()
  const listeners = createListeners<[MachineSettings]>()

  async function apply(change: Partial<MachineSettings>): Promise<MachineSettings> {
    const next = MachineSettings.parse({ ...current, ...change })
    makeFolder(dirname(file))
    await writeAtomic(file, `${JSON.stringify({ version: VERSION, settings: next }, null, 2)}\n`)
    current = next
    listeners.tell(current)
    return current
  }

  return {
    current: () => current,
    change(change) {
      // One at a time, so that two changes at once do not undo each other.
      const result = last.then(() => apply(change))
      last = result.catch(() => undefined)
      return result
    },
    onChange: listeners.add,
    notice: found.notice,
  }
}

function read(file: string, now: () => number): { settings: Partial<MachineSettings>; notice: Message | null } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { settings: {}, notice: null }
    return { settings: {}, notice: { code: 'settings_unreadable', params: { file, why: messageOf(error) } } }
  }
  const parsed = SettingsFile.safeParse(parseJson(text))
  if (parsed.success) return { settings: parsed.data.settings, notice: null }
  const aside = `${file}.damaged-${now()}`
  try {
    renameSync(file, aside)
  } catch (error) {
    return { settings: {}, notice: { code: 'settings_damaged_stuck', params: { file, why: messageOf(error) } } }
  }
  return { settings: {}, notice: { code: 'settings_damaged', params: { file: aside } } }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
