import { DEMO_MODEL } from '../../src-runner/contract/agents.ts'
import { openSeed } from './seed.ts'

const HOUR = 3_600_000
const SONNET = { providerId: 'anthropic', model: 'claude-sonnet-4-5' }

/** Six jobs with pending approvals, one of each kind, rules, and answers of the day before. */
export function fillWaitingApprovals(dataDir: string, now: number): void {
  const seed = openSeed(dataDir, now - 20 * HOUR)
  seed.provider({ id: 'anthropic', kind: 'anthropic', name: 'Anthropic' })
  seed.defaultModel(DEMO_MODEL)
  const ada = seed.agent({ name: 'Ada', avatar: '🧭', model: SONNET, autonomy: 'ask_when_it_matters' })
  const bruno = seed.agent({ name: 'Bruno', avatar: '🔧', model: SONNET, autonomy: 'on_its_own' })
  const cleo = seed.agent({ name: 'Cleo', avatar: '📚', autonomy: 'ask_first' })

  const everyone = { agentId: null, folder: null, pattern: null }
  seed.rule({ ...everyone, effect: 'deny', tool: '*', folder: '/home/you/Documents/Private' })
  seed.rule({ ...everyone, effect: 'ask', tool: 'delete_file' })
  seed.rule({ ...everyone, effect: 'allow', tool: 'run_command', pattern: 'git status*', agentId: bruno.id })
  seed.rule({ ...everyone, effect: 'allow', tool: 'web_fetch', pattern: 'https://docs.example.com/*', agentId: cleo.id })

  seed.job({
    agent: cleo,
    task: 'File the scanned letters by sender.',
    model: SONNET,
    turns: [
      {
        text: 'The first letter is from the town hall.',
        calls: [
          {
            name: 'move_file',
            args: { from: 'Letters/scan-0041.pdf', to: 'Letters/Town hall/2026-11-18.pdf', makeFolders: true },
            output: 'Moved Letters/scan-0041.pdf to Letters/Town hall/2026-11-18.pdf.',
            facts: {
              effect: 'idempotent',
              subject: 'Letters/Town hall/2026-11-18.pdf',
              paths: ['/home/you/Letters/scan-0041.pdf', '/home/you/Letters/Town hall/2026-11-18.pdf'],
              summary: 'Move Letters/scan-0041.pdf to Letters/Town hall/2026-11-18.pdf',
              effectOn: {
                code: 'effect_move',
                params: { path: 'Letters/scan-0041.pdf', bytes: 84_000, to: 'Letters/Town hall/2026-11-18.pdf' },
              },
            },
            answered: { decision: 'approve', remember: 'always' },
          },
          {
            name: 'delete_file',
            args: { path: 'Letters/scan-0042.pdf' },
            ok: false,
            output: 'Not run: the person said no. They wrote: It is the back of the same letter. Keep it.',
            facts: {
              effect: 'idempotent',
              subject: 'Letters/scan-0042.pdf',
              paths: ['/home/you/Letters/scan-0042.pdf'],
              summary: 'Move Letters/scan-0042.pdf (84 KB) to the trash',
              effectOn: { code: 'effect_delete', params: { path: 'Letters/scan-0042.pdf', bytes: 84_000, lost: 'no' } },
              deletes: true,
            },
            answered: { decision: 'reject', note: 'It is the back of the same letter. Keep it.' },
          },
        ],
      },
      { text: 'Filed: one letter from the town hall. Its back page stays where it was.' },
    ],
  })
  seed.clock.advance(16 * HOUR)

  seed.job({
    agent: cleo,
    channel: 'chat',
    conversation: 'new',
    task: 'Plan the trip to Lisbon.',
    turns: [
      {
        text: 'Both trains reach Paris in time. One thing only you know.',
        calls: [
          {
            name: 'ask_person',
            args: {
              question: 'Shall the night be spent in Paris, or in the train?',
              choices: ['In Paris, near the station', 'In the night train to Irún', 'Whichever is cheaper'],
            },
          },
        ],
      },
    ],
    outcome: 'waiting',
  })
  seed.clock.advance(HOUR)
  seed.job({
    agent: bruno,
    channel: 'webhook',
    task: 'A customer writes: my order 1042 has not come. Please look, and check https://parcels.example/track?id=1042.',
    title: 'Answer about order 1042',
    model: SONNET,
    turns: [
      {
        text: 'I look the order up.',
        calls: [
          {
            name: 'search_files',
            args: { query: '1042' },
            output: '1 match in 1 file (2 files searched)\nshop/orders.csv:18: 1042;paid;packed;2026-11-18',
            addsTaint: ['private', 'untrusted'],
            facts: { subject: '1042', summary: 'Search for 1042' },
          },
        ],
        costMicros: 6_400,
      },
      {
        text: 'It is paid and packed. Now the parcel.',
        calls: [
          {
            name: 'web_fetch',
            args: { url: 'https://parcels.example/track?id=1042' },
            facts: {
              subject: 'https://parcels.example/track?id=1042',
              summary: 'Read https://parcels.example/track?id=1042',
              effectOn: { code: 'effect_fetch', params: { address: 'https://parcels.example/track?id=1042' } },
              leavesMachine: true,
            },
          },
        ],
        costMicros: 7_100,
      },
    ],
    outcome: 'waiting',
  })
  seed.job({
    agent: bruno,
    channel: 'schedule',
    task: 'Publish the price list if it has changed.',
    title: 'Publish the price list',
    model: SONNET,
    turns: [
      {
        text: 'The list has changed, so I publish it.',
        calls: [
          {
            name: 'run_command',
            args: { command: ['./publish.sh', 'prices.csv'], folder: 'shop' },
            brokeOff: true,
            facts: {
              effect: 'once',
              subject: './publish.sh prices.csv',
              paths: ['/home/you/Documents/shop'],
              argv: ['./publish.sh', 'prices.csv'],
              summary: 'Runs “./publish.sh prices.csv” in shop, sandboxed, with network',
              effectOn: { code: 'effect_run', params: { line: './publish.sh prices.csv', folder: 'shop', sandbox: 'with_network' } },
              leavesMachine: true,
              runsCode: true,
              sandboxed: true,
            },
          },
        ],
        costMicros: 5_300,
      },
    ],
    outcome: 'waiting',
  })
  seed.clock.advance(2 * HOUR)
  seed.job({
    agent: ada,
    task: 'Read all the papers of the house purchase and list what is still open.',
    model: SONNET,
    turns: [{ text: 'I have read 31 of 58 papers.', costMicros: 1_980_000 }],
    outcome: { budget: { scope: 'job', limitUsd: 2, spentUsd: 1.98, extensionUsd: 2 } },
  })
  seed.job({
    agent: ada,
    channel: 'chat',
    conversation: 'new',
    task: 'Check that the bookkeeping still adds up.',
    model: SONNET,
    turns: [
      {
        text: 'The little program in your folder does that.',
        calls: [
          {
            name: 'run_command',
            args: { command: ['python3', 'check.py', '--year', '2026', 'book of the year.csv'], folder: 'Bookkeeping' },
            facts: {
              effect: 'once',
              subject: "python3 check.py --year 2026 'book of the year.csv'",
              paths: ['/home/you/Documents/Bookkeeping'],
              argv: ['python3', 'check.py', '--year', '2026', 'book of the year.csv'],
              summary: "Runs “python3 check.py --year 2026 'book of the year.csv'” in Bookkeeping, sandboxed, without network",
              effectOn: {
                code: 'effect_run',
                params: { line: "python3 check.py --year 2026 'book of the year.csv'", folder: 'Bookkeeping', sandbox: 'without_network' },
              },
              runsCode: true,
              sandboxed: true,
            },
          },
        ],
        costMicros: 4_100,
      },
    ],
    outcome: 'waiting',
  })
  seed.clock.advance(HOUR / 2)
  seed.job({
    agent: ada,
    task: 'Bring the packing list up to date for the weekend.',
    model: SONNET,
    turns: [
      {
        text: 'The forecast says rain, and the list has no rain clothes. I add them and take out the swimming things.',
        calls: [
          {
            name: 'write_file',
            args: {
              path: 'Documents/packing.md',
              content: '# Weekend\n\n- rain jackets\n- boots\n- cards, a book each\n- tea\n\nLeave on Friday at 16:10, platform 4.\n',
            },
            facts: {
              effect: 'idempotent',
              subject: 'Documents/packing.md',
              paths: ['/home/you/Documents/packing.md'],
              summary: 'Overwrite Documents/packing.md (142 bytes → 98 bytes)',
              effectOn: {
                code: 'effect_replace',
                params: { path: 'Documents/packing.md', bytes: 142, newBytes: 98, own: 'no', lost: 'no' },
              },
              overwrites: true,
            },
          },
        ],
        costMicros: 3_900,
      },
    ],
    outcome: 'waiting',
  })
  seed.close()
}
