import { waitFor } from '@solidjs/testing-library'
import type { Component } from 'solid-js'
import { beforeEach, expect, it } from 'vitest'
import { PSEUDO_STORED_AS } from '../lib/language.ts'
import { ActivityScreen } from '../routes/activity/ActivityScreen.tsx'
import { AgentScreen } from '../routes/agents/AgentScreen.tsx'
import { AgentsScreen } from '../routes/agents/AgentsScreen.tsx'
import { ApprovalsScreen } from '../routes/approvals/ApprovalsScreen.tsx'
import { AutomationsScreen } from '../routes/automations/AutomationsScreen.tsx'
import { ScheduleEditScreen } from '../routes/automations/schedules/ScheduleEditScreen.tsx'
import { ScheduleScreen } from '../routes/automations/schedules/ScheduleScreen.tsx'
import { NewTriggerScreen } from '../routes/automations/webhooks/NewTriggerScreen.tsx'
import { TriggerScreen } from '../routes/automations/webhooks/TriggerScreen.tsx'
import { ChannelsScreen } from '../routes/channels/ChannelsScreen.tsx'
import { ChatScreen } from '../routes/chat/ChatScreen.tsx'
import { ConnectionsScreen } from '../routes/connections/ConnectionsScreen.tsx'
import { CredentialScreen } from '../routes/connections/CredentialScreen.tsx'
import { McpServerScreen } from '../routes/connections/mcp/McpServerScreen.tsx'
import { HomeScreen } from '../routes/home/HomeScreen.tsx'
import { JobScreen } from '../routes/job/JobScreen.tsx'
import { ModelsScreen } from '../routes/models/ModelsScreen.tsx'
import { RulesScreen } from '../routes/rules/RulesScreen.tsx'
import { SETTINGS_SECTIONS } from '../routes/settings/sections.ts'
import { SettingsScreen } from '../routes/settings/SettingsScreen.tsx'
import { EditSkillScreen } from '../routes/skills/EditSkillScreen.tsx'
import { SkillScreen } from '../routes/skills/SkillScreen.tsx'
import { SkillsScreen } from '../routes/skills/SkillsScreen.tsx'
import { WelcomeScreen } from '../routes/welcome/WelcomeScreen.tsx'
import { NotFound } from '../shell/NotFound.tsx'
import { createFakeRunner } from './fake-runner.ts'
import { renderScreen } from './render.tsx'
import {
  makeAgent,
  makeApproval,
  makeChannel,
  makeConnector,
  makeCredential,
  makeDelivery,
  makeJob,
  makeMcpServer,
  makeMcpTool,
  makeModel,
  makeOccurrence,
  makePerson,
  makeProvider,
  makeRule,
  makeSchedule,
  makeSkill,
  makeSkillContents,
  makeSummary,
  makeTrigger,
} from './things.ts'

const agent = makeAgent()
const job = makeJob()
const trigger = makeTrigger()
const schedule = makeSchedule()
const approval = makeApproval()
const channel = makeChannel({ people: [makePerson(), makePerson({ role: 'owner' })] })
const credential = makeCredential({ status: 'needs_sign_in' })
const server = makeMcpServer({ tools: [makeMcpTool(), makeMcpTool({ name: 'send_note', status: 'new', effect: null })] })
const contents = makeSkillContents({ findings: [{ kind: 'hidden_text', path: 'SKILL.md', line: 2, excerpt: 'x' }] })
const skill = makeSkill({ contents, status: 'needs_consent', newPermissions: ['scripts'], hasUpdate: true })
const data = {
  listAgents: () => ({ agents: [agent], nextCursor: null }),
  getAgent: () => ({ agent }),
  getJob: () => ({ job }),
  listJobs: () => ({ jobs: [makeSummary(), makeSummary({ status: 'failed' })], nextCursor: null }),
  listSteps: () => ({ steps: [] }),
  listApprovals: () => ({ approvals: [approval], pending: 1, nextCursor: null }),
  getApproval: () => ({ approval }),
  listRules: () => ({ rules: [makeRule()], nextCursor: null }),
  listProviders: () => ({ providers: [makeProvider()], nextCursor: null }),
  listModels: () => ({ models: [makeModel()], problems: [], defaultModel: null }),
  listTriggers: () => ({ triggers: [trigger], nextCursor: null }),
  getTrigger: () => ({ trigger }),
  listDeliveries: () => ({ deliveries: [makeDelivery(), makeDelivery({ outcome: 'bad_signature' })], nextCursor: null }),
  listSchedules: () => ({ schedules: [schedule], nextCursor: null }),
  getSchedule: () => ({ schedule }),
  listOccurrences: () => ({ occurrences: [makeOccurrence(), makeOccurrence({ state: 'caught_up' })], nextCursor: null }),
  listUpcoming: () => ({ runs: [], hasMore: false }),
  previewSchedule: () => ({ runs: [], problem: null }),
  previewTemplate: () => ({ prompt: 'x', plainPrompt: 'x', placeholders: [], problem: null }),
  listChannels: () => ({ channels: [channel] }),
  listConnectors: () => ({ connectors: [makeConnector()] }),
  listCredentials: () => ({ credentials: [credential] }),
  getCredential: () => ({ credential }),
  listMcpServers: () => ({ servers: [server] }),
  getMcpServer: () => ({ server }),
  listSkills: () => ({ skills: [skill] }),
  getSkill: () => ({ skill, text: 'x' }),
  readSkillFiles: () => ({ files: [], digest: skill.digest, isChanged: false }),
  checkSkill: () => ({ contents, problem: null }),
  previewSkillUpdate: () => ({
    ok: true,
    changed: false,
    files: [],
    permissionsAdded: [],
    newFindings: { findings: [], findingsCut: false },
    findingCount: 0,
    currentDigest: skill.digest,
    upstreamDigest: skill.digest,
  }),
  getWebSearch: () => ({ webSearch: null }),
} as Parameters<typeof createFakeRunner>[0]

const SCREENS: [route: string, path: string, screen: Component][] = [
  ['/', '/', HomeScreen],
  ['/chat/:conversationId?', '/chat', ChatScreen],
  ['/approvals/:approvalId?', '/approvals', ApprovalsScreen],
  ['/rules', '/rules', RulesScreen],
  ['/activity', '/activity', ActivityScreen],
  ['/jobs/:jobId', `/jobs/${job.id}`, JobScreen],
  ['/automations/:tab?', '/automations/webhooks', AutomationsScreen],
  ['/automations/:tab?', '/automations/schedules', AutomationsScreen],
  ['/automations/webhooks/new', '/automations/webhooks/new', NewTriggerScreen],
  ['/automations/webhooks/:triggerId', `/automations/webhooks/${trigger.id}`, TriggerScreen],
  ['/automations/schedules/new', '/automations/schedules/new', ScheduleEditScreen],
  ['/automations/schedules/:scheduleId', `/automations/schedules/${schedule.id}`, ScheduleScreen],
  ['/agents', '/agents', AgentsScreen],
  ['/agents/:agentId', `/agents/${agent.id}`, AgentScreen],
  ['/channels', '/channels', ChannelsScreen],
  ['/connections', '/connections', ConnectionsScreen],
  ['/connections', '/connections?connect=github', ConnectionsScreen],
  ['/connections', '/connections?add=mcp', ConnectionsScreen],
  ['/connections/:credentialId', `/connections/${credential.id}`, CredentialScreen],
  ['/connections/mcp/:mcpServerId', `/connections/mcp/${server.id}`, McpServerScreen],
  ['/skills', '/skills', SkillsScreen],
  ['/skills', '/skills?install=1', SkillsScreen],
  ['/skills/new', '/skills/new', EditSkillScreen],
  ['/skills/:skillId', `/skills/${skill.id}`, SkillScreen],
  ['/skills/:skillId', `/skills/${skill.id}?update=1`, SkillScreen],
  ['/models', '/models', ModelsScreen],
  ...SETTINGS_SECTIONS.map((section): [string, string, Component] => ['/settings/:section?', `/settings/${section}`, SettingsScreen]),
  ...['model', 'agent', 'job'].map((step): [string, string, Component] => ['/welcome', `/welcome?step=${step}`, WelcomeScreen]),
  ['/nowhere', '/nowhere', NotFound],
]

/** Names and words that are the same in every language, and what Intl writes. */
const UNTRANSLATED =
  /\b(Deckhand|Deutsch|English|German|Telegram|Discord|Slack|GitHub|Stripe|Claude Code|Codex|Gemini CLI|OpenCode|now|ago|in|min|sec|hr|day|days|mo|yr|wk|hours?|AM|PM|UTC|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|event|message|openapi\.json|Ctrl|Shift|Enter|Esc|JSON|API|K|M)\b/g

beforeEach(() => localStorage.setItem(PSEUDO_STORED_AS, '1'))

it.each(SCREENS)('%s (%s) shows no text that is not in the catalogue', async (route, path, screen) => {
  const runner = createFakeRunner(data)
  const view = renderScreen(screen, { route, path, runner })
  await waitFor(() => expect(view.container.textContent).toMatch(/\[.*\]/s))
  await waitFor(() => expect(view.container.querySelector('.animate-pulse')).toBeNull())
  expect(strangersIn(document.body)).toEqual([])
})

/** The texts without the brackets of the pseudo-locale, apart from the runner's data. */
function strangersIn(root: HTMLElement): string[] {
  const texts: string[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) texts.push(node.textContent ?? '')
  for (const element of root.querySelectorAll('*')) {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) texts.push(element.getAttribute(name) ?? '')
  }
  return [...new Set(texts)].filter((text) => /[A-Za-z]{2,}/.test(withoutData(text)))
}

const KNOWN = stringsOf(Object.values(data!).map((answer) => (answer as () => unknown)())).sort((a, b) => b.length - a.length)

function withoutData(text: string): string {
  const open = text.indexOf('[')
  const close = text.lastIndexOf(']')
  let rest = open === -1 || close < open ? text : text.slice(0, open) + text.slice(close + 1)
  rest = rest.replaceAll(UNTRANSLATED, '')
  for (const known of KNOWN) rest = rest.replaceAll(known, '')
  return rest
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 1 ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : []
}
