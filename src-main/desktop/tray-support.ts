import { execFile } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'

const WATCHER = 'org.kde.StatusNotifierWatcher'
const QUERY_LIMIT_MS = 1_500
const PAUSES = 15
const PAUSE_MS = 2_000
/** Distributions ship different ones. Each queries the session bus whether something shows tray icons. */
const QUERIES: [string, string[]][] = [
  [
    'gdbus',
    ['call', '--session', '-d', 'org.freedesktop.DBus', '-o', '/org/freedesktop/DBus', '-m', 'org.freedesktop.DBus.NameHasOwner', WATCHER],
  ],
  [
    'dbus-send',
    [
      '--session',
      '--print-reply',
      '--dest=org.freedesktop.DBus',
      '/org/freedesktop/DBus',
      'org.freedesktop.DBus.NameHasOwner',
      `string:${WATCHER}`,
    ],
  ],
  ['busctl', ['--user', 'call', 'org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'NameHasOwner', 's', WATCHER]],
]

/**
 * Whether a tray icon would be visible. macOS and Windows always show it. On Linux, Electron registers an icon even if
 * nothing draws it, and a window hidden in such a tray could not be opened again.
 */
export async function hasTray(platform: NodeJS.Platform = process.platform): Promise<boolean> {
  if (platform !== 'linux') return true
  for (const [program, args] of QUERIES) {
    const answer = await runQuery(program, args)
    if (answer !== null) return /\btrue\b/.test(answer)
  }
  return false
}

/**
 * Asks again for half a minute: at login, what shows tray icons may start after Deckhand. An icon that is made before would
 * never be seen, because Chromium decides when it makes one (StatusIconLinuxDbus::OnNameHasOwnerResponse).
 */
export async function hasTraySoon(ask = hasTray, pause: (ms: number) => Promise<unknown> = setTimeout): Promise<boolean> {
  for (let asked = 1; ; asked++) {
    if (await ask()) return true
    if (asked > PAUSES) return false
    await pause(PAUSE_MS)
  }
}

/** null: the program is missing or failed. */
function runQuery(program: string, args: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: QUERY_LIMIT_MS }, (error, stdout) => resolve(error ? null : stdout))
  })
}
