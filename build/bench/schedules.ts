import { join } from 'node:path'
import { ROOT, spread, startProgram } from './processes.ts'
import type { Storm } from './schedule-storm.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 15)
const TURNS = 3

/**
 * 10,000 schedules due in the same second: from that moment until the job of the last one is on disk with its occurrence,
 * its next due time and its event, and until that of each. Beside it, in turn, a bare transaction that writes the same rows.
 */
export async function benchSchedules(): Promise<void> {
  const [ours, bare]: [Storm[], Storm[]] = [[], []]
  for (let turn = 0; turn < TURNS; turn++) {
    ours.push(await run('runner'))
    bare.push(await run('bare'))
  }
  console.log(`\n10,000 schedules due in one second (${TURNS * ROUNDS} rounds; ms from the due time to the commit)`)
  console.log(
    'what | a job, p50 | p99 (target: 300 or less) | all jobs of a round | processor time of a round | heap left behind, MB (target: < 20)',
  )
  for (const [name, storms] of Object.entries({ Deckhand: ours, 'bare transaction': bare })) {
    const each = storms.flatMap(({ eachMs }) => eachMs).sort((a, b) => a - b)
    const at = (part: number) => each[Math.floor(each.length * part)]!.toFixed(0)
    const [last, cpu] = [storms.flatMap(({ lastMs }) => lastMs), storms.flatMap(({ cpuMs }) => cpuMs)]
    const heap = Math.max(...storms.map(({ heapMb }) => heapMb)).toFixed(1)
    console.log(`${name} | ${at(0.5)} | ${at(0.99)} | ${spread(last, 0)} | ${spread(cpu, 0)} | ${heap}`)
  }
}

async function run(side: 'runner' | 'bare'): Promise<Storm> {
  const { line, stop } = await startProgram<Storm>(join(ROOT, 'build/bench/schedule-storm.ts'), [side, String(ROUNDS)])
  await stop()
  return line
}
