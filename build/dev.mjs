// `npm run dev`: the app with hot reload, on data that is thrown away afterwards. `npm run dev -- busy-day` starts it on a
// scenario of e2e/scenarios instead of an empty folder.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasChromiumSandbox } from './chromium-sandbox.mjs'
import { begin, handOver, say, Stop } from './run.mjs'
import { fillScenario } from './scenario.mjs'
import { forgetBuild, setUp } from './setup.mjs'
import { hasDisplay } from './virtual-desktop.mjs'

await begin(async () => {
  if (!hasDisplay()) throw new Stop('`npm run dev` opens a window, and there is no display here; `npm run dev:runner` needs none')
  await setUp(['window'])
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-dev-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const [scenario] = process.argv.slice(2)
  if (scenario) await fillScenario(scenario, folder)
  say(`data folder of this run: ${folder}`)
  // Port 0: any free one, so that this runs beside an installed Deckhand.
  const env = { DECKHAND_DATA_DIR: folder, DECKHAND_VAULT: 'file', RUNNER_PORT: '0', DASHBOARD_PORT: '0', LOG_LEVEL: 'debug' }
  const sandbox = hasChromiumSandbox() ? {} : { NO_SANDBOX: '1' }
  // The development server writes its own main process and preload there.
  forgetBuild()
  handOver('electron-vite', ['dev', '--watch'], { env: { ...env, ...sandbox } })
})
