// `npm run bench`: measurements, each beside its baseline. `npm run bench jobs` runs one of build/bench/main.ts.
import { begin, handOver, projectNode } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { onVirtualDesktop } from './virtual-desktop.mjs'

await begin(async () => {
  const asked = process.argv.slice(2)
  const opensWindows = asked.length === 0 || asked.includes('window') || asked.includes('idle')
  await setUp(opensWindows ? ['window', 'tests'] : [])
  const command = [projectNode, 'build/bench/main.ts', ...asked]
  const [program, ...args] = opensWindows ? onVirtualDesktop(command) : command
  await build()
  handOver(program, args)
})
