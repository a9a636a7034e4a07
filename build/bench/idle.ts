import { setTimeout as wait } from 'node:timers/promises'
import { AGENT, environmentOf, makeUsedFolder, seen, startElectron } from './electron-app.ts'
import { ROOT } from './processes.ts'

/**
 * Deckhand left alone with its window open: processor time and memory of all its processes over half an hour. Processor time
 * is the kernel's account, so other work on the machine changes it little. Needs a display.
 */
const MINUTES = Number(process.env['BENCH_IDLE_MINUTES'] ?? 30)
/** What the start still does: checking the database, compiling, the first collection of garbage. */
const SETTLE_MS = 60_000
const EVERY_MINUTES = 5

export async function benchIdle(): Promise<void> {
  const app = await startElectron([ROOT], environmentOf(await makeUsedFolder()))
  try {
    await app.evaluate(seen('main', AGENT))
    await wait(SETTLE_MS)
    const first = app.usage()
    console.log(`\nAt rest for ${MINUTES} minutes, window open (target: under 1 % of one processor, no growth)`)
    console.log('after, min | processor, % of one | memory, MB | processes')
    console.log(`0 | – | ${first.memoryMb.toFixed(0)} | ${first.processes}`)
    let last = first
    for (let minute = EVERY_MINUTES; minute <= MINUTES; minute += EVERY_MINUTES) {
      await wait(EVERY_MINUTES * 60_000)
      const now = app.usage()
      const share = ((now.cpuSeconds - last.cpuSeconds) / (EVERY_MINUTES * 60)) * 100
      console.log(`${minute} | ${share.toFixed(2)} | ${now.memoryMb.toFixed(0)} | ${now.processes}`)
      last = now
    }
    const share = ((last.cpuSeconds - first.cpuSeconds) / (MINUTES * 60)) * 100
    console.log(`in all | ${share.toFixed(2)} | ${(last.memoryMb - first.memoryMb).toFixed(1)} more |`)
  } finally {
    await app.stop()
  }
}
