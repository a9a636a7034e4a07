import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fillManyJobs } from '../../e2e/scenarios/many-jobs.ts'
import { AGENT, environmentOf, makeUsedFolder, seen, startElectron, writable } from './electron-app.ts'
import { median, ROOT, spread } from './processes.ts'

/**
 * From the start of the process to a window that can be used, then to its first data, and the memory of all processes at
 * rest: a bare Electron window with one empty utility process, Deckhand with an empty database, and with 100,000 jobs. All are
 * started the same way, and all are asked the same way, through Chromium's debugging port, what has been painted. Usable: of
 * the bare window its heading, of Deckhand the home screen with a field that takes a job. Data: the agent, or the last job,
 * that the runner told the page of.
 *
 * Needs a display; `npm run bench` gives it a virtual one.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const REST_MS = Number(process.env['BENCH_REST_MS'] ?? 10_000)

type Subject = { name: string; args: string[]; env: Record<string, string>; usable: string; data: string }
type Measured = { usableMs: number; dataMs: number; memoryMb: number; processes: number }

export async function benchWindow(): Promise<void> {
  const deckhand = { args: [ROOT], usable: writable(), data: seen('main', AGENT) }
  const heading = seen('h1', 'Bare window')
  const subjects: Subject[] = [
    { name: 'bare window', args: [join(ROOT, 'build/bench/bare-window')], env: {}, usable: heading, data: heading },
    { name: 'Deckhand, empty', ...deckhand, env: environmentOf(await makeUsedFolder()) },
    {
      name: 'Deckhand, 100,000 jobs',
      ...deckhand,
      // The last of the jobs: Home chooses another agent here.
      data: seen('main', '(99999)'),
      env: environmentOf(await makeUsedFolder((dataDir) => fillManyJobs(dataDir, Date.now()))),
    },
  ]
  const rounds: Measured[][] = subjects.map(() => [])
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, subject] of subjects.entries()) {
      const measured = await measure(subject)
      // The first round fills the caches of the disk.
      if (round > 0) rounds[i]!.push(measured)
    }
  }
  const of = (i: number, what: keyof Measured) => rounds[i]!.map((measured) => measured[what])
  const bare = { ms: median(of(0, 'usableMs')), mb: median(of(0, 'memoryMb')) }
  console.log(`\nStart to usable window, and memory at rest (PSS of all processes, ${REST_MS / 1000} s after; ${ROUNDS} rounds in turn)`)
  console.log(
    `targets: usable ${(bare.ms * 1.2).toFixed(0)} ms or less, data ${(bare.ms * 1.5 + 400).toFixed(0)} ms or less, memory +150 MB or less; 100,000 jobs at most 20 % slower than empty`,
  )
  console.log('what | usable, ms | beside bare | first data, ms | beside bare | memory, MB | beside bare | processes')
  for (const [i, { name }] of subjects.entries()) {
    const [usable, data, memory] = [of(i, 'usableMs'), of(i, 'dataMs'), of(i, 'memoryMb')]
    const beside = (ms: readonly number[]) => `${spread(ms, 0)} | ${(median(ms) / bare.ms).toFixed(2)}x`
    console.log(
      `${name} | ${beside(usable)} | ${beside(data)} | ${spread(memory, 0)} | +${(median(memory) - bare.mb).toFixed(0)} | ${median(of(i, 'processes'))}`,
    )
  }
}

async function measure({ args, env, usable, data }: Subject): Promise<Measured> {
  const before = performance.now()
  const app = await startElectron(args, env)
  try {
    await app.evaluate(usable)
    const usableMs = performance.now() - before
    await app.evaluate(data)
    const dataMs = performance.now() - before
    await wait(REST_MS)
    const { memoryMb, processes } = app.usage()
    return { usableMs, dataMs, memoryMb, processes }
  } finally {
    await app.stop()
  }
}
