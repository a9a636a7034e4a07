// `npm run screenshots`: a picture of every screen in test-results/screens, light and dark, and the one in README.md.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { begin, root, run, say, Stop } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { onVirtualDesktop } from './virtual-desktop.mjs'

await begin(async () => {
  await setUp(['window', 'tests'])
  const [command, ...args] = onVirtualDesktop(['playwright', 'test', '--config', 'e2e/playwright.config.ts', 'specs/screens.spec.ts'])
  await build()
  const code = await run(command, args, { env: { EVERY_PICTURE: '1' } })
  if (code !== 0) throw new Stop('not every screen is as it should be; the pictures that could be taken are in test-results/screens')
  copyFileSync(join(root, 'test-results/screens/readme.png'), join(root, 'resources/screenshot.png'))
  say('the pictures are in test-results/screens, and the one of README.md in resources/screenshot.png')
})
