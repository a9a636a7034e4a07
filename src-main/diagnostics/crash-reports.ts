import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type CrashReport = { at: string; appVersion: string; reason: string; lastLines: string[] }

const KEPT = 10

/** In the folder of the logs, so that "Show logs" leads to them. They are never sent anywhere. */
export const crashFolderOf = (logsDir: string) => join(logsDir, 'crashes')

/** Keeps a report about a crash of the runner, and the newest ten. Throws if the folder cannot be written. */
export function keepCrashReport(logsDir: string, report: CrashReport): void {
  const folder = crashFolderOf(logsDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, `crash-${report.at.replace(/[:.]/g, '-')}.json`), `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 })
  for (const name of crashNames(folder).slice(0, -KEPT)) rmSync(join(folder, name), { force: true })
}

/** The oldest first. */
export function readCrashReports(logsDir: string): { name: string; report: CrashReport }[] {
  const folder = crashFolderOf(logsDir)
  return crashNames(folder).flatMap((name) => {
    try {
      return [{ name, report: JSON.parse(readFileSync(join(folder, name), 'utf8')) as CrashReport }]
    } catch {
      return []
    }
  })
}

function crashNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^crash-[\dTZ-]+\.json$/.test(name))
      .toSorted()
  } catch {
    return []
  }
}
