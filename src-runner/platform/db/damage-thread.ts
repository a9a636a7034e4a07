import { setTimeout } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.ts'
import { checkWholeFile } from './integrity.ts'

export type DamageThreadData = { file: string }
/** `problem`: the check could not be made. */
export type DamageAnswer = { found: string[]; problem: string | null }

const LONGEST_PAUSE_MS = 5000

const { file } = workerData as DamageThreadData
let answer: DamageAnswer
try {
  // Rests as long as each table took, so it uses at most half of a core.
  answer = { found: await checkWholeFile(file, (tookMs) => setTimeout(Math.min(tookMs, LONGEST_PAUSE_MS))), problem: null }
} catch (error) {
  answer = { found: [], problem: messageOf(error) }
}
parentPort!.postMessage(answer)
