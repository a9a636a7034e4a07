// `npm run test:long`: the random walks and the comparisons with other libraries in their long form, on cases that nobody
// has looked at yet. The seed is printed; SEED=… looks at the same cases again.
import { begin, run, say } from './run.mjs'
import { setUp } from './setup.mjs'

await begin(async () => {
  await setUp()
  const seed = process.env.SEED ?? String(Math.floor(Math.random() * 2 ** 31))
  say(`the seed of this run is ${seed}`)
  const args = ['run', '--config', 'build/vitest.config.ts', '--testTimeout=3600000', '.walk.test', '.croner.test', '.oracle.test']
  process.exitCode = await run('vitest', args, { env: { SEED: seed, WALK_TIMES: '10' }, limitMs: 4 * 3_600_000 })
  if (process.exitCode !== 0) say(`to look at the same cases again: SEED=${seed} npm run test:long`)
})
