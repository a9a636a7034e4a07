import type { Access } from '../contract/port.ts'
import { createChannelConnections } from '../adapters/channels/connections.ts'
import { createDiscordDriver } from '../adapters/channels/discord/discord.ts'
import { createSlackDriver } from '../adapters/channels/slack/slack.ts'
import { createTelegramDriver } from '../adapters/channels/telegram/telegram.ts'
import { createPairings } from '../adapters/channels/whatsapp/pairings.ts'
import { createWhatsAppDriver } from '../adapters/channels/whatsapp/whatsapp.ts'
import { createCodingPrograms } from '../adapters/coding-agents/coding-programs.ts'
import { createHostCommands } from '../adapters/host/host-commands.ts'
import { createRunningReports, type RunningReports } from '../adapters/host/running-reports.ts'
import { createHandlers } from '../adapters/http/handlers.ts'
import type { HandlerDeps } from '../adapters/http/handlers/deps.ts'
import { createIdentify } from '../adapters/http/identify-caller.ts'
import { MCP_ROUTE } from '../adapters/http/mcp/mcp-endpoint.ts'
import type { FrontRules } from '../adapters/http/request-gate.ts'
import { createHttpServer } from '../adapters/http/server.ts'
import { confineInput } from '../adapters/http/workspace-scope.ts'
import { watchAttention } from '../adapters/notifications/attention-watch.ts'
import { createNotifications } from '../adapters/notifications/notifications.ts'
import { createOutboxSender } from '../adapters/outbox/outbox-sender.ts'
import { createSystemAlarm } from '../adapters/scheduler/alarm.ts'
import { createScheduler, type Scheduler } from '../adapters/scheduler/scheduler.ts'
import { addressesOfThisMachine } from '../platform/net/address-guard.ts'
import { createPublicAddresses } from '../adapters/tunnel/public-address.ts'
import { createSkillInstaller } from '../adapters/skills/skill-installer.ts'
import { openWebhookServer } from '../adapters/webhooks/webhook-server.ts'
import { createWebhooks, type Webhooks } from '../adapters/webhooks/webhooks.ts'
import { nameFolders } from '../agent/files/folder-paths.ts'
import { findAgent, listAgentFolders } from '../domain/agents/agents.ts'
import { deniedFoldersOf } from '../domain/rules/rule-set.ts'
import { findServers } from '../agent/providers/local-servers.ts'
import { createDailyBackup } from '../execution/daily-backup.ts'
import { createDamageWatch } from '../execution/damage-watch.ts'
import { examine } from '../execution/health-checks.ts'
import { createJobFiles } from '../execution/job-files.ts'
import { createMaintenance } from '../execution/maintenance.ts'
import { createRetention } from '../execution/retention.ts'
import { previewChange } from '../execution/preview-change.ts'
import { simulateCall } from '../execution/simulate.ts'
import { createClientMetadata } from '../adapters/oauth/client-metadata.ts'
import type { Agents } from './agents.ts'
import { createToolFetch, type Connections } from './connections.ts'
import type { Core } from './core.ts'
import type { Storage } from './storage.ts'

/** Archives of skills are larger than pages. */
const ARCHIVE_MS = 150_000

/** Everything that faces the outside: HTTP, the scheduler, webhooks, channels, notifications, the host. */
export function createAdapters(core: Core, storage: Storage, connections: Connections, agents: Agents) {
  const { options, access, clock, log, disposables } = core
  const { db, hub, schedules } = storage
  const { worker } = agents
  const alarm = options.alarm ?? createSystemAlarm(() => clock.now())
  const scheduler = createScheduler({ db, clock, alarm, schedules, log })
  const addresses = createPublicAddresses({
    ...core,
    db,
    async openServer(port) {
      const intake: typeof webhooks.handle = (req, res) => webhooks.handle(req, res) || clientMetadata.handle(req, res)
      const server = await openWebhookServer(intake, port, options.deadlines)
      core.ownPorts.push(server.port)
      return server
    },
    agentFolders: () => listAgentFolders(db),
    timings: options.publicAddressTimings,
    onChange: () => reports.plan(),
  })
  const { redirectUriOf } = connections.authorizations
  const clientMetadata = createClientMetadata({ ...core, db, publicUrl: addresses.chosenUrl, redirectUriOf })
  const webhooks: Webhooks = createWebhooks({ ...core, ...storage, probe: addresses.isProbe })
  disposables.add(webhooks.stop)
  const { channels, pairings } = createChannels(core, storage)
  const outbox = createOutboxSender({ ...core, ...storage, deliver: channels.deliver })
  const dailyBackup = createDailyBackup({ ...core, ...storage })
  const retention = createRetention({ ...core, ...storage, ...agents })
  const skills = createSkillInstaller({ ...core, ...storage, fetch: createToolFetch(core, db, { totalMs: ARCHIVE_MS }) })
  const http = createHttpServer({
    clock,
    log,
    handlers: createHandlers(
      createHandlerDeps(core, storage, agents, {
        ...connections,
        clientMetadata,
        scheduler,
        addresses,
        webhooks,
        channels,
        pairings,
        dailyBackup,
        retention,
        skills,
      }),
    ),
    auth: access,
    limited: {
      identify: createIdentify({ ...core, db, resolveUser: options.resolveUser ?? (async () => null) }),
      confine: (route, input, entityId) => confineInput(db, route, input, entityId),
    },
    gate: gateOf(access, options.internet?.ownAddresses ?? addressesOfThisMachine),
    takeDelivery: webhooks.handle,
    passedGate: addresses.passedGate,
    untilWritable: () => db.commits.untilUnlocked(),
    mcp: {
      liveStreams: storage.liveStreams,
      answersApprovals: () => storage.settings.read().mcpApprovals,
      newSessionId: () => core.ids.next(),
    },
    deadlines: options.deadlines,
    checkResponses: options.checkResponses,
  })
  disposables.add(
    () => addresses.stop(),
    ({ graceMs }) => http.close(Math.min(graceMs, 2000)),
    () => scheduler.stop(),
    (given) => worker.stop(given),
    // A message that is being sent needs its connection.
    ({ graceMs }) => outbox.stop({ graceMs: Math.min(graceMs, 2000) }).then(() => channels.stop()),
    () => pairings?.stop(),
  )
  const reports: RunningReports = createRunningReports({
    ...core,
    ...storage,
    reach: addresses.reach,
    hasListener: core.reports.hasListener,
    send: core.reports.send,
  })
  const notify = core.notifications.send
  const notifications = createNotifications({ ...core, ...storage, publicAddress: addresses.readState, notify })
  const maintenance = createMaintenance({ ...core, ...storage })
  const damageWatch = createDamageWatch({ ...core, ...storage })
  disposables.add(
    hub.subscribe(reports.onEvent),
    reports.stop,
    hub.subscribe(notifications.onEvent),
    notifications.close,
    watchAttention({ db, clock, publicAddress: addresses.readState }),
    () => maintenance.stop(),
    () => damageWatch.stop(),
    () => dailyBackup.stop(),
    () => retention.stop(),
    () => skills.stop(),
    db.condition.onChange((trouble) => hub.publishLive({ type: 'database.changed', payload: { trouble } })),
  )
  const commands = createHostCommands({ ...core, ...storage, worker, tunnels: addresses, notify })
  return {
    scheduler,
    addresses,
    channels,
    pairings,
    outbox,
    http,
    maintenance,
    damageWatch,
    dailyBackup,
    retention,
    skills,
    reports,
    commands,
  }
}

/** `pairings` is null where WhatsApp is off. */
function createChannels(core: Core, storage: Storage) {
  const { messengerBridge: hasMessenger = true, testMessenger: testServer = null } = core.config
  const channels = createChannelConnections({
    ...core,
    ...storage,
    closedFolders: (agentId) => {
      const folders = nameFolders(findAgent(storage.db, agentId)?.folders ?? [])
      // No rule decides about a single file that is sent.
      return [core.dataDir, ...deniedFoldersOf(storage.rules.read(), agentId, folders).map(({ path }) => path)]
    },
    drivers: [
      createTelegramDriver(core),
      createDiscordDriver(core),
      createSlackDriver(core),
      ...(hasMessenger ? [createWhatsAppDriver({ ...core, testServer })] : []),
    ],
  })
  const pairings = hasMessenger && !core.safeMode ? createPairings({ ...core, ...storage, testServer, refresh: channels.refresh }) : null
  return { channels, pairings }
}

type ForHandlers = Pick<
  HandlerDeps,
  | 'authorizations'
  | 'clientMetadata'
  | 'credentials'
  | 'fetchGuarded'
  | 'webhooks'
  | 'channels'
  | 'pairings'
  | 'dailyBackup'
  | 'retention'
  | 'skills'
> & {
  scheduler: Scheduler
  addresses: ReturnType<typeof createPublicAddresses>
}

function createHandlerDeps(core: Core, storage: Storage, agents: Agents, { scheduler, addresses, ...parts }: ForHandlers): HandlerDeps {
  const { options, clock, fetch, dataDir } = core
  const { db, schedules } = storage
  const { programs, tools } = agents
  const closedFolders = () => [dataDir, ...listAgentFolders(db)]
  const codingPrograms = createCodingPrograms({ ...core, closedFolders })
  return {
    ...core,
    ...storage,
    ...agents,
    ...parts,
    tick: scheduler.tick,
    simulate: (call) => simulateCall({ ...storage, ...agents }, call),
    previewChange: (approvalId) => previewChange({ ...storage, tools, dataDir }, approvalId),
    findSandbox: (given) => {
      if (given?.again === true) void programs.scan()
      return core.findSandbox(given)
    },
    files: createJobFiles({ ...core, ...storage, closedFolders: [dataDir] }),
    findServers: () => findServers({ fetch, clock, ports: options.discoveryPorts }),
    webhookBase: addresses.webhookBase,
    publicAddress: addresses,
    mcpRegistryUrl: options.mcpRegistryUrl,
    mcpEndpoint: () => ({ url: `${addresses.runnerUrl()}${MCP_ROUTE.path}`, bearer: BEARER_OF[core.access.authMode] }),
    recovery: () => core.recovery,
    acceptsTokens: () => core.access.authMode === 'bearer-token',
    checkCodingProgram: codingPrograms.check,
    examine: () =>
      examine({
        ...core,
        ...storage,
        ...agents,
        findPrograms: programs.examine,
        hasTrash: options.trash !== undefined,
        nextDueAt: () => schedules.nextAt(db),
        publicAddress: addresses.readState,
        readBackups: parts.dailyBackup.read,
      }),
  }
}

const BEARER_OF = { 'local-trust': 'none', 'local-auth': 'secret', 'bearer-token': 'secret_or_token' } as const

/** Reads `access` and the addresses of this machine at every request. */
function gateOf(access: Access, addresses: () => readonly string[]): FrontRules {
  return {
    get authMode() {
      return access.authMode
    },
    get isEncrypted() {
      return access.tls != null
    },
    hosts: { has: (name) => access.hosts.includes(name) || ownNamesOf(access.host, addresses).includes(name) },
    // Pages use the dashboard, which sends no Origin.
    origins: new Set(),
  }
}

/** The names of the addresses that a server on `host` can be reached at, as the network is now. Lower case. */
function ownNamesOf(host: string, addresses: () => readonly string[]): string[] {
  const own = /^(0\.0\.0\.0|::)$/.test(host) ? addresses() : [host.toLowerCase()]
  return own.map((address) => (address.includes(':') ? `[${address}]` : address))
}
