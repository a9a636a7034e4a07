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
  // After each table it rests for as long as that took: it uses half of a core at most.
  answer = { found: await checkWholeFile(file, (tookMs) => setTimeout(Math.min(tookMs, LONGEST_PAUSE_MS))), problem: null }
} catch (error) {
  answer = { found: [], problem: messageOf(error) }
}
parentPort!.postMessage(answer)
