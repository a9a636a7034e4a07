import { walkJobStore } from '../../src-runner/testing/job-store-walk.ts'

/** The long form of the random walk: `node build/nightly/job-store-walk.ts [runs] [steps] [seed]`. */
const [runs = 10_000, length = 50, seed] = process.argv.slice(2).map(Number)
const startedAt = performance.now()
const taken = walkJobStore({ runs, length, ...(seed === undefined ? {} : { seed }) })
const seconds = (performance.now() - startedAt) / 1000
console.log(`${taken} steps in ${runs} walks held every promise, in ${seconds.toFixed(1)} s`)
