import { execFile } from 'node:child_process'

const WATCHER = 'org.kde.StatusNotifierWatcher'
const ASK_LIMIT_MS = 1_500
/** Different distributions bring different ones of these; each asks the session bus whether somebody shows tray icons. */
const QUESTIONS: [string, string[]][] = [
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
 * Whether a tray icon would really be seen. macOS and Windows always show it. On Linux Electron registers an icon
 * whether or not anybody draws it; a window that hides into a tray that is not there could not be got back.
 */
export async function hasTray(platform: NodeJS.Platform = process.platform): Promise<boolean> {
  if (platform !== 'linux') return true
  for (const [program, args] of QUESTIONS) {
    const answer = await ask(program, args)
    if (answer !== null) return /\btrue\b/.test(answer)
  }
  return false
}

/** null: the program is not there or could not ask. */
function ask(program: string, args: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ASK_LIMIT_MS }, (error, stdout) => resolve(error ? null : stdout))
  })
}
