// `npm start`: from a fresh clone to the open app. Where there is no screen it runs headless and says where to look.
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { hasChromiumSandbox, sandboxHelper } from './chromium-sandbox.mjs'
import { begin, handOver, projectNode, root, say } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { electronProgram } from './setup-electron.mjs'
import { missingPackages } from './system-packages.mjs'
import { hasDisplay } from './virtual-desktop.mjs'

/** pino's number for a warning. */
const LOG_LEVEL_WARN = 40

await begin(async () => {
  const appArgs = process.argv.slice(2).filter((arg) => arg !== '--headless')
  let noWindow = process.argv.includes('--headless') ? 'asked for' : hasDisplay() ? null : 'there is no display'
  await setUp(noWindow ? [] : ['window'], { standIn: 'ask' })
  await build()
  noWindow ??= whyNoWindow()
  if (noWindow) startHeadless(noWindow, appArgs)
  else startApp(appArgs)
})

function startApp(args) {
  say('opening Deckhand')
  // Chromium refuses to sandbox for root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  handOver(electronProgram(), [...sandbox, root, ...args])
}

function startHeadless(why, args) {
  say(`no window (${why}): running headless`)
  const env = {}
  if (!process.env.DECKHAND_VAULT && process.platform === 'linux' && !process.env.DBUS_SESSION_BUS_ADDRESS) {
    say('no keychain without a desktop session: secrets go into an encrypted file (DECKHAND_VAULT=file)')
    env.DECKHAND_VAULT = 'file'
  }
  const child = handOver(projectNode, [join(root, 'out/main/headless.js'), ...args], { env, stdio: ['inherit', 'pipe', 'pipe'] })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { ready, dashboardUrl } = parse(line) ?? {}
    if (ready) say(`Deckhand is running at ${dashboardUrl} (stop with Ctrl+C)`)
    else process.stdout.write(`${line}\n`)
  })
  // The log is in the data folder; somebody who starts it by hand wants to see what is wrong, and nothing else.
  createInterface({ input: child.stderr }).on('line', (line) => {
    const { level, msg } = parse(line) ?? {}
    if (level === undefined) process.stderr.write(`${line}\n`)
    else if (level >= LOG_LEVEL_WARN) process.stderr.write(`! ${msg}\n`)
  })
}

function parse(line) {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** What stands in the way of a window once everything is installed. */
function whyNoWindow() {
  if (process.platform !== 'linux') return null
  const packages = missingPackages(['window'])
  if (packages) return `libraries are missing: sudo ${packages}`
  if (process.getuid() !== 0 && !hasChromiumSandbox())
    return `this system keeps Chromium's sandbox from ordinary users; allow it with: sudo chown root '${sandboxHelper}' && sudo chmod 4755 '${sandboxHelper}'`
  return null
}
