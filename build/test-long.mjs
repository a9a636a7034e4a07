// `npm run test:long`: what takes too long for `npm test`. Random walks and comparisons with other libraries on new cases,
// the kill tests, and every screen in both themes. SEED=… repeats the cases of a run, whose seed is printed.
import { setup } from './build-first.mjs'
import { begin, projectNode, run, say } from './run.mjs'
import { setUp } from './setup.mjs'
import { onVirtualDesktop } from './virtual-desktop.mjs'

const HOUR_MS = 3_600_000

/** Installing a package changes the machine: only where it is a build machine's own, and Debian's. */
function mayInstall() {
  return process.platform === 'linux' && process.getuid() === 0 && process.env.CI !== undefined
}

await begin(async () => {
  await setUp(['window', 'sandbox', 'tests'])
  const seed = process.env.SEED || String(Math.floor(Math.random() * 2 ** 31))
  say(`seed: ${seed}`)
  const LONG = {
    SEED: seed,
    WALK_TIMES: '30',
    KILLS: '100',
    EVERY_PICTURE: '1',
    EVERY_ZONE: '1',
    EVERY_ROUTE: '1',
    EVERY_CALL: '1',
    INSTANCES: 'long',
    DAMAGED_FILES: '240',
    CUTS: '1000',
    DISK_CYCLES: '50',
    WHATSAPP_KILLS: '200',
    CHANNEL_KILLS: '65',
    WHATSAPP_RECONNECTS: '1000',
    WHATSAPP_STRANGERS: '500',
    CODE_KILLS: '1',
    REPOSITORY_FILES: '20000',
    GUESSES: '10000',
  }
  const [desktop, ...inDesktop] = onVirtualDesktop(['playwright', 'test', '--config', 'e2e/playwright.config.ts'])
  const suites = {
    'walks and comparisons': [
      'vitest',
      'run',
      '--config',
      'build/vitest.config.ts',
      '--testTimeout',
      String(HOUR_MS),
      '.walk.test',
      '.crash.test',
      '.croner.test',
      '.oracle.test',
      '.damage.test',
      'full-disk.test',
      'hostile-work.attack.test',
      'channel-kills.test',
      'server.attack.test',
      'public-address.test',
      'dashboard/sign-in.test',
      'evil-model.test',
      'whatsapp-kills.test',
      'whatsapp.test',
      'sign-in/accounts.test',
    ],
    'kills at random moments': [projectNode, 'build/kill-test.ts', '--kills', '200'],
    'kills at each phase of a job': [projectNode, 'build/kill-phases.ts'],
    'kills around due times': [projectNode, 'build/schedule-kill-test.ts', '--kills', '500'],
    ...(process.platform === 'linux' ? { 'ports of every mode': [projectNode, 'build/port-scan.ts'] } : {}),
    'windows, with every picture': [desktop, ...inDesktop, 'screens', 'german', 'channels'],
    // One at a time, because times are measured.
    'starts at once, and kills of the app and its runner': [desktop, ...inDesktop, 'instances', '--workers', '1'],
    ...(mayInstall() ? { 'an installed package': [projectNode, 'build/package-test.mjs'] } : {}),
  }
  await setup()
  const failed = []
  for (const [name, [command, ...args]] of Object.entries(suites)) {
    say(name)
    if ((await run(command, args, { env: LONG, limitMs: 4 * HOUR_MS })) !== 0) failed.push(name)
  }
  if (failed.length > 0) say(`failed: ${failed.join(', ')}. The same cases again: SEED=${seed} npm run test:long`)
  process.exitCode = failed.length > 0 ? 1 : 0
})
