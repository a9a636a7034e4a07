// Who may import whom. ARCHITECTURE.md tells the reasons; borders.test.ts plants a violation of every rule and sees it found.
//
// dependency-cruiser reads TypeScript with swc here: the compiler of TypeScript 7 has no JavaScript interface, and without
// a parser that works every file would look empty and every border respected.

/** Tests and what only tests use may reach across: a story test starts the whole runner to look at one folder. */
const TESTS = '\\.test\\.tsx?$|/testing/'

const NETWORK = '^(node:)?(http|https|http2|net|tls|dgram|dns)(/promises)?$'
const npm = (name) => `(^|/)node_modules/${name}/`

/** From these files, nothing of those. */
const never = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: typeof from === 'string' ? { path: from, pathNot: TESTS } : { pathNot: TESTS, ...from },
  to: typeof to === 'string' ? { path: to } : to,
})

export default {
  forbidden: [
    never(
      'contract-stands-alone',
      'A contract holds schemas, types and constants: zod and other contract files, nothing else.',
      '^src-[a-z]+/contract/',
      {
        pathNot: ['^src-[a-z]+/contract/', npm('zod')],
      },
    ),

    never(
      'main-asks-the-runner',
      "The desktop knows of the runner what the runner's contract says, and of the page its words.",
      '^src-main/',
      '^src-runner/(?!contract/)|^src-renderer/(?!kit/(words/|numbers\\.ts$))',
    ),
    never(
      'page-asks-by-contract',
      'The page knows the two contracts and nothing behind them.',
      '^src-renderer/',
      '^src-(main|runner)/(?!contract/)',
    ),
    never('page-is-a-web-page', 'The page runs sandboxed: no Node, no Electron.', '^src-renderer/', { dependencyTypes: ['core'] }),
    never('runner-stands-alone', 'The runner answers; it never reaches for those who ask.', '^src-runner/', '^src-(main|renderer)/'),

    never('page-kit-is-bare', "The page's kit knows no screen, no data, no design.", '^src-renderer/kit/', '^src-renderer/(?!kit/)'),
    never('ui-has-no-data', 'The design system takes what it shows as properties.', '^src-renderer/ui/', '^src-renderer/(?!ui/|kit/)'),
    never('api-has-no-screen', 'Fetching knows nothing of what is shown.', '^src-renderer/(api|platform)/', '^src-renderer/routes/'),
    never(
      'screens-keep-apart',
      'What two screens share belongs into ui/ or api/.',
      '^src-renderer/routes/([^/]+)/',
      '^src-renderer/routes/(?!$1/)[^/]+/',
    ),

    never('kit-is-bare', 'The kit has no word of the domain.', '^src-runner/kit/', '^src-runner/(?!kit/|contract/)'),
    never('base-looks-inward', 'Imports point inward: contract, kit, base.', '^src-runner/base/', '^src-runner/(?!base/|kit/|contract/)'),
    never(
      'records-look-inward',
      'What is recorded never imports what thinks; they meet in work/.',
      '^src-runner/records/',
      '^src-runner/(?!records/|base/|kit/|contract/)',
    ),
    never(
      'thinking-looks-inward',
      'What thinks never imports what is recorded; they meet in work/.',
      '^src-runner/thinking/',
      '^src-runner/(?!thinking/|base/|kit/|contract/)',
    ),
    never('work-looks-inward', 'A kind of work knows no edge.', '^src-runner/work/', '^src-runner/(edges/|(runner|main)\\.ts$)'),
    never('edges-look-inward', 'Only the entry knows the whole.', '^src-runner/edges/', '^src-runner/(runner|main)\\.ts$'),
    never('edges-keep-apart', 'One edge never imports another.', '^src-runner/edges/([^/]+)/', '^src-runner/edges/(?!$1/)[^/]+/'),
    never(
      'tools-keep-apart',
      'A tool is one folder and one line in a list.',
      '^src-runner/thinking/tools/([^/]+)/',
      '^src-runner/thinking/tools/(?!$1/)[^/]+/',
    ),

    never(
      'electron-in-the-desktop',
      'Electron lives in src-main, outside what headless shares.',
      { pathNot: [TESTS, '^src-main/(?!contract/|dashboard/|vault/|settings/|headless\\.ts$)'] },
      npm('electron'),
    ),
    {
      name: 'headless-never-meets-electron',
      comment: 'Headless runs under plain Node, so nothing on its way may import Electron, however far down.',
      severity: 'error',
      from: { path: '^src-main/headless\\.ts$' },
      to: { path: npm('electron'), reachable: true },
    },
    never(
      'sqlite-behind-base',
      "The database is opened in base/db; the dashboard's sign-in has one of its own.",
      { pathNot: [TESTS, '^src-runner/base/db/', '^src-main/dashboard/'] },
      `${npm('better-sqlite3')}|^(node:)?sqlite$`,
    ),
    never('keychain-behind-the-vault', 'Secrets have one door.', { pathNot: [TESTS, '^src-main/vault/'] }, npm('keytar')),
    never(
      'network-behind-base',
      'Tools and models reach the network through base/net, which guards it.',
      '^src-runner/(kit|records|thinking|work)/',
      NETWORK,
    ),
    never(
      'processes-behind-the-box',
      'What agents run is started in base/box, which fences it; what a person has installed and starts, in base/programs.',
      { path: '^src-runner/', pathNot: [TESTS, '^src-runner/base/(box|programs)/'] },
      '^(node:)?child_process$',
    ),
    never(
      'model-libraries-in-adapters',
      'One adapter per provider; nobody else speaks their language.',
      { pathNot: [TESTS, '^src-runner/thinking/models/'] },
      npm('@ai-sdk'),
    ),
    never(
      'chat-libraries-in-drivers',
      'One driver per chat service; nobody else speaks its language.',
      { pathNot: [TESTS, '^src-runner/edges/channels/telegram/'] },
      npm('grammy'),
    ),

    // The desktop's e2e hooks are loaded by name in test mode, hence the dynamic import that is let through.
    never('product-needs-no-tests', 'Product code never imports what exists for tests.', {}, { path: '/testing/', dynamic: false }),
    never('product-needs-no-house', 'Scripts and scenarios use the product, not the other way round.', '^src-', '^(build|e2e)/'),

    {
      name: 'no-circles',
      comment: 'Two files that need each other are one file, or hide a third. Types alone may circle: they are gone at run time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'imports-exist', comment: 'An import that leads nowhere.', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.(css|svg|png|html)' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
