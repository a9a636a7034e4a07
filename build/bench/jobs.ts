import { join } from 'node:path'
import { callJson, closeClient, send } from './http-client.ts'
import { makeAgent } from './make-agent.ts'
import { median, ROOT, spread, startModelServer, startProgram, startRunner } from './processes.ts'

/**
 * Jobs per second, end to end: submitted over HTTP, kept, claimed, performed against a local model server that answers
 * at once, every step on disk, finished. Beside it, in turn, the bare loop of `bare-loop.ts`.
 */
const JOBS = Number(process.env['BENCH_JOBS'] ?? 1500)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)

export async function benchJobs(): Promise<void> {
  const models = await startModelServer()
  const runner = await startRunner()
  const { runnerUrl } = runner.line
  const agentId = await makeAgent(runnerUrl, models.line.url)
  console.log(`\nJobs per second, end to end (${JOBS} jobs a round, ${ROUNDS} rounds in turn; median, least and most)`)
  console.log('concurrency | Deckhand | bare loop | Deckhand / bare')
  for (const concurrency of [1, 4, 16]) {
    await callJson('PATCH', `${runnerUrl}/api/settings`, { concurrency })
    await runJobs(runnerUrl, agentId, 200, concurrency)
    const ours: number[] = []
    const bare: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await runJobs(runnerUrl, agentId, JOBS, concurrency))
      bare.push(await runBare(models.line.url, concurrency))
    }
    const ratio = median(ours.map((perSecond, round) => perSecond / bare[round]!))
    console.log(`${concurrency} | ${spread(ours, 0)} | ${spread(bare, 0)} | ${ratio.toFixed(2)} (target: 0.50 or more)`)
  }
  closeClient()
  await runner.stop()
  await models.stop()
}

async function runBare(url: string, concurrency: number): Promise<number> {
  const loop = await startProgram<{ perSecond: number }>(join(ROOT, 'build/bench/bare-loop.ts'), [url, String(JOBS), String(concurrency)])
  await loop.stop()
  return loop.line.perSecond
}

/** As many clients as jobs may run at once submit; the clock stops when the last job is finished. */
async function runJobs(runnerUrl: string, agentId: string, count: number, clients: number): Promise<number> {
  const finished = await followFinished(runnerUrl, count)
  const before = performance.now()
  let left = count
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left-- > 0) await callJson('POST', `${runnerUrl}/api/agent`, { agentId, task: 'Say hello.' })
    }),
  )
  await finished.all
  return count / ((performance.now() - before) / 1000)
}

/** Listens on the event stream until `count` jobs have ended. A job that does not complete makes the figure worthless. */
async function followFinished(runnerUrl: string, count: number): Promise<{ all: Promise<void> }> {
  const stream = await send('GET', `${runnerUrl}/api/events`)
  stream.setEncoding('utf8')
  let rest = ''
  let seen = 0
  const all = new Promise<void>((resolve, reject) => {
    stream.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        if (!line.startsWith('data:') || !line.includes('"title"') || !line.includes('"error"')) continue
        if (!line.includes('"completed"')) return reject(new Error(`a job did not complete: ${line}`))
        if (++seen === count) {
          stream.destroy()
          return resolve()
        }
      }
    })
    stream.on('close', () => seen < count && reject(new Error('the event stream ended early')))
  })
  return { all }
}
