// `npm run screenshots`: a picture of every screen in test-results/screens, light and dark, and the one in README.md.
import { begin, run, say, Stop } from './run.mjs'
import { build, setUp } from './setup.mjs'

await begin(async () => {
  await setUp(['window', 'tests'])
  await build()
  const command = ['playwright', 'test', '--config', 'e2e/screenshots.config.ts']
  const code = process.platform === 'linux' ? await run('build/with-desktop.sh', command) : await run(command[0], command.slice(1))
  if (code !== 0) throw new Stop('not every picture could be taken')
  say('the pictures are in test-results/screens')
})
