import { createMessage } from '../../src-runner/lib/messages.ts'
import { DEMO_MODEL } from '../../src-runner/contract/agents.ts'
import { openSeed } from './seed.ts'

const HOUR = 3_600_000
const SONNET = { providerId: 'anthropic', model: 'claude-sonnet-4-5' }

/** The output of the tool. */
const listing = (folder: string, files: string[]) =>
  `${folder}: ${files.length} files\nkind\tsize\tmodified\tpath\n${files.map((file) => `file\t1204\t2026-11-18 09:12\t${folder}/${file}`).join('\n')}`

/** Three agents in the middle of a working day: chats, finished and failed jobs, two days of spend, jobs in the queue. */
export function fillBusyDay(dataDir: string, now: number): void {
  const seed = openSeed(dataDir, now - 30 * HOUR)
  seed.provider({ id: 'anthropic', kind: 'anthropic', name: 'Anthropic' })
  seed.provider({ id: 'local', kind: 'openai-compatible', name: 'Local server', baseUrl: 'http://127.0.0.1:9/v1' })
  seed.defaultModel(DEMO_MODEL)
  const ada = seed.agent({
    name: 'Ada',
    instructions: 'You keep the household papers in order.',
    model: SONNET,
    autonomy: 'ask_when_it_matters',
  })
  const bruno = seed.agent({
    name: 'Bruno',
    instructions: 'You look after the small web shop.',
    model: SONNET,
    autonomy: 'ask_first',
  })
  const cleo = seed.agent({ name: 'Cleo', instructions: 'You read, sum up and compare.', autonomy: 'on_its_own' })

  seed.job({
    agent: cleo,
    task: 'What is in my notes folder? Sum up the three newest.',
    turns: [
      {
        text: 'I look at the folder first.',
        calls: [{ name: 'list_files', args: { path: 'notes' }, output: listing('notes', ['boiler.md', 'garden.md', 'travel.md']) }],
      },
      {
        text: 'The three newest notes:\n\n1. **Boiler** – serviced in September, next due in a year.\n2. **Garden** – the hedge is to be cut before March.\n3. **Travel** – two options for Lisbon, both by train to Paris.',
      },
    ],
  })
  seed.clock.advance(5 * HOUR)
  seed.job({
    agent: bruno,
    channel: 'webhook',
    task: 'A customer asks about order 1042. Draft an answer.',
    title: 'Answer about order 1042',
    model: SONNET,
    turns: [
      {
        text: '',
        reasoning: 'The order is in the export of this morning.',
        calls: [
          {
            name: 'search_files',
            args: { query: '1042' },
            output: '1 match in 1 file (2 files searched)\nshop/orders.csv:18: 1042;paid;packed;2026-11-18',
          },
        ],
        costMicros: 6_400,
        inputTokens: 1800,
        outputTokens: 90,
      },
      {
        text: 'Draft:\n\n> Thank you for asking. Your order 1042 is paid and packed, and leaves us tomorrow morning.',
        costMicros: 9_100,
        inputTokens: 2100,
        outputTokens: 180,
      },
    ],
  })
  seed.job({
    agent: bruno,
    channel: 'api',
    task: 'Compare the stock list with the orders of the week.',
    model: SONNET,
    turns: [
      {
        text: 'I start with the stock list.',
        calls: [
          {
            name: 'read_file',
            args: { path: 'stock.csv' },
            ok: false,
            output: 'This agent has no folders. A person can give it some in its settings.',
          },
        ],
        costMicros: 5_200,
      },
    ],
    outcome: {
      error: 'model_unavailable',
      message: createMessage('job_after_tries', {
        problem: createMessage('model_overloaded', { provider: 'Anthropic', status: '529' }),
        tries: 3,
      }),
    },
  })
  seed.clock.advance(21 * HOUR)
  seed.job({
    agent: bruno,
    channel: 'chat',
    task: 'How many orders of this week are not paid yet?',
    model: SONNET,
    turns: [
      {
        text: '',
        calls: [
          {
            name: 'search_files',
            args: { query: ';open;' },
            output:
              '2 matches in 1 file (2 files searched)\nshop/orders.csv:21: 1045;open;;2026-11-19\nshop/orders.csv:23: 1047;open;;2026-11-19',
          },
        ],
        costMicros: 5_800,
      },
      { text: 'Two: **1045** and **1047**, both of yesterday.', costMicros: 6_900 },
    ],
  })
  seed.job({
    agent: cleo,
    channel: 'chat',
    task: 'Compare the two offers for the roof.',
    turns: [{ text: 'The second one is 900 euros cheaper, but leaves out the scaffold.' }],
  })
  seed.clock.advance(2 * HOUR)

  const first = seed.job({
    agent: ada,
    channel: 'chat',
    task: 'Which of my insurance contracts can be cancelled before the end of the year?',
    model: SONNET,
    turns: [
      {
        text: 'I look through the contracts.',
        calls: [
          { name: 'list_files', args: { path: 'contracts' }, output: listing('contracts', ['bike.txt', 'household.txt', 'liability.txt']) },
          {
            name: 'search_files',
            args: { query: 'notice period' },
            output:
              '3 matches in 3 files (3 files searched)\ncontracts/bike.txt:12: notice period one month to the end of the year\ncontracts/household.txt:31: notice period three months\ncontracts/liability.txt:9: notice period one month to the end of the year',
          },
        ],
        costMicros: 11_800,
        inputTokens: 3900,
        outputTokens: 240,
      },
      {
        text: 'Two of the three:\n\n| Contract | Notice | Latest day |\n|---|---|---|\n| Bike | one month | 30 November |\n| Liability | one month | 30 November |\n| Household | three months | *too late for this year* |',
        costMicros: 14_300,
        inputTokens: 4400,
        outputTokens: 310,
        seconds: 7,
      },
    ],
  })
  seed.job({
    agent: ada,
    channel: 'chat',
    conversation: first.conversationId,
    task: 'Write the letter for the bike insurance.',
    model: SONNET,
    turns: [
      {
        text: 'Dear Sir or Madam,\n\nI give notice on my bicycle insurance to the end of this year.\n\nPlease confirm in writing.\n\nKind regards',
        costMicros: 8_900,
        inputTokens: 4700,
        outputTokens: 120,
      },
    ],
  })
  seed.clock.advance(HOUR / 2)
  seed.job({
    agent: cleo,
    channel: 'schedule',
    task: 'Sum up what changed in the project folder since yesterday.',
    title: 'Morning summary',
    turns: [{ text: 'Nothing changed since yesterday.' }],
  })
  seed.job({
    agent: cleo,
    task: 'Read the whole archive and list every invoice.',
    turns: [{ text: 'I have read 40 of 212 files so far: 9 invoices.' }],
    outcome: 'cancelled',
  })
  seed.close()
}
