import { transact, type Tx } from '../platform/db/database.ts'
import type { Services } from '../platform/services.ts'
import { EXPORT_VERSION, HistoryLine, type ExportHead, type ImportResult, Setup } from '../contract/export.ts'
import type { ModelRef } from '../contract/agents.ts'
import type { Credential } from '../contract/credentials.ts'
import { AppError } from '../lib/errors.ts'
import { createMessage } from '../lib/messages.ts'
import { createAgent, listAgents } from '../domain/agents/agents.ts'
import { fieldsOfHosts, fillIn, findConnector, isGeneral } from '../domain/connectors/connectors.ts'
import { insertCredential, requireSignIn } from '../domain/credentials/credentials.ts'
import { findDefaultEntity } from '../domain/entities/entities.ts'
import { createMemory } from '../domain/memory/memories.ts'
import { listProviders } from '../domain/providers/providers.ts'
import { createRule } from '../domain/rules/rules.ts'
import type { ScheduleStore } from '../domain/schedules/schedule-store.ts'
import { changeSettings } from '../domain/settings/settings.ts'
import { isSkillName } from '../domain/skills/skill-head.ts'
import { isStoredAs } from '../domain/skills/skills.ts'
import { createTrigger, isSlugTaken, setTriggerStatus } from '../domain/triggers/triggers.ts'
import { importSkills, type OwnContents } from './import-skills.ts'

export type ImportDeps = Pick<Services, 'db' | 'clock' | 'ids' | 'time'> & {
  schedules: Pick<ScheduleStore, 'create' | 'pause'>
  own: OwnContents
}

/** `foldersLeftOut`: folders of agents that are not on this computer. The agents of `setup` are without them. */
export type Importable = { setup: Setup; foldersLeftOut: string[] }

type ReadDeps = {
  /** Throws AppError for folders that no agent may have. */
  listFoldersNotHere(folders: readonly string[]): Promise<string[]>
}

/**
 * Checks the first line of an export file. Throws AppError import_refused with what does not fit, and AppError
 * folder_not_usable.
 */
export async function readImport(head: typeof ExportHead._output, deps: ReadDeps): Promise<Importable> {
  if (head.version !== EXPORT_VERSION) throw refused(createMessage('import_version', { version: head.version, known: EXPORT_VERSION }))
  const parsed = Setup.safeParse(head.setup)
  if (!parsed.success) throw refused(createMessage('import_invalid', { where: parsed.error.issues[0]!.path.join('.') || 'setup' }))
  const setup = parsed.data
  const lists = { triggers: setup.triggers, schedules: setup.schedules, rules: setup.rules, memories: setup.memories }
  for (const [name, list] of Object.entries(lists)) {
    const at = list.findIndex(({ agent }) => agent !== null && agent >= setup.agents.length)
    if (at >= 0) throw refused(createMessage('import_broken', { where: `${name}.${at}` }))
  }
  const isUnknown = (agent: number) => agent >= setup.agents.length
  const at = setup.connections.findIndex(({ agents }) => agents.some(({ agent }) => isUnknown(agent)))
  if (at >= 0) throw refused(createMessage('import_broken', { where: `connections.${at}` }))
  setup.skills.forEach((skill, place) => {
    const where = `skills.${place}`
    if (!isImportable(skill)) throw refused(createMessage('import_invalid', { where }))
    if (skill.agents.some(isUnknown)) throw refused(createMessage('import_broken', { where }))
  })
  const foldersLeftOut = await deps.listFoldersNotHere(foldersOf(setup))
  const isHere = (folder: string) => !foldersLeftOut.includes(folder)
  const agents = setup.agents.map((agent) => ({ ...agent, folders: agent.folders.filter(isHere) }))
  return { setup: { ...setup, agents }, foldersLeftOut }
}

/** Each folder once. */
function foldersOf({ agents }: Setup): string[] {
  return [...new Set(agents.flatMap(({ folders }) => folders))]
}

/** Lines of an export file after the first. Throws AppError import_refused, naming the first that does not fit. */
export function readHistoryLines(lines: readonly unknown[]): HistoryLine[] {
  return lines.map((line, i) => {
    const parsed = HistoryLine.safeParse(line)
    if (parsed.success) return parsed.data
    throw refused(createMessage('import_invalid', { where: ['lines', i, ...parsed.error.issues[0]!.path].join('.') }))
  })
}

/** Makes everything in one transaction, with new ids. Nothing of it runs before a person uses or resumes it. */
export function importSetup(deps: ImportDeps, given: Importable, { dryRun }: { dryRun: boolean }): ImportResult {
  if (!dryRun) return transact(deps.db, (tx) => makeSetup(tx, deps, given))
  // The same work, undone: a preview cannot promise what the import refuses.
  let result!: ImportResult
  try {
    transact(deps.db, (tx) => {
      result = makeSetup(tx, deps, given)
      throw new Preview()
    })
  } catch (error) {
    if (!(error instanceof Preview)) throw error
  }
  return result
}

class Preview extends Error {}

function makeSetup(tx: Tx, deps: ImportDeps, { setup, foldersLeftOut }: Importable): ImportResult {
  const isFirst = listAgents(tx, { limit: 1 }).agents.length === 0
  const findModel = modelFinder(tx)
  let modelsUnknown = 0
  const agentIds = setup.agents.map(({ model, fallbacks, ...fields }) => {
    const found = model === null ? null : findModel(model)
    if (model !== null && found === null) modelsUnknown++
    return createAgent(tx, deps, { ...fields, model: found, fallbacks: fallbacks.flatMap((one) => findModel(one) ?? []) }).id
  })
  const idOf = (agent: number | null) => (agent === null ? null : agentIds[agent]!)
  for (const { agent, signature, slug, ...fields } of setup.triggers) {
    const id = deps.ids.next()
    const input = { ...fields, agentId: idOf(agent), signature: signature && { scheme: signature, secret: '' } }
    createTrigger(tx, deps, id, isSlugTaken(tx, slug) ? input : { ...input, slug })
    setTriggerStatus(tx, deps.time, id, 'paused')
  }
  for (const { agent, ...fields } of setup.schedules) {
    deps.schedules.pause(tx, deps.schedules.create(tx, { ...fields, agentId: idOf(agent)! }).id)
  }
  // A rule for everyone could permit more to agents that are here already.
  const rules = setup.rules.filter(({ agent, effect }) => isFirst || agent !== null || effect === 'deny')
  for (const { agent, ...text } of rules) createRule(tx, deps, { ...text, agentId: idOf(agent) }, 'person')
  for (const { agent, text, untrusted } of setup.memories) {
    createMemory(tx, deps, { agentId: idOf(agent), text, writer: null, untrusted: untrusted || (!isFirst && agent === null) })
  }
  const connections = setup.connections.flatMap((connection) => makeConnection(tx, deps, connection, agentIds) ?? [])
  const skills = importSkills(tx, deps, setup.skills, agentIds)
  if (isFirst) changeSettings(tx, deps, setup.settings)
  return {
    agents: setup.agents.map(({ name }) => name),
    autonomousAgents: setup.agents.filter(({ autonomy }) => autonomy === 'on_its_own').map(({ name }) => name),
    folders: foldersOf(setup),
    foldersLeftOut,
    triggers: setup.triggers.map(({ name }) => name),
    signedTriggers: setup.triggers.filter(({ signature }) => signature !== null).map(({ name }) => name),
    schedules: setup.schedules.map(({ name }) => name),
    connections: connections.map(({ name }) => name),
    connectionHosts: [...new Set(connections.flatMap(({ hosts }) => hosts))],
    skills,
    rules: rules.length,
    allowRules: rules.filter(({ effect }) => effect === 'allow').length,
    memories: setup.memories.length,
    settings: isFirst,
    rulesLeftOut: setup.rules.length - rules.length,
    modelsUnknown,
  }
}

/**
 * Makes an account that a person has to sign in. The hosts and addresses of a known service are those of the catalogue, whatever
 * the file says. null: this version does not know the service.
 */
function makeConnection(tx: Tx, deps: ImportDeps, given: Setup['connections'][number], agentIds: readonly string[]): Credential | null {
  const connector = findConnector(given.connector)
  const isSignIn = given.kind === 'oauth2'
  if (connector === null || (isSignIn && connector.oauth === null)) return null
  const fields = fieldsOfHosts(connector, given.hosts)
  const filled = (text: string) => fillIn(text, connector, fields)
  const { oauth } = connector
  const endpoints =
    isSignIn && oauth !== null
      ? {
          ...oauth,
          authorizationUrl: filled(oauth.authorizationUrl),
          tokenUrl: filled(oauth.tokenUrl),
          revocationUrl: oauth.revocationUrl === null ? null : filled(oauth.revocationUrl),
          deviceUrl: oauth.deviceUrl === null ? null : filled(oauth.deviceUrl),
          fields,
          namesItself: false,
        }
      : null
  const credential = insertCredential(tx, deps, {
    id: deps.ids.next(),
    entityId: findDefaultEntity(tx).id,
    connector: connector.slug,
    kind: given.kind,
    name: given.name,
    accountName: null,
    hosts: isGeneral(connector) ? given.hosts : connector.hosts.map(filled),
    scopes: given.scopes,
    endpoints,
    agents: given.agents.map(({ agent, access }) => ({ agentId: agentIds[agent]!, access })),
  })
  requireSignIn(tx, credential.id, createMessage('credential_imported'))
  return credential
}

/** Nothing in it can mean another kind of skill than it says. */
function isImportable({ name, kind, source, archive }: Setup['skills'][number]): boolean {
  return isSkillName(name) && isStoredAs(kind, source) && (archive === null || kind === 'own')
}

type NamedModel = NonNullable<Setup['agents'][number]['model']>

function modelFinder(tx: Tx): (named: NamedModel) => ModelRef | null {
  const providers = listProviders(tx)
  return ({ provider, model }) => {
    const found = providers.find(({ kind, name }) => kind === provider.kind && name === provider.name)
    return found === undefined ? null : { providerId: found.id, model }
  }
}

function refused(message: ReturnType<typeof createMessage>): AppError {
  return new AppError('import_refused', message)
}
