// `npm run headless`: both servers under plain Node, without a window. Stdout carries one line of JSON once both are healthy.
import { join } from 'node:path'
import { begin, handOver, projectNode, root } from './run.mjs'
import { build, setUp } from './setup.mjs'

await begin(async () => {
  await setUp()
  await build()
  handOver(projectNode, [join(root, 'out/main/headless.js'), ...process.argv.slice(2)])
})
