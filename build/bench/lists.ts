import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { fillManyJobs } from '../../e2e/scenarios/many-jobs.ts'
import { seedAutomations } from '../../e2e/scenarios/seed-automations.ts'
import { openSeed } from '../../e2e/scenarios/seed.ts'
import { INBOX_KEEPS } from '../../src-runner/contract/triggers.ts'
import { environmentOf } from './electron-app.ts'
import { callJson, readText, send } from './http-client.ts'
import { makeFolder, ROOT, startProgram } from './processes.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 60)
const TARGET_MS = 50
const DAY = 86_400_000
const CONVERSATIONS = 2_000
const APPROVALS = 300

type Lists = {
  agents: { id: string; name: string }[]
  triggers: { id: string }[]
  schedules: { id: string }[]
  jobs: { id: string; createdAt: number }[]
}

/**
 * What one page of each list of the screens takes with 100,000 jobs: over HTTP, through the dashboard to the runner and back.
 * The lists are asked for in turn, so that each finds the caches as the others left them. Beside them, the health route.
 */
export async function benchLists(): Promise<void> {
  const dataDir = makeFolder()
  fillManyJobs(dataDir, Date.now())
  fillOthers(dataDir)
  const { line, stop } = await startProgram<{ dashboardUrl: string }>(join(ROOT, 'out/main/headless.js'), [], environmentOf(dataDir))
  const get = <T>(path: string) => callJson<T>('GET', line.dashboardUrl + path)
  const paths = await pathsOf((path) => get<Lists>(path))
  const took = new Map(paths.map(([name]) => [name, { ms: [] as number[], kb: 0 }]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, path] of paths) {
      const startedAt = performance.now()
      const text = await readText(await send('GET', line.dashboardUrl + path))
      const ms = performance.now() - startedAt
      // The first round fills the caches.
      if (round > 0) took.get(name)!.ms.push(ms)
      took.get(name)!.kb = Buffer.byteLength(text) / 1000
    }
  }
  await stop()
  console.log(`\nOne page of each list with 100,000 jobs, over HTTP (${ROUNDS} rounds; ms; target: p95 ${TARGET_MS} or less)`)
  // On a machine that is busy with other work, p95 says how long that work delays a request.
  console.log(`load of this machine: ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} processors`)
  console.log('list | p50 | p95 | KB |')
  for (const [name, { ms, kb }] of took) {
    const sorted = ms.toSorted((a, b) => a - b)
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
    console.log(`${name} | ${at(0.5).toFixed(1)} | ${at(0.95).toFixed(1)} | ${kb.toFixed(1)} | ${at(0.95) > TARGET_MS ? 'SLOW' : ''}`)
  }
}

/** The requests of the screens, with each filter and with searches that match everything, little and nothing. */
async function pathsOf(get: (path: string) => Promise<Lists>): Promise<[name: string, path: string][]> {
  const { agents } = await get('/api/agents?limit=200')
  const { triggers } = await get('/api/triggers?limit=100')
  const { schedules } = await get('/api/schedules?limit=100')
  const [agent, talker] = ['Ada', 'Fay'].map((name) => agents.find((one) => one.name === name)!.id)
  const { jobs } = await get(`/api/jobs?agentId=${agent}&limit=50`)
  const [trigger, schedule, job] = [triggers[0]!.id, schedules[0]!.id, jobs[0]!]
  const middle = job.createdAt - 100 * DAY
  const jobsWith = (query: string) => `/api/jobs?limit=50${query}`
  return [
    ['health (no list)', '/api/health'],
    ['jobs', jobsWith('')],
    ['jobs, active', jobsWith('&status=pending,running,awaiting_approval,awaiting_child')],
    ['jobs, failed', jobsWith('&status=failed')],
    ['jobs, cancelled (none)', jobsWith('&status=cancelled')],
    ['jobs, of an agent', jobsWith(`&agentId=${agent}`)],
    ['jobs, failed of an agent', jobsWith(`&status=failed&agentId=${agent}`)],
    ['jobs, of webhooks', jobsWith('&channel=webhook')],
    ['jobs, of schedules', jobsWith('&channel=schedule')],
    ['jobs, of Telegram (none)', jobsWith('&channel=telegram')],
    ['jobs, of an agent and Telegram (none)', jobsWith(`&agentId=${agent}&channel=telegram`)],
    ['jobs, since a day', jobsWith(`&from=${job.createdAt - DAY}`)],
    ['jobs, of a day long ago', jobsWith(`&from=${middle}&to=${middle + DAY}`)],
    ['jobs, failed before a day long ago', jobsWith(`&status=failed&to=${middle}`)],
    ['jobs, that one delegated (none)', jobsWith(`&parentJobId=${job.id}`)],
    ['jobs, search in all', jobsWith('&q=nothing')],
    ['jobs, search one letter', jobsWith('&q=n')],
    ['jobs, search one number', jobsWith('&q=4711')],
    ['jobs, search two words that never meet', jobsWith('&q=invoice%20inbox')],
    ['jobs, search nothing', jobsWith('&q=zeppelin')],
    ['jobs, search in failed of an agent', jobsWith(`&q=invoice&status=failed&agentId=${agent}`)],
    ['job counts', '/api/jobs/counts'],
    ['steps of a job', `/api/jobs/${job.id}/steps`],
    ['approvals of a job', `/api/approvals?jobId=${job.id}&limit=100`],
    ['decisions of a job', `/api/jobs/${job.id}/decisions`],
    ['files of a job', `/api/jobs/${job.id}/files`],
    ['conversations', '/api/conversations?limit=50'],
    ['conversations, of an agent', `/api/conversations?limit=50&agentId=${talker}`],
    ['conversations, search in all', '/api/conversations?limit=50&q=garden'],
    ['conversations, search nothing', '/api/conversations?limit=50&q=zeppelin'],
    ['approvals', '/api/approvals?limit=50'],
    ['approvals, pending', '/api/approvals?status=pending&limit=100'],
    ['approvals, approved (none)', '/api/approvals?status=approved&limit=50'],
    ['webhooks', '/api/triggers?limit=100'],
    ['deliveries of a webhook', `/api/triggers/${trigger}/deliveries?limit=${INBOX_KEEPS}`],
    ['schedules', '/api/schedules?limit=100'],
    ['runs of a schedule', `/api/schedules/${schedule}/occurrences?limit=200`],
    ['upcoming runs', '/api/schedules/upcoming?hours=24'],
    ['summary of schedules', `/api/schedules/summary?from=${job.createdAt - 30 * DAY}`],
    ['summary of a schedule', `/api/schedules/summary?from=${job.createdAt - 30 * DAY}&scheduleId=${schedule}`],
    ['agents', '/api/agents?limit=200'],
    ['spend of each agent in 30 days', `/api/spend?by=agent&from=${job.createdAt - 30 * DAY}`],
    ['rules', '/api/rules?limit=200'],
    ['tools', '/api/tools'],
    ['memories of an agent', `/api/memories?agentId=${agent}`],
    ['attention', '/api/attention'],
    ['outbox, undeliverable', '/api/outbox?state=undeliverable&limit=20'],
    ['code tasks', '/api/code-tasks?limit=50'],
    ['channels', '/api/channels'],
    ['credentials', '/api/credentials'],
    ['MCP servers', '/api/mcp-servers'],
    ['skills', '/api/skills'],
    ['providers', '/api/providers'],
    ['settings', '/api/settings'],
    ['backups', '/api/backups'],
    ['tokens', '/api/tokens'],
  ]
}

/** What the hundred thousand jobs do not have: conversations, approvals, deliveries and runs. */
function fillOthers(dataDir: string): void {
  const seed = openSeed(dataDir, Date.now() - 20 * DAY)
  const fay = seed.agent({ name: 'Fay', autonomy: 'ask_first' })
  seed.together(() => {
    for (let n = 0; n < CONVERSATIONS; n++) {
      const task = `Question ${n} about the garden.`
      seed.job({ agent: fay, task, conversation: 'new', turns: [{ text: 'Water it.' }] })
    }
    const facts = { subject: 'the shell', summary: 'Run a program', effect: 'once' as const, runsCode: true }
    const calls = [{ name: 'run_command', args: { command: 'make' }, facts }]
    for (let n = 0; n < APPROVALS; n++)
      seed.job({ agent: fay, task: `Build part ${n}.`, turns: [{ text: 'I build it.', calls }], outcome: 'waiting' })
  })
  const automations = seedAutomations(seed, [fay])
  const trigger = automations.trigger({ name: 'Orders', agentId: fay.id, slug: 'orders', taskTemplate: 'Order {id}' })
  for (let n = 0; n < INBOX_KEEPS; n++) {
    // A webhook takes thirty deliveries in an hour.
    seed.clock.advance(3 * 60_000)
    const job = automations.post(trigger, { id: n, note: 'x'.repeat(2_000) })!
    seed.play(job, { agent: fay, turns: [{ text: 'Noted.' }] })
  }
  automations.schedule({ name: 'Watch', agentId: fay.id, cron: '*/10 * * * *', task: 'Look at it.' })
  automations.pass(3 * DAY, () => ({ turns: [{ text: 'All is well.' }] }))
  seed.close()
}
