import type { Db } from '../platform/db/database.ts'
import type { MachineTime } from '../platform/time/machine-time.ts'
import type { Credential } from '../contract/credentials.ts'
import type { HistoryLine, Setup } from '../contract/export.ts'
import { listAgents } from '../domain/agents/agents.ts'
import { findConnector, isGeneral } from '../domain/connectors/connectors.ts'
import { listCredentials } from '../domain/credentials/credentials.ts'
import { listConversations, listMessages } from '../domain/conversations/conversations.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import { listMemories } from '../domain/memory/memories.ts'
import { listProviders } from '../domain/providers/providers.ts'
import { listAllRules } from '../domain/rules/rules.ts'
import type { ScheduleStore } from '../domain/schedules/schedule-store.ts'
import { readSettings } from '../domain/settings/settings.ts'
import { listSkills } from '../domain/skills/skills.ts'
import { listTriggers } from '../domain/triggers/triggers.ts'

const PAGE = 200
/** A job can have many long steps. */
const JOBS_A_PAGE = 20
const ALL_MESSAGES = 1_000_000

type Sources = {
  db: Db
  time: MachineTime
  schedules: Pick<ScheduleStore, 'list'>
  /** The archives of own skills in Base64, by digest. */
  archives: ReadonlyMap<string, string>
}

/** The oldest first, so that the same things always give the same text. Things of deleted agents are left out. */
export function readSetup({ db, time, schedules, archives }: Sources): Setup {
  const agents = allPages('agents', (cursor) => listAgents(db, { limit: PAGE, cursor })).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const places = new Map(agents.map(({ id }, place) => [id, place]))
  const isKnown = (agentId: string | null) => agentId === null || places.has(agentId)
  const placeOf = (agentId: string | null) => (agentId === null ? null : places.get(agentId)!)
  const providers = new Map(listProviders(db).map((provider) => [provider.id, provider]))
  const named = ({ providerId, model }: { providerId: string; model: string }) => {
    const provider = providers.get(providerId)
    return provider === undefined ? [] : [{ provider: { kind: provider.kind, name: provider.name }, model }]
  }
  const { concurrency, dayBudgetUsd, notifications } = readSettings(db)
  return {
    agents: agents.map(({ name, avatar, instructions, model, fallbacks, autonomy, folders, limits, budgets }) => ({
      name,
      avatar,
      instructions,
      autonomy,
      folders,
      limits,
      budgets,
      model: (model && named(model)[0]) ?? null,
      fallbacks: fallbacks.flatMap(named),
    })),
    triggers: allPages('triggers', (cursor) => listTriggers(db, time, { limit: PAGE, cursor }))
      .toReversed()
      .map(({ agentId, name, slug, taskTemplate, notifyOnSuccess, notifyVia, signature, dedupe, requirePlaceholders }) => ({
        name,
        slug,
        taskTemplate,
        notifyOnSuccess,
        notifyVia,
        signature,
        dedupe,
        requirePlaceholders,
        agent: isKnown(agentId) ? placeOf(agentId) : null,
      })),
    schedules: allPages('schedules', (cursor) => schedules.list(db, { limit: PAGE, cursor }))
      .toReversed()
      .filter(({ agentId }) => isKnown(agentId))
      .map(({ agentId, name, cron, timezone, task, dailyBudgetUsd, catchUpHours, notifyOnSuccess, notifyVia }) => ({
        name,
        cron,
        timezone,
        task,
        dailyBudgetUsd,
        catchUpHours,
        notifyOnSuccess,
        notifyVia,
        agent: placeOf(agentId)!,
      })),
    rules: listAllRules(db)
      .filter(({ agentId }) => isKnown(agentId))
      .map(({ effect, tool, pattern, folder, digest, agentId }) => ({
        effect,
        tool,
        pattern,
        folder,
        ...(digest === undefined ? {} : { digest }),
        agent: placeOf(agentId),
      })),
    memories: allPages('memories', (cursor) => listMemories(db, { limit: PAGE, cursor }))
      .toReversed()
      .filter(({ agentId }) => isKnown(agentId))
      .map(({ agentId, text, untrusted }) => ({ agent: placeOf(agentId), text, untrusted })),
    connections: listCredentials(db)
      .toReversed()
      .filter(canBeNamed)
      .map(({ connector, kind, name, hosts, scopes, agents: granted }) => ({
        connector,
        kind,
        name,
        hosts,
        scopes,
        agents: granted.filter(({ agentId }) => isKnown(agentId)).map(({ agentId, access }) => ({ agent: placeOf(agentId)!, access })),
      })),
    skills: listSkills(db).map(({ name, description, kind, source, digest, agents: chosen }) => ({
      name,
      description,
      kind,
      source,
      digest,
      archive: (kind === 'own' && archives.get(digest)) || null,
      agents: chosen.flatMap(({ agentId }) => places.get(agentId) ?? []).sort((one, other) => one - other),
    })),
    settings: { concurrency, dayBudgetUsd, notifications },
  }
}

/** The addresses of another sign-in are not exported: a changed file could lead it elsewhere. */
function canBeNamed({ connector: slug, kind, mcpServerId }: Credential): boolean {
  const connector = findConnector(slug)
  return mcpServerId === null && connector !== null && (kind !== 'oauth2' || !isGeneral(connector))
}

type HistoryPage = { lines: HistoryLine[]; nextCursor: string | null }

/** A few conversations, or when all were read, a few jobs with their steps. `cursor`: of the page before. */
export function readHistory(
  db: Db,
  jobs: Pick<JobStore, 'listIdsAfter' | 'getJob' | 'listSteps'>,
  cursor: string | undefined,
): HistoryPage {
  const [phase = 'conversations', inner = ''] = cursor?.split(/:(.*)/s) ?? []
  const after = inner === '' ? {} : { cursor: inner }
  if (phase === 'conversations') {
    const page = listConversations(db, { limit: JOBS_A_PAGE, ...after })
    const lines = page.conversations.map((conversation) => {
      return { kind: 'conversation' as const, conversation, messages: listMessages(db, conversation.id, ALL_MESSAGES) }
    })
    return { lines, nextCursor: page.nextCursor === null ? 'jobs:' : `conversations:${page.nextCursor}` }
  }
  const page = jobs.listIdsAfter(db, Number(inner) || 0, JOBS_A_PAGE)
  const lines = page.map(({ id }) => ({ kind: 'job' as const, job: jobs.getJob(db, id), steps: jobs.listSteps(db, id) }))
  return { lines, nextCursor: page.length < JOBS_A_PAGE ? null : `jobs:${page.at(-1)!.seq}` }
}

function allPages<K extends string, T>(key: K, read: (cursor: string | undefined) => Record<K, T[]> & { nextCursor: string | null }): T[] {
  const all: T[] = []
  for (let cursor: string | undefined; ;) {
    const page = read(cursor)
    all.push(...page[key])
    if (page.nextCursor === null) return all
    cursor = page.nextCursor
  }
}
