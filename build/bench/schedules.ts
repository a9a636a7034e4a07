import { join } from 'node:path'
import { median, ROOT, spread, startProgram } from './processes.ts'
import type { Storm } from './schedule-storm.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 15)
const TURNS = 3

/**
 * 10,000 schedules due in the same second: from that moment until the job of the last one is on disk with its occurrence,
 * its next due time and its event. Beside it, in turn, a bare transaction that writes the same rows.
 */
export async function benchSchedules(): Promise<void> {
  const [ours, bare]: [Storm[], Storm[]] = [[], []]
  for (let turn = 0; turn < TURNS; turn++) {
    ours.push(await run('runner'))
    bare.push(await run('bare'))
  }
  console.log(`\n10,000 schedules due in one second (${TURNS * ROUNDS} rounds; ms from the due time to the commit)`)
  console.log(
    'what | all jobs written | p99 of the rounds (target: 300 or less) | processor time | a job, p50 | p99 | heap left behind, MB (target: < 20)',
  )
  for (const [name, storms] of Object.entries({ Deckhand: ours, 'bare transaction': bare })) {
    const last = storms.flatMap(({ lastMs }) => lastMs).sort((a, b) => a - b)
    const p99 = last[Math.min(last.length - 1, Math.floor(last.length * 0.99))]!
    const cpu = spread(
      storms.flatMap(({ cpuMs }) => cpuMs),
      0,
    )
    const each = (at: number) => median(storms.map(({ eachMs }) => eachMs[at]!)).toFixed(0)
    const heap = Math.max(...storms.map(({ heapMb }) => heapMb)).toFixed(1)
    console.log(`${name} | ${spread(last, 0)} | ${p99.toFixed(0)} | ${cpu} | ${each(50)} | ${each(99)} | ${heap}`)
  }
}

async function run(side: 'runner' | 'bare'): Promise<Storm> {
  const { line, stop } = await startProgram<Storm>(join(ROOT, 'build/bench/schedule-storm.ts'), [side, String(ROUNDS)])
  await stop()
  return line
}
