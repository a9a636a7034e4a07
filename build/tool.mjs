// Runs a program of this project, with its Node and its tools, on a fresh clone too: node build/tool.mjs oxfmt --check .
import { begin, handOver, projectNode } from './run.mjs'
import { setUp } from './setup.mjs'

await begin(async () => {
  const [program, ...args] = process.argv.slice(2)
  await setUp()
  handOver(program === 'node' ? projectNode : program, args)
})
