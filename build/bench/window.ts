import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fillManyJobs } from '../../e2e/scenarios/many-jobs.ts'
import { AGENT, environmentOf, makeUsedFolder, seen, startElectron } from './electron-app.ts'
import { median, ROOT, spread } from './processes.ts'

/**
 * From the start of the process to a window that can be used, and the memory of all processes at rest: a bare Electron
 * window with one empty utility process, Deckhand with an empty database, and with 100,000 jobs. All are started the same
 * way, and all are asked the same way, through Chromium's debugging port, whether what a person waits for has been painted:
 * of the bare window its heading, of Deckhand the home screen with the agent, or the last job, that the runner told it of.
 *
 * Needs a display; `npm run bench` gives it a virtual one.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const REST_MS = Number(process.env['BENCH_REST_MS'] ?? 10_000)

type Subject = { name: string; args: string[]; env: Record<string, string>; usable: string }
type Measured = { usableMs: number; memoryMb: number; processes: number }

export async function benchWindow(): Promise<void> {
  const deckhand = { args: [ROOT], usable: seen('main', AGENT) }
  const subjects: Subject[] = [
    { name: 'bare window', args: [join(ROOT, 'build/bench/bare-window')], env: {}, usable: seen('h1', 'Bare window') },
    { name: 'Deckhand, empty', ...deckhand, env: environmentOf(await makeUsedFolder()) },
    {
      name: 'Deckhand, 100,000 jobs',
      args: [ROOT],
      // The last of the jobs: Home chooses another agent here.
      usable: seen('main', '(99999)'),
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
    `targets: start ${(bare.ms * 1.5 + 400).toFixed(0)} ms or less, memory +150 MB or less; 100,000 jobs at most 20 % slower than empty`,
  )
  console.log('what | start, ms | beside bare | memory, MB | beside bare | processes')
  for (const [i, { name }] of subjects.entries()) {
    const [starts, memory] = [of(i, 'usableMs'), of(i, 'memoryMb')]
    console.log(
      `${name} | ${spread(starts, 0)} | ${(median(starts) / bare.ms).toFixed(2)}x | ${spread(memory, 0)} | +${(median(memory) - bare.mb).toFixed(0)} | ${median(of(i, 'processes'))}`,
    )
  }
}

async function measure({ args, env, usable }: Subject): Promise<Measured> {
  const before = performance.now()
  const app = await startElectron(args, env)
  try {
    await app.evaluate(usable)
    const usableMs = performance.now() - before
    await wait(REST_MS)
    const { memoryMb, processes } = app.usage()
    return { usableMs, memoryMb, processes }
  } finally {
    await app.stop()
  }
}
