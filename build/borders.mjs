// Who may import whom. ARCHITECTURE.md tells the reasons; borders.test.ts plants a violation of every rule and checks that it is reported.
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

/** These files load what is at `path` when it is first needed: they import it dynamically, or its types. */
const onDemand = (name, comment, from, path) => never(name, comment, from, { path, dynamic: false, dependencyTypesNot: ['type-only'] })

/**
 * The nouns of the domain: each may import those before it. src-runner/domain/DECISIONS.md gives the reasons. Files of tables
 * are exempt, because the schema is one: foreign keys and joins lead in both directions.
 */
const NOUNS = (
  'settings connectors entities tokens agents credentials mcp providers prices files skills memory conversations spend budgets ' +
  'jobs code-tasks rules schedules triggers approvals outbox channels attention retention'
).split(' ')
const nounsInOrder = (nouns, to) =>
  never('nouns-in-order', 'A noun imports only nouns before it, so folders form no circles.', `^src-runner/domain/${nouns}/`, {
    path: to,
    pathNot: '-table\\.ts$',
  })

export default {
  forbidden: [
    never(
      'contract-stands-alone',
      'A contract holds schemas, types and constants: zod, other contract files and the keys of texts, nothing else.',
      '^src-[a-z]+/contract/',
      {
        pathNot: ['^src-[a-z]+/contract/', npm('zod'), '^resources/locales/texts\\.ts$'],
      },
    ),

    never(
      'main-asks-the-runner',
      "The desktop knows of the runner what the runner's contract says, and nothing of the page.",
      '^src-main/',
      '^src-runner/(?!contract/)|^src-renderer/',
    ),
    never(
      'page-asks-by-contract',
      'The page knows the two contracts and nothing behind them.',
      '^src-renderer/',
      '^src-(main|runner)/(?!contract/)',
    ),
    never('page-is-a-web-page', 'The page runs sandboxed: no Node, no Electron.', '^src-renderer/', { dependencyTypes: ['core'] }),
    never('runner-stands-alone', 'The runner answers; it never reaches for those who ask.', '^src-runner/', '^src-(main|renderer)/'),

    never('page-lib-is-bare', "The page's lib knows no screen, no data, no design.", '^src-renderer/lib/', '^src-renderer/(?!lib/)'),
    never('features-have-no-screen', 'What screens share knows no screen.', '^src-renderer/features/', '^src-renderer/(routes|shell)/'),
    never('ui-has-no-data', 'The design system takes what it shows as properties.', '^src-renderer/ui/', '^src-renderer/(?!ui/|lib/)'),
    never('api-has-no-screen', 'Fetching knows nothing of what is shown.', '^src-renderer/(api|platform)/', '^src-renderer/routes/'),
    never(
      'screens-keep-apart',
      'What two screens share belongs into ui/ or api/.',
      '^src-renderer/routes/([^/]+)/',
      '^src-renderer/routes/(?!$1/)[^/]+/',
    ),

    never('lib-is-bare', 'lib has no word of the domain.', '^src-runner/lib/', '^src-runner/(?!lib/|contract/)'),
    never(
      'platform-looks-inward',
      'Imports point inward: contract, lib, platform.',
      '^src-runner/platform/',
      '^src-runner/(?!platform/|lib/|contract/)',
    ),
    never(
      'domain-looks-inward',
      'The domain never imports the agent; they meet in execution/.',
      '^src-runner/domain/',
      '^src-runner/(?!domain/|platform/|lib/|contract/)',
    ),
    ...NOUNS.slice(0, -1).map((noun, i) => nounsInOrder(noun, `^src-runner/domain/(${NOUNS.slice(i + 1).join('|')})/`)),
    nounsInOrder(`(?!(${NOUNS.join('|')})/)[^/]+`, '.'),
    never(
      'agent-looks-inward',
      'The agent never imports the domain; they meet in execution/.',
      '^src-runner/agent/',
      '^src-runner/(?!agent/|platform/|lib/|contract/)',
    ),
    never(
      'execution-looks-inward',
      'Execution knows no adapter.',
      '^src-runner/execution/',
      '^src-runner/(adapters/|composition/|(runner|main)\\.ts$)',
    ),
    never(
      'adapters-look-inward',
      'Only the composition knows the whole.',
      '^src-runner/adapters/',
      '^src-runner/(composition/|(runner|main)\\.ts$)',
    ),
    never(
      'adapters-keep-apart',
      'One adapter never imports another.',
      '^src-runner/adapters/([^/]+)/',
      '^src-runner/adapters/(?!$1/)[^/]+/',
    ),
    never(
      'tools-keep-apart',
      'A tool is one folder and one line in a list.',
      '^src-runner/agent/tools/([^/]+)/',
      '^src-runner/agent/tools/(?!$1/)[^/]+/',
    ),

    never(
      'electron-in-the-desktop',
      'Electron lives in src-main, outside what headless shares.',
      { pathNot: [TESTS, '^src-main/(?!contract/|dashboard/|sign-in/|vault/|settings/|headless\\.ts$)'] },
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
      'sqlite-behind-platform',
      "The database is opened in platform/db; the dashboard's sign-in has one of its own, and a reset takes the lock of the data.",
      { path: '^src-', pathNot: [TESTS, '^src-runner/platform/db/', '^src-main/sign-in/', '^src-main/reset/data-lock\\.ts$'] },
      `${npm('better-sqlite3')}|^(node:)?sqlite$`,
    ),
    never(
      'query-builder-in-the-domain',
      'drizzle is used where tables are: platform/db, the folders of the domain, and the sign-in of the dashboard.',
      { path: '^src-', pathNot: [TESTS, '^src-runner/(platform/db|domain/[^/]+)/', '^src-main/sign-in/'] },
      npm('drizzle-orm'),
    ),
    never(
      'sign-in-library-in-one-file',
      'One file knows the library of accounts and sessions. It is loaded when accounts are first needed.',
      { path: '^src-', pathNot: [TESTS, '^src-main/sign-in/auth-sessions\\.ts$'] },
      npm('(better-auth|@better-auth)'),
    ),
    onDemand(
      'accounts-on-demand',
      'In local-trust nothing of accounts is loaded, so they are imported dynamically only.',
      { path: '^src-main/(?!sign-in/)', pathNot: TESTS },
      '^src-main/sign-in/(accounts|auth-|guesses)',
    ),
    never(
      'certificates-in-one-file',
      'One file makes certificates. The library for it is loaded with the first one.',
      { path: '^src-', pathNot: [TESTS, '^src-main/net/certificate\\.ts$'] },
      npm('@peculiar'),
    ),
    onDemand(
      'certificates-on-demand',
      'Without encryption nothing of certificates is loaded, so their library is imported dynamically only.',
      { path: '^src-main/net/certificate\\.ts$' },
      npm('@peculiar'),
    ),
    never('keychain-behind-the-vault', 'Only the vault reads the keychain.', { pathNot: [TESTS, '^src-main/vault/'] }, npm('keytar')),
    never(
      'updater-in-updates',
      'New versions come through one folder, which checks addresses and signatures.',
      { pathNot: [TESTS, '^src-main/updates/'] },
      npm('electron-updater'),
    ),
    onDemand(
      'updater-loads-late',
      'The app loads the updater with the first check, so nothing imports it statically.',
      { path: '^src-main/', pathNot: [TESTS, '^src-main/updates/guarded-http\\.ts$'] },
      `${npm('electron-updater')}|^src-main/updates/guarded-http\\.ts$`,
    ),
    never(
      'network-behind-platform',
      'Tools and models reach the network through platform/net, which guards it.',
      '^src-runner/(lib|domain|agent|execution)/',
      NETWORK,
    ),
    never(
      'processes-behind-the-sandbox',
      'What agents run is started in platform/sandbox, which fences it; what a person has installed and starts, in platform/programs; Git in platform/git.',
      { path: '^src-runner/', pathNot: [TESTS, '^src-runner/platform/(sandbox|programs|git)/'] },
      '^(node:)?child_process$',
    ),
    never(
      'git-by-its-interface',
      'Git is run with limits and settings that only platform/git sets, so the rest of it is its own.',
      { path: '^src-runner/', pathNot: [TESTS, '^src-runner/platform/git/'] },
      { path: '^src-runner/platform/git/', pathNot: '/(create-git|git-failed)\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    never(
      'model-libraries-in-adapters',
      'One adapter per provider; nobody else speaks their language.',
      { pathNot: [TESTS, '^src-runner/agent/providers/'] },
      npm('@ai-sdk'),
    ),
    never(
      'chat-libraries-in-drivers',
      'One driver per chat service; nobody else speaks its language.',
      { pathNot: [TESTS, '^src-runner/adapters/channels/telegram/'] },
      npm('grammy'),
    ),
    never(
      'whatsapp-in-its-driver',
      'One folder knows the library of WhatsApp.',
      { path: '^src-', pathNot: [TESTS, '^src-runner/adapters/channels/whatsapp/'] },
      npm('@whiskeysockets/baileys'),
    ),
    onDemand(
      'whatsapp-on-demand',
      'The library takes 60 MB, so it is loaded with the first pairing or paired agent.',
      { path: '^src-runner/', pathNot: TESTS },
      npm('@whiskeysockets/baileys'),
    ),
    never(
      'slack-libraries-in-their-driver',
      "Slack's client is used by its driver alone.",
      { pathNot: [TESTS, '^src-runner/adapters/channels/slack/', '^build/'] },
      npm('@slack'),
    ),
    onDemand(
      'slack-libraries-load-late',
      'A runner without a Slack channel does not pay for its client, so it is imported dynamically only.',
      { path: '^src-runner/', pathNot: TESTS },
      npm('@slack'),
    ),
    never(
      'mcp-client-in-its-folder',
      'One folder speaks the Model Context Protocol as a client, and one file as a server.',
      { path: '^src-', pathNot: [TESTS, '^src-runner/(agent/mcp|adapters/http)/'] },
      npm('@modelcontextprotocol'),
    ),
    onDemand(
      'mcp-client-on-demand',
      'The library is loaded with the first connection or tool of a server.',
      { path: '^src-runner/agent/mcp/', pathNot: TESTS },
      npm('@modelcontextprotocol'),
    ),
    never(
      'coding-protocol-in-its-folder',
      'One folder speaks the Agent Client Protocol.',
      { path: '^src-', pathNot: [TESTS, '^src-runner/agent/coding/'] },
      npm('@agentclientprotocol'),
    ),
    onDemand(
      'coding-protocol-on-demand',
      'The library is loaded with the first coding program.',
      { path: '^src-runner/agent/coding/', pathNot: TESTS },
      npm('@agentclientprotocol'),
    ),
    onDemand(
      'mcp-endpoint-on-demand',
      'The library of the Model Context Protocol is loaded with the first request to /mcp.',
      { path: '^src-runner/adapters/http/', pathNot: [TESTS, '^src-runner/adapters/http/mcp/mcp-protocol\\.ts$'] },
      `${npm('@modelcontextprotocol')}|^src-runner/adapters/http/mcp/mcp-protocol\\.ts$`,
    ),
    never(
      'discord-spoken-directly',
      "Discord's libraries open connections past platform/net. Only the benchmark compares with them.",
      '^src-',
      npm('@discordjs'),
    ),

    // The desktop's e2e hooks are loaded by name in test mode, hence the dynamic import that is let through.
    never('product-needs-no-tests', 'Product code never imports what exists for tests.', {}, { path: '/testing/', dynamic: false }),
    never('texts-stand-alone', 'Every process reads the texts, so they lean on none.', '^resources/', '^(src-|build/|e2e/)'),
    never('product-needs-no-scripts', 'Scripts and scenarios use the product, not the other way round.', '^src-', '^(build|e2e)/'),

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
