import { createMessage } from '../../src-runner/lib/messages.ts'
import { DEMO_MODEL } from '../../src-runner/contract/agents.ts'
import { openSeed } from './seed.ts'

const JOBS = 100_000
const BATCH = 2_000
const TOPICS = [
  'the invoice of the week',
  'the backup report',
  'the visitor numbers',
  'the support inbox',
  'the release notes',
  'the price list',
]

/** A year of heavy use: 100,000 finished jobs of five agents. Takes about half a minute. */
export function fillManyJobs(dataDir: string, now: number): void {
  const seed = openSeed(dataDir, now - JOBS * 5 * 60_000)
  seed.defaultModel(DEMO_MODEL)
  const agents = ['Ada', 'Bruno', 'Cleo', 'Dario', 'Edda'].map((name) => seed.agent({ name }))
  for (let done = 0; done < JOBS; done += BATCH) {
    seed.together(() => {
      for (let n = done; n < done + BATCH; n++) {
        const topic = TOPICS[n % TOPICS.length]!
        seed.job({
          agent: agents[n % agents.length]!,
          task: `Look at ${topic} (${n}) and say what is new.`,
          turns: [{ text: `Number ${n}: nothing unusual in ${topic}.`, costMicros: 900 + (n % 700) }],
          outcome:
            n % 50 === 0
              ? { error: 'model_unavailable', message: createMessage('model_late', { provider: 'Anthropic', status: '504' }) }
              : 'completed',
        })
        seed.clock.advance(3 * 60_000)
      }
    })
  }
  seed.close()
}
