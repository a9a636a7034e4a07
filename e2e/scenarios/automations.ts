import { createMessage } from '../../src-runner/lib/messages.ts'
import { DEMO_MODEL } from '../../src-runner/contract/agents.ts'
import { saveScheduleCursor } from '../../src-runner/domain/schedules/schedule-cursor.ts'
import { openSeed } from './seed.ts'
import { seedAutomations } from './seed-automations.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SONNET = { providerId: 'anthropic', model: 'claude-sonnet-4-5' }

const order = (number: number, total: string, name: string) => ({
  id: 5000 + number,
  name: `#${number}`,
  total_price: total,
  currency: 'EUR',
  customer: { first_name: name, last_name: 'H.' },
  line_items: [{ title: 'Gear, small', quantity: 3 }],
  note: null,
})

const push = (message: string) => ({
  ref: 'refs/heads/main',
  repository: { full_name: 'ada/engine' },
  pusher: { name: 'grace' },
  head_commit: { message },
})

/** Webhooks with deliveries of many outcomes, and schedules whose run history has every state. */
export function fillAutomations(dataDir: string, now: number): void {
  const seed = openSeed(dataDir, now - 4 * DAY)
  seed.provider({ id: 'anthropic', kind: 'anthropic', name: 'Anthropic' })
  seed.defaultModel(DEMO_MODEL)
  const ada = seed.agent({ name: 'Ada', avatar: '🧭', instructions: 'You keep the household papers in order.' })
  const bruno = seed.agent({ name: 'Bruno', avatar: '🔧', instructions: 'You look after the small web shop.' })
  const cleo = seed.agent({ name: 'Cleo', avatar: '📚', instructions: 'You read, sum up and compare.' })
  const automations = seedAutomations(seed, [ada, bruno, cleo])
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone

  const done = (text: string, costMicros = 9_000) => ({ model: SONNET, turns: [{ text, costMicros }] })

  const orders = automations.trigger({
    name: 'New orders',
    agentId: bruno.id,
    slug: 'orders',
    taskTemplate:
      'Order {name} came in: {total_price} {currency}, from {customer.first_name} {customer.last_name}.\n\nNote of the customer: {note}\n\nCheck whether anything about it needs a person, and say so in one line.',
  })
  const pushes = automations.trigger({
    name: 'Review pushes',
    agentId: cleo.id,
    slug: 'engine-pushes',
    taskTemplate: '{pusher.name} pushed to {repository.full_name}: {head_commit.message}. Does it need my attention?',
    signature: { scheme: 'github', secret: 'kept in the vault' },
    dedupe: true,
  })
  const form = automations.trigger({ name: 'Contact form', agentId: ada.id, slug: 'contact', taskTemplate: '{email} writes: {text}' })
  automations.trigger({ name: 'Backups', agentId: null, slug: 'backups', taskTemplate: 'Backup: {state}' })

  const summary = automations.schedule({
    name: 'Morning summary',
    agentId: ada.id,
    cron: '30 7 * * *',
    timezone,
    task: 'Go through yesterday’s notes and list what is still open in five lines, most urgent first.',
    dailyBudgetUsd: 1,
  })
  const stock = automations.schedule({
    name: 'Compare the stock',
    agentId: bruno.id,
    cron: '0 */3 * * *',
    timezone,
    task: 'Compare the stock list with the open orders. Tell me what runs out this week.',
    dailyBudgetUsd: 5,
  })
  const letter = automations.schedule({
    name: 'Letter to the club',
    agentId: cleo.id,
    cron: '0 17 * * 5',
    timezone,
    task: 'Draft the letter of the week from the minutes.',
    catchUpHours: 0,
  })
  seed.parts.write((tx) => seed.parts.schedules.pause(tx, letter.id))

  let runs = 0
  const goOn = (job: { scheduleId: string | null }) => {
    runs++
    if (job.scheduleId === summary.id) return done('Three things are open: the boiler, the hedge, the letter to the town hall.', 14_000)
    if (runs % 9 === 5) {
      return {
        ...done('I read the list.'),
        outcome: { error: 'model_unavailable' as const, message: createMessage('model_late', { provider: 'Anthropic', status: '504' }) },
      }
    }
    return done('Small gears last until Thursday; everything else is fine.', 21_000)
  }
  automations.pass(30 * HOUR, goOn)
  // More than a day, so that it contains a morning at any hour.
  automations.sleep(25 * HOUR)
  automations.pass(32 * HOUR, goOn)

  const posted = [
    automations.post(orders, order(1001, '59.90', 'Grace')),
    automations.post(orders, order(1002, '12.00', 'Alan')),
    automations.post(pushes, push('Let the gears turn both ways'), { 'x-github-event': 'push', 'x-github-delivery': 'a1f0' }),
  ]
  for (const job of posted)
    seed.play(job!, { agent: job!.agentId === bruno.id ? bruno : cleo, ...done('Nothing about it needs a person.') })
  automations.post(pushes, push('Let the gears turn both ways'), { 'x-github-event': 'push', 'x-github-delivery': 'a1f0' })
  automations.refuse(form, 'invalid_json', 400, {
    payload: 'email=grace%40example.com&text=Hello',
    headers: { 'user-agent': 'OldForm/1.0' },
  })
  automations.refuse(form, 'unsupported_media_type', 415)
  automations.pauseTrigger(form)
  automations.refuse(form, 'paused', 404, { times: 3 })

  const watch = automations.schedule({
    name: 'Watch the parcel',
    agentId: cleo.id,
    cron: '*/10 * * * *',
    timezone,
    task: 'Look where parcel 1042 is. Tell me when it has moved.',
    dailyBudgetUsd: 2,
    notifyOnSuccess: true,
  })
  const prices = automations.schedule({
    name: 'Check the prices',
    agentId: ada.id,
    cron: '5 * * * *',
    timezone,
    task: 'Compare our prices with those of the three other shops.',
    dailyBudgetUsd: 0.5,
  })
  let looks = 0
  const goOnToday = (job: { scheduleId: string | null }) => {
    if (job.scheduleId === watch.id) {
      looks++
      return looks % 4 === 0
        ? done('It has left the depot in Lyon.', 3_000)
        : { ...done('Still at the same place.', 2_000), outcome: 'no_op' as const }
    }
    return job.scheduleId === prices.id ? done('Two are cheaper, by four percent.', 190_000) : goOn(job)
  }
  automations.pass(4 * HOUR, goOnToday)
  seed.parts.write((tx) => saveScheduleCursor(tx, watch.id, 'Parcel 1042: last seen in Lyon, 14:20.\nPromised for Saturday.', []))
  automations.sleep(40 * MINUTE)
  automations.pass(HOUR, goOnToday)

  automations.refuse(orders, 'wrong_secret', 404, { times: 41 })
  automations.refuse(pushes, 'bad_signature', 404, { times: 2 })
  const last = automations.post(orders, order(1003, '249.00', 'Ada'), { 'user-agent': 'Shopify-Captain-Hook' })
  seed.play(last!, { agent: bruno, ...done('A first order of this size: look at the address before it is sent.') })

  // The current run waits for an approval, and later runs wait behind it.
  automations.pass(now - 5 * MINUTE - seed.clock.now(), (job) =>
    job.scheduleId === stock.id
      ? {
          model: SONNET,
          turns: [
            {
              text: 'Small gears run out. I would order more.',
              calls: [{ name: 'ask_person', args: { question: 'Shall I order 200 small gears?', choices: ['Yes, 200', 'Not yet'] } }],
              costMicros: 18_000,
            },
          ],
          outcome: 'waiting',
        }
      : goOnToday(job),
  )
  automations.refuse(orders, 'rate_limited', 429, { times: 6 })
  automations.sleep(now - seed.clock.now())
  seed.close()
}
