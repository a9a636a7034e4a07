import { workerData } from 'node:worker_threads'
import { checkWholeFile } from './integrity.ts'
import { answerWith, pauseWork } from './threads.ts'

const LONGEST_PAUSE_MS = 5000

const { file } = workerData as { file: string }
// Rests as long as each batch of tables took, so it uses at most half of a core.
await answerWith(() => checkWholeFile(file, (tookMs) => pauseWork(Math.min(tookMs, LONGEST_PAUSE_MS))))
