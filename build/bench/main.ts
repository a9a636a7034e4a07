import { benchDiscord } from './discord.ts'
import { benchIdle } from './idle.ts'
import { benchJobs } from './jobs.ts'
import { benchLists } from './lists.ts'
import { benchMcpCalls } from './mcp-calls.ts'
import { benchMcpStart } from './mcp-start.ts'
import { benchPolicy } from './policy.ts'
import { benchQueries } from './queries.ts'
import { benchSchedules } from './schedules.ts'
import { benchSlack } from './slack.ts'
import { benchStream } from './stream.ts'
import { benchTelegram } from './telegram.ts'
import { benchTools } from './tools.ts'
import { benchWebhookTiming } from './webhook-timing.ts'
import { benchWebhooks } from './webhooks.ts'
import { benchWhatsApp } from './whatsapp.ts'
import { benchWindow } from './window.ts'

/**
 * Measurements, each beside its baseline in the same run. `npm run bench` runs all but `idle`, which takes half an
 * hour; `npm run bench jobs` one of them.
 * They print figures and judge nothing: speed is never a test, since machines differ and are shared.
 */
const benches: Record<string, () => Promise<void>> = {
  discord: benchDiscord,
  idle: benchIdle,
  jobs: benchJobs,
  lists: benchLists,
  'mcp-calls': benchMcpCalls,
  'mcp-start': benchMcpStart,
  policy: benchPolicy,
  queries: benchQueries,
  schedules: benchSchedules,
  slack: benchSlack,
  stream: benchStream,
  telegram: benchTelegram,
  tools: benchTools,
  webhooks: benchWebhooks,
  'webhook-timing': benchWebhookTiming,
  whatsapp: benchWhatsApp,
  window: benchWindow,
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(benches, name))
if (unknown !== undefined) {
  console.error(`There is no measurement "${unknown}". There are: ${Object.keys(benches).join(', ')}.`)
  process.exit(2)
}
for (const name of asked.length > 0 ? asked : Object.keys(benches).filter((bench) => bench !== 'idle')) await benches[name]!()
process.exit(0)
